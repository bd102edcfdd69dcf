// Several studies: a list, and how their best values came down (or up), one line each.

const COLOURS = 6;
const POLL = 1500;
const compared = new Map(); // whether a study's line is drawn, by its number
let studies = JSON.parse($("data").textContent);

const isDrawn = ({ number, direction, best_so_far: steps }) => steps.length > 0 && (compared.get(number) ?? direction === studies.find(({ best_so_far: all }) => all.length)?.direction);

function showList() {
  const heads = ["study", "state", "evaluations", "failed", "best value", "at evaluation", "time in evaluations", "compare"];
  $("studies").tHead.replaceChildren(html("tr", {}, ...heads.map((text) => html("th", { scope: "col", class: text === "study" || text === "state" ? "text" : null }, text))));
  $("studies").tBodies[0].replaceChildren(...studies.map((study) => {
    const { number, name, direction, problem, evaluations, budget, failures, value, std, at, seconds } = study;
    const title = html("td", {}, html("span", { class: `key line-${number % COLOURS}`, "aria-hidden": "true" }), html("a", { href: `/study/${number}` }, name), html("span", { class: "note" }, ` ${direction ?? ""}`));
    if (problem) return html("tr", {}, title, html("td", { class: "detail", colspan: heads.length - 1 }, problem));
    const hint = std === null ? null : "values have noise: the best so far would be a lucky one";
    const choice = html("input", { type: "checkbox", checked: isDrawn(study), disabled: !study.best_so_far.length, title: hint, "aria-label": `compare ${name}` });
    choice.addEventListener("change", () => {
      compared.set(number, choice.checked);
      drawComparison();
    });
    // On a narrow screen each cell carries the heading of its column.
    const cells = [stateOf(study), evaluations.toLocaleString("en") + (budget === null ? "" : ` of ${budget.toLocaleString("en")}`), failures.toLocaleString("en"),
      std === null ? short(value, 8) : `${short(value, 6)} ± ${short(std, 2)}`, at === null ? "–" : String(at), duration(seconds || null), choice];
    return html("tr", { "data-number": number }, title, ...cells.map((cell, k) => {
      const heading = heads[k + 1];
      return html("td", { class: heading === "state" ? "text" : null, "data-heading": heading, title: heading === "best value" ? value : null }, cell);
    }));
  }));
  const running = studies.filter(({ activity }) => activity === "running").length;
  $("title").textContent = `${counted(studies.length, "study", "studies")}${running ? `, ${running} running` : ""}`;
}

function drawComparison() {
  const drawn = studies.filter(isDrawn);
  $("comparison").hidden = studies.every(({ best_so_far: steps }) => steps.length === 0);
  $("comparison-note").textContent = drawn.length > 1 ? "Each line is the best value of one study after so many evaluations. Compare only studies whose values mean the same." : "The best value after so many evaluations.";
  const host = $("comparison-chart");
  host.replaceChildren();
  if (!drawn.length || !host.clientWidth) return;
  const values = drawn.flatMap(({ best_so_far: steps }) => steps.map(([, value]) => value));
  const [low, high] = [values.reduce((a, b) => Math.min(a, b)), values.reduce((a, b) => Math.max(a, b))];
  const log = low > 0 && high / low > 100;
  const room = log ? (high / low) ** 0.04 : (high - low) * 0.04;
  const range = log ? { low: low / room, high: high * room, log } : { low: low - room, high: high + room, log };
  const [width, height] = [host.clientWidth, Math.min(420, Math.max(260, host.clientWidth * 0.42))];
  const label = `Best value so far of ${counted(drawn.length, "study", "studies")}.`;
  const root = svg("svg", { role: "img", "aria-label": label, viewBox: `0 0 ${width} ${height}`, width, height });
  const end = Math.max(2, ...drawn.map(({ evaluations }) => evaluations));
  const frame = drawFrame(root, width, { height, x: { low: 1, high: end, log: false, whole: true }, y: range, xTitle: "evaluations told", yTitle: "best value so far" });
  for (const { number, name, evaluations, best_so_far: steps } of drawn) {
    const path = steps.map(([count, value], k) => `${k ? "H" : "M"}${px(frame.x(count))}${k ? "V" : " "}${px(frame.y(value))}`).join("");
    const line = svg("path", { class: `compared line-${number % COLOURS}`, "data-number": number, "stroke-dasharray": number < COLOURS ? null : "6 4", d: `${path}H${px(frame.x(evaluations))}` });
    line.append(svg("title", {}, `${name}: ${short(steps.at(-1)[1], 8)}`));
    root.append(line);
  }
  host.append(root);
}

function show() {
  showList();
  drawComparison();
}

async function ask() {
  try {
    const answer = await fetch("/studies", { cache: "no-store" });
    if (answer.ok) {
      const news = await answer.json();
      if (JSON.stringify(news) !== JSON.stringify(studies) && !document.activeElement?.matches("input")) {
        studies = news;
        show();
      }
    }
    $("badge").className = !answer.ok ? "live lost" : studies.some(({ activity }) => activity === "running") ? "live running" : "live";
    $("badge").textContent = answer.ok ? "live" : "no answer; as it was last known";
  } catch {
    $("badge").className = "live lost";
    $("badge").textContent = "no answer; as it was last known";
  }
  setTimeout(ask, POLL);
}

show();
new ResizeObserver(drawComparison).observe($("comparison-chart"));
setTimeout(ask, POLL);
