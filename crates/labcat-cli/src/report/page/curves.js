// The charts along the evaluations and against the value: convergence, each parameter, relevance, half-widths.

const idRange = (last = afterId(evaluations.length)) => ({ low: 0, high: Math.max(1, last), log: false, whole: true });

function drawConvergence(layer, width) {
  const height = Math.min(400, Math.max(260, width * 0.42));
  const frame = drawFrame(layer, width, {
    height, x: idRange(), y: valueAxis.range(), rail: failed.length > 0, xTitle: "evaluation", yTitle: valueAxis.title(),
  });
  drawRestarts(layer, frame);
  const points = evaluations.map(({ id, value }) => [frame.x(id), value === null ? frame.railAt : frame.y(valueAxis.of(value))]);
  if (study.recommended) drawNoise(layer, frame, points);
  layer.append(
    svg("path", { class: "dots", style: `--dot:${dotSize()}`, d: joined(feasible, (index) => dot(points[index])) }),
    svg("path", { class: "infeasible", d: joined(infeasible, (index) => hollow(points[index])) }),
    svg("path", { class: "crosses", d: joined(failed, (index) => cross(points[index])) }),
  );
  if (!study.recommended && study.best !== null) {
    layer.append(
      svg("path", { class: "best-line", d: bestSoFar(points, frame.x(afterId(evaluations.length))) }),
      svg("path", { class: "best-dot", d: diamond(points[study.best]) }),
    );
  }
  return { height, points };
}

// Under noise: each value with one standard deviation either way, and what is recommended with two. A logarithmic axis may end above
// the lower end of a bar.
function drawNoise(layer, frame, points) {
  const { mean, std, noise } = study.recommended;
  const y = (value) => {
    const at = frame.y(valueAxis.of(value));
    return Number.isFinite(at) ? Math.min(frame.bottom, Math.max(frame.top, at)) : frame.bottom;
  };
  const bars = succeeded.map((index) => {
    const { value, std: own } = evaluations[index];
    const error = own ?? noise ?? 0;
    return error > 0 ? `M${px(points[index][0])} ${px(y(value - error))}V${px(y(value + error))}` : "";
  });
  const [left, right] = [frame.x(0), frame.x(afterId(evaluations.length))];
  const band = `M${px(left)} ${px(y(mean - 2 * std))}H${px(right)}V${px(y(mean + 2 * std))}H${px(left)}Z`;
  layer.append(
    svg("path", { class: "noise", d: bars.join("") }),
    svg("path", { class: "recommended-band", d: band }),
    svg("path", { class: "best-line", d: `M${px(left)} ${px(y(mean))}H${px(right)}` }),
  );
}

function bestSoFar(points, end) {
  let best = null;
  let path = "";
  for (const index of [...feasible].sort((a, b) => evaluations[a].id - evaluations[b].id)) {
    const { value } = evaluations[index];
    if (best !== null && (minimises ? value >= best : value <= best)) continue;
    path += best === null ? `M${px(points[index][0])} ${px(points[index][1])}` : `H${px(points[index][0])}V${px(points[index][1])}`;
    best = value;
  }
  return `${path}H${px(end)}`;
}

function drawParameter(axis) {
  const range = parameterRange(parameters[axis]);
  return (layer, width) => {
    const height = 220;
    const frame = drawFrame(layer, width, {
      height, x: { ...range, ends: !range.labels }, y: valueAxis.range(), rail: failed.length > 0, yTitle: valueAxis.title(),
    });
    const level = (value) => (value === null ? frame.railAt : frame.y(valueAxis.of(value)));
    const points = evaluations.map(({ x, value }) => (x[axis] === null ? null : [frame.x(x[axis]), level(value)]));
    const applying = (indices) => indices.filter((index) => points[index]);
    drawExpected(layer, frame, axis);
    const age = (index) => Math.floor((index / evaluations.length) * RAMP);
    for (let step = 0; step < RAMP; step += 1) {
      const members = applying(feasible).filter((index) => age(index) === step);
      layer.append(svg("path", { class: `dots ramp-${step}`, style: `--dot:${dotSize()}`, d: joined(members, (index) => dot(points[index])) }));
    }
    layer.append(
      svg("path", { class: "infeasible", d: joined(applying(infeasible), (index) => hollow(points[index])) }),
      svg("path", { class: "crosses", d: joined(applying(failed), (index) => cross(points[index])) }),
      svg("path", { class: "best-dot", d: bestMark(frame, axis, points) }),
    );
    return { height, points };
  };
}

// Under noise what is recommended, never the luckiest draw.
function bestMark(frame, axis, points) {
  if (!study.recommended) return study.best === null || !points[study.best] ? "" : diamond(points[study.best]);
  const { x, mean } = study.recommended;
  return x[axis] === null ? "" : diamond([frame.x(x[axis]), levelIn(frame, mean)]);
}

function showParameters() {
  parameters.forEach(({ name, scale }, axis) => {
    const host = html("div", { class: "chart" });
    const caption = html("figcaption", { title: name }, name, scale === "log" ? html("span", {}, " · log scale") : "");
    $("parameters-charts").append(html("figure", {}, caption, host));
    addChart(host, `${name} against the value, ${counted(evaluations.length, "evaluation")}. Arrow keys walk through them.`, drawParameter(axis));
  });
  setLegend("parameters-legend", [["ramp", "early to late"], study.slices.some((slice) => slice.length) && ["expected", `expected through the ${study.recommended ? "recommended" : "best"} point, ± 2 standard deviations`], study.best !== null && ["point", study.recommended ? "recommended" : "best"], infeasible.length && ["infeasible", "violates a constraint"], failed.length && ["crosses", failedName]]);
}

function showConvergence() {
  const best = study.best === null ? "no best so far" : `the best so far, which ends at ${short(evaluations[study.best].value)}`;
  const label = `Value of ${counted(succeeded.length, "evaluation")} and ${study.recommended ? `what is recommended, expected at ${short(study.recommended.mean)}` : best}. Arrow keys walk through the evaluations.`;
  addChart($("convergence-chart"), label, drawConvergence);
  setLegend("convergence-legend", [
    ["dots", study.recommended ? "evaluation, ± its noise" : "evaluation"], (study.recommended || study.best !== null) && ["best", study.recommended ? "recommended, ± 2 standard deviations" : "best so far"],
    infeasible.length && ["infeasible", "violates a constraint"], failed.length && ["crosses", failedName], study.restarts.length && ["restart", "restart"],
  ]);
  $("value-scale").hidden = !valueAxis.logPossible;
  if (!valueAxis.positive) $("log-name").textContent = "Log distance to best";
  for (const choice of document.querySelectorAll("#value-scale input")) {
    choice.checked = (choice.value === "log") === valueAxis.log;
    choice.addEventListener("change", () => {
      valueAxis.log = choice.value === "log";
      redrawAll();
    });
  }
}

function showRelevance() {
  const order = parameters.map((_, axis) => axis).sort((a, b) => study.relevance[b] - study.relevance[a]);
  const more = $("relevance-more");
  more.hidden = order.length <= MANY;
  more.textContent = `Show all ${order.length}`;
  more.addEventListener("click", () => {
    more.hidden = true;
    $("relevance-bars").append(...bars(order.slice(MANY)));
  });
  $("relevance-bars").replaceChildren(...bars(more.hidden ? order : order.slice(0, MANY)));
}

function bars(order) {
  return order.map((axis) => {
    const [share, std] = [study.relevance[axis], study.relevance_std[axis] ?? 0];
    const [low, high] = [Math.max(0, share - std), Math.min(1, share + std)];
    const digits = share < 0.1 ? 1 : 0;
    return html("li", {},
      html("span", { class: "name", title: parameters[axis].name }, parameters[axis].name),
      html("span", { class: "track", "aria-hidden": "true" }, html("div", { class: "bar", style: `width:${100 * share}%` }),
        html("div", { class: "doubt", style: `left:${100 * low}%;width:${100 * (high - low)}%` })),
      html("span", { class: "share" }, `${(100 * share).toFixed(digits)} ± ${(100 * std).toFixed(digits)}%`));
  });
}

// ---- half-widths of the trust region

// (A region of categories alone has none.)
const steps = study.trust_regions.filter(({ half_widths: all }) => all.length > 0);

function drawWidths(layer, width) {
  const height = 240;
  const widths = steps.flatMap(({ half_widths: all }) => all).filter((half) => half > 0);
  const low = widths.reduce((a, b) => Math.min(a, b), Infinity);
  const high = widths.reduce((a, b) => Math.max(a, b), 0);
  const last = Math.max(afterId(evaluations.length), afterId(steps.at(-1).at_evaluation) + 1); // the newest step may still run
  const frame = drawFrame(layer, width, { height, x: idRange(last), y: { low: low / 1.2, high: high * 1.2, log: true }, xTitle: "evaluation", yTitle: "half-width" });
  drawRestarts(layer, frame);
  const floor = (half) => Math.max(half, low);
  const mean = (all) => Math.exp(all.reduce((sum, half) => sum + Math.log(floor(half)), 0) / all.length);
  for (let axis = 0; axis < steps[0].half_widths.length; axis += 1) {
    layer.append(svg("path", { class: "width", d: curve(frame, (step) => floor(step.half_widths[axis])) }));
  }
  layer.append(svg("path", { class: "width mean", d: curve(frame, (step) => mean(step.half_widths)) }));
  const points = evaluations.map(() => null);
  for (const step of steps) {
    if (step.at_evaluation < points.length) points[step.at_evaluation] = [frame.x(afterId(step.at_evaluation) + 1), frame.y(mean(step.half_widths))];
  }
  return { height, points };
}

// A line through the steps, broken at each restart: the region before and the one after have nothing to do with each other.
function curve(frame, size) {
  const restarts = study.restarts.map(({ at_evaluation: at }) => at);
  let [run, next, path] = [-1, 0, ""];
  for (const step of steps) {
    while (next < restarts.length && restarts[next] <= step.at_evaluation) next += 1;
    path += `${run === next ? "L" : "M"}${px(frame.x(afterId(step.at_evaluation) + 1))} ${px(frame.y(size(step)))}`;
    run = next;
  }
  return path;
}

function showWidths() {
  addChart($("widths-chart"), `Half-widths of the trust region at ${counted(steps.length, "step")}.`, drawWidths);
  setLegend("widths-legend", [["mean", "geometric mean"], ["width", "each axis"], study.restarts.length && ["restart", "restart"]]);
}
