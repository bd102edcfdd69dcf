// The page as a whole: what the study is, its best point, its failures, and which sections there are to show.

function showAbout() {
  const aim = minimises ? "minimise" : "maximise";
  const parts = [`${aim} over ${counted(parameters.length, "parameter")}`, `preset ${study.preset}`, `seed ${study.seed}`, study.created && `begun ${study.created}`];
  $("about").textContent = parts.filter(Boolean).join(" · ");
  const limits = [...study.known_constraints.map((text) => `${text}, kept by every suggestion`), ...study.measured_constraints.map((text) => `${text}, measured`)];
  $("limits").hidden = !limits.length;
  $("limits").textContent = limits.length ? `${limits.length === 1 ? "Constraint" : "Constraints"}: ${limits.join(" · ")}` : "";
  $("generated").textContent = study.generated ? `on ${study.generated}` : "";
}

function showBest() {
  const best = evaluations[study.best ?? leastViolated];
  if (!best) {
    const [title, text] = evaluations.length
      ? ["No evaluation succeeded yet", "The output of the program is below."]
      : ["No evaluation yet", "The charts appear here when the first values are told."];
    $("best-card").append(html("div", {}, html("p", { class: "message" }, title), html("p", { class: "note" }, text)));
    return;
  }
  const found = leastViolated === null ? study.recommended : null;
  const chosenPoint = found ?? best;
  const point = parameters.map((parameter, axis) => html("div", {}, html("dt", { title: parameter.name }, parameter.name),
    html("dd", { title: String(valueData(parameter, chosenPoint.x[axis])) }, valueText(parameter, chosenPoint.x[axis], 8))));
  const shown = html("dl", { class: "point" }, ...(point.length > MANY ? point.slice(0, MANY) : point));
  const rest = point.length > MANY
    ? html("details", { id: "best-rest" }, html("summary", {}, `${point.length - MANY} more parameters`), html("dl", { class: "point" }, ...point.slice(MANY)))
    : null;
  const copy = html("button", { type: "button", id: "copy" }, "Copy the point");
  copy.addEventListener("click", () => copyPoint(copy, chosenPoint));
  $("best-card").append(
    html("div", {},
      ...headline(best, found)),
    html("div", {}, shown, rest, copy),
  );
}

// What is best, in large letters: what is recommended, the best value, or what violates the constraints least.
function headline(best, found) {
  const label = (text) => html("p", { class: "label" }, text);
  const value = (number, text) => html("p", { class: "value", title: String(number) }, text);
  if (found) {
    const noise = found.noise === null ? "The noise was given with each value" : `Noise of a value: ${short(found.noise, 3)}`;
    return [
      label(`Recommended after ${counted(evaluations.length, "evaluation")}: expected value, ± one standard deviation`),
      value(found.mean, `${short(found.mean, 6)} ± ${short(found.std, 2)}`),
      html("p", { class: "note" }, `${noise}; the ${minimises ? "lowest" : "highest"} single value was ${short(best.value, 6)}, at evaluation ${best.id}.`),
    ];
  }
  if (leastViolated !== null) {
    return [
      html("p", { class: "message" }, "No evaluation satisfies the constraints yet"),
      label(`Least infeasible of ${counted(evaluations.length, "evaluation")}, at evaluation ${best.id}: ${violated(best)}`),
      value(best.value, best.value === null ? "no value" : short(best.value, 8)),
    ];
  }
  const among = study.measured_constraints.length ? counted(feasible.length, "feasible evaluation") : counted(evaluations.length, "evaluation");
  return [label(`${minimises ? "Lowest" : "Highest"} value of ${among}, at evaluation ${best.id}`), value(best.value, short(best.value, 8))];
}

async function copyPoint(button, best) {
  const applying = parameters.flatMap((parameter, axis) => (best.x[axis] === null ? [] : [[parameter.name, valueData(parameter, best.x[axis])]]));
  const text = JSON.stringify(Object.fromEntries(applying), null, 2);
  const done = await copyText(text);
  button.textContent = done ? "Copied" : "Copying is not allowed here";
  $("live").textContent = button.textContent;
  setTimeout(() => (button.textContent = "Copy the point"), 2000);
}

// Pages opened from a disk may lack the clipboard interface: then the old command.
async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = html("textarea", { class: "unseen", readonly: true });
    area.value = text;
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }
}

function showFacts() {
  const spent = evaluations.reduce((sum, { seconds }) => sum + (seconds ?? 0), 0);
  const share = broken.length ? ` (${short((100 * broken.length) / evaluations.length, 2)}%)` : "";
  const facts = [
    ["Evaluations", evaluations.length.toLocaleString("en") + (study.budget === null ? "" : ` of ${study.budget.toLocaleString("en")}`)],
    ...(study.measured_constraints.length ? [["Feasible", `${feasible.length.toLocaleString("en")} of ${evaluations.length.toLocaleString("en")}`]] : []),
    ["Failures", broken.length.toLocaleString("en") + share],
    ["Restarts", study.restarts.length.toLocaleString("en")],
    ["Time in evaluations", duration(spent || null)],
    ["State", stateOf(study)],
  ];
  $("facts").replaceChildren(...facts.map(([name, text]) => html("div", {}, html("dt", {}, name), html("dd", {}, text))));
}

function showRestarts() {
  $("restarts-list").replaceChildren(...study.restarts.map(({ at_evaluation: at, cause }) => html("li", {}, `after evaluation ${afterId(at)}: ${cause}`)));
}

const FAILURES = 25;
const MANY = 12; // of what there may be many of, so many are shown at first

function showFailures() {
  const counts = new Map();
  broken.forEach((index) => counts.set(reasonOf(evaluations[index]), (counts.get(reasonOf(evaluations[index])) ?? 0) + 1));
  const common = [...counts].sort(([, a], [, b]) => b - a);
  $("failures-reasons").replaceChildren(...common.slice(0, MANY).map(([reason, count]) => html("li", {}, `${count.toLocaleString("en")} × ${trimmed(reason, 160)}`)));
  if (common.length > MANY) $("failures-reasons").append(html("li", {}, `and ${counted(common.length - MANY, "other reason")}`));
  const more = $("failures-more");
  let shown = 0;
  const extend = () => {
    const next = broken.slice(shown, shown + FAILURES);
    $("failures-list").append(...next.map((index) => failure(index, shown === 0 && index === next[0])));
    shown += next.length;
    more.hidden = shown === broken.length;
    more.textContent = `Show ${Math.min(FAILURES, broken.length - shown)} more of ${(broken.length - shown).toLocaleString("en")}`;
  };
  more.addEventListener("click", extend);
  extend();
}

function failure(index, open) {
  const evaluation = evaluations[index];
  const point = parameters.map((parameter, axis) => `${trimmed(parameter.name, 24)} = ${valueText(parameter, evaluation.x[axis])}`).join(", ");
  const last = evaluation.message || (evaluation.stderr || evaluation.stdout).trimEnd().split("\n").at(-1);
  const output = outputOf(evaluation);
  output.prepend(html("p", { class: "where" }, `At ${point}`));
  const took = evaluation.seconds === null ? "" : ` after ${duration(evaluation.seconds)}`;
  const said = html("span", { class: "last" }, last ? `: ${trimmed(last, 120)}` : "");
  return html("details", { open, "data-id": evaluation.id }, html("summary", {}, `Evaluation ${evaluation.id}: `, html("span", { class: "status" }, evaluation.status), took, said), output);
}

const SECTIONS = [
  { id: "convergence", name: "Convergence", when: succeeded.length > 0, show: showConvergence },
  { id: "fit", name: "Fit", when: study.fit !== null && evaluations.length > 0, show: showFit },
  { id: "relevance", name: "Relevance", when: study.relevance.length > 0, show: showRelevance },
  { id: "expected", name: "Expected", when: study.map !== null && toUse !== null, show: showExpectedMap },
  { id: "parameters", name: "Parameters", when: succeeded.length > 0, show: showParameters },
  { id: "parallel", name: "Together", when: evaluations.length > 0 && parameters.length > 1, show: showParallel },
  { id: "region", name: "Trust region", when: steps.length > 0 || study.restarts.length > 0 },
  { id: "region-map", when: boxes.length > 0, show: showMap },
  { id: "widths", when: steps.length > 0, show: showWidths },
  { id: "restarts", when: study.restarts.length > 0, show: showRestarts },
  { id: "failures", name: "Failures", when: broken.length > 0, show: showFailures },
  { id: "evaluations", name: "Table", when: evaluations.length > 0, show: showTable },
];

// ---- what the reader has chosen, to be chosen again when the page is drawn anew

function chosen() {
  return {
    text: filter.text, status: filter.status, sort: table.sort, descending: table.descending, page: table.page,
    open: [...table.open].map((index) => evaluations[index].id),
    unfolded: [...document.querySelectorAll("#failures-list details")].map((entry) => [Number(entry.dataset.id), entry.open]),
    rest: $("best-rest")?.open ?? false,
    log: valueAxis.log,
    step: boxes.length && step < boxes.length - 1 ? step : Infinity,
  };
}

function choose(view) {
  if (valueAxis.logPossible && valueAxis.log !== view.log) {
    valueAxis.log = view.log;
    for (const choice of document.querySelectorAll("#value-scale input")) choice.checked = (choice.value === "log") === view.log;
  }
  if (boxes.length) goToStep(view.step);
  Object.assign(table, { sort: view.sort, descending: view.descending });
  evaluations.forEach(({ id }, index) => view.open.includes(id) && table.open.add(index));
  const unfolded = new Map(view.unfolded);
  document.querySelectorAll("#failures-list details").forEach((entry) => (entry.open = unfolded.get(Number(entry.dataset.id)) ?? entry.open));
  if ($("best-rest")) $("best-rest").open = view.rest;
  if (!evaluations.length) return;
  setFilter({ text: view.text, status: view.status });
  table.page = view.page;
  renderTable();
}

// Whether the reader is in the middle of something that a new drawing would take away.
const isBusy = () => pinned || active !== null || timer !== null || $("filter") === document.activeElement || $("status") === document.activeElement || !document.getSelection().isCollapsed;

function close() {
  gone.abort();
  clearInterval(timer);
  activate(null);
}

showAbout();
showBest();
showFacts();
for (const { id, name, when, show } of SECTIONS) {
  $(id).hidden = !when;
  if (!when) continue;
  if (name) $("contents").append(html("a", { href: `#${id}` }, name));
  show?.();
}
redrawAll();
return { chosen, choose, isBusy, close };
