// What all charts have in common: marks as few large paths (thousands of points stay light), a frame with axes,
// and one evaluation that can be pointed at, walked to with the arrow keys, and is marked in every chart at once.

const dot = ([x, y]) => `M${px(x)} ${px(y)}h0`;
const cross = ([x, y]) => `M${px(x - 3)} ${px(y - 3)}l6 6m-6 0l6 -6`;
const ring = ([x, y], r = 7) => `M${px(x - r)} ${px(y)}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0`;
const diamond = ([x, y], r = 6) => `M${px(x)} ${px(y - r)}l${r} ${r}l${-r} ${r}l${-r} ${-r}z`;
const hollow = (place) => ring(place, 2.5);
const joined = (indices, mark) => indices.map(mark).join("");
const dotSize = () => (evaluations.length > 1500 ? 3 : evaluations.length > 400 ? 4 : 5.5);

const charts = [];
let active = null;
let pinned = false;

// `draw(root, width)` fills the drawing and returns `{ height, points, trace?, nearest? }`: where each evaluation is
// (null if it is not there), the path that marks one, and which one is meant by a place.
function addChart(host, label, draw) {
  const root = svg("svg", { role: "application", "aria-roledescription": "interactive chart", "aria-label": label, tabindex: 0 });
  host.append(root);
  const chart = { host, root, draw, width: 0, view: null, halo: null };
  charts.push(chart);
  root.addEventListener("pointermove", (event) => !pinned && point(chart, event));
  root.addEventListener("pointerleave", () => !pinned && activate(null));
  root.addEventListener("click", (event) => {
    pinned = false;
    point(chart, event);
    if (active !== null) pin(true);
  });
  root.addEventListener("keydown", (event) => walk(chart, event));
  root.addEventListener("blur", () => !pinned && activate(null));
  new ResizeObserver(() => host.clientWidth !== chart.width && redraw(chart)).observe(host);
  return chart;
}

function redraw(chart) {
  chart.width = chart.host.clientWidth;
  if (chart.width === 0) return;
  const layer = svg("g", { "aria-hidden": "true" });
  chart.root.replaceChildren(layer);
  chart.view = chart.draw(layer, chart.width);
  const { width = chart.width, height } = chart.view;
  for (const [key, value] of [["viewBox", `0 0 ${width} ${height}`], ["width", width], ["height", height]]) chart.root.setAttribute(key, value);
  chart.halo = svg("path", { class: "halo" });
  chart.root.append(chart.halo);
  trace(chart);
}
const redrawAll = () => charts.forEach(redraw);

function trace(chart) {
  if (!chart.halo) return;
  const place = active === null ? null : chart.view.points[active];
  chart.halo.setAttribute("d", !place ? "" : chart.view.trace ? chart.view.trace(active) : ring(place));
}

function point(chart, event) {
  if (!chart.view) return;
  const box = chart.root.getBoundingClientRect();
  const zoom = box.width / chart.root.viewBox.baseVal.width;
  const [x, y] = [(event.clientX - box.left) / zoom, (event.clientY - box.top) / zoom];
  const found = (chart.view.nearest ?? ((px, py) => nearest(chart.view.points, px, py)))(x, y);
  activate(found, { x: event.pageX, y: event.pageY });
}

function nearest(points, x, y) {
  let [found, closest] = [null, 26 ** 2];
  points.forEach((place, index) => {
    if (!place) return;
    const distance = (place[0] - x) ** 2 + (place[1] - y) ** 2;
    if (distance <= closest) [found, closest] = [index, distance];
  });
  return found;
}

function walk(chart, event) {
  if (event.key === "Escape") {
    pin(false);
    return activate(null);
  }
  if (event.key === "Enter" && active !== null) return showInTable(active);
  const here = chart.view.points.flatMap((place, index) => (place ? [index] : []));
  const at = active === null ? -1 : here.findIndex((index) => index >= active);
  const next = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: here.length - 1 }[event.key];
  if (next === undefined || here.length === 0) return undefined;
  event.preventDefault();
  pinned = false;
  const index = here[Math.min(Math.max(next, 0), here.length - 1)];
  const box = chart.root.getBoundingClientRect();
  const [x, y] = chart.view.points[index];
  const zoom = box.width / chart.root.viewBox.baseVal.width;
  activate(index, { x: box.left + x * zoom + window.scrollX, y: box.top + y * zoom + window.scrollY });
  $("live").textContent = describe(index);
  return undefined;
}

function activate(index, place) {
  active = index;
  charts.forEach(trace);
  showTip(place);
}

function pin(on) {
  pinned = on;
  $("tip").classList.toggle("pinned", on);
  if (on) $("tip").append(html("button", { type: "button", click: () => showInTable(active) }, "Show in the table"));
}

document.addEventListener("pointerdown", (event) => {
  if (!pinned || event.target.closest(".chart, .tip")) return;
  pin(false);
  activate(null);
}, { signal: gone.signal });
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || active === null) return;
  pin(false);
  activate(null);
}, { signal: gone.signal });

const outcome = (evaluation) => {
  if (evaluation.value === null) return trimmed(reasonOf(evaluation), 60);
  return short(evaluation.value, 8) + (meets(evaluation) ? "" : `, violates ${trimmed(violated(evaluation), 60)}`);
};

function describe(index) {
  const evaluation = evaluations[index];
  const point = parameters.map((parameter, axis) => `${parameter.name} ${valueText(parameter, evaluation.x[axis])}`).join(", ");
  return `Evaluation ${evaluation.id}: ${outcome(evaluation)}; ${point}`;
}

function showTip(place) {
  const tip = $("tip");
  tip.hidden = active === null;
  tip.classList.remove("pinned");
  if (active === null) return;
  const evaluation = evaluations[active];
  const rows = parameters.slice(0, 8).flatMap((parameter, axis) => [html("dt", {}, parameter.name), html("dd", {}, valueText(parameter, evaluation.x[axis]))]);
  const more = parameters.length > 8 ? html("p", { class: "note" }, `and ${counted(parameters.length - 8, "more parameter")}`) : null;
  const title = html("div", {}, html("strong", {}, outcome(evaluation)), ` · evaluation ${evaluation.id}`);
  tip.replaceChildren(title, html("dl", {}, ...rows), ...(more ? [more] : []));
  const { width, height } = tip.getBoundingClientRect();
  const edge = document.documentElement.clientWidth - 8;
  const left = place.x + 16 + width > edge + window.scrollX ? place.x - 16 - width : place.x + 16;
  tip.style.left = `${Math.max(8 + window.scrollX, Math.min(left, edge + window.scrollX - width))}px`;
  tip.style.top = `${Math.max(window.scrollY + 8, place.y - height - 12)}px`;
}

function drawRestarts(layer, frame) {
  for (const { at_evaluation: at, cause } of study.restarts) {
    const place = px(frame.x(afterId(at) + 0.5));
    const line = svg("line", { class: "restart", x1: place, x2: place, y1: frame.top, y2: frame.bottom });
    line.append(svg("title", {}, `Restart after evaluation ${afterId(at)}: ${cause}`));
    layer.append(line);
  }
}

// ---- legends

const swatches = {
  dots: () => svg("path", { class: "dots", d: dot([11, 7]) }),
  crosses: () => svg("path", { class: "crosses", d: cross([11, 7]) }),
  infeasible: () => svg("path", { class: "infeasible", d: hollow([11, 7]) }),
  limited: () => svg("path", { class: "lines infeasible", d: "M1 7h20" }),
  best: () => svg("path", { class: "best-line", d: "M1 7h20" }),
  expected: () => svg("g", {}, svg("path", { class: "expected-band", d: "M1 2h20v10h-20z" }), svg("path", { class: "expected", d: "M1 7h20" })),
  mayBe: () => svg("path", { class: "may-be", d: "M4 2h14v10h-14z" }),
  point: () => svg("path", { class: "best-dot", d: diamond([11, 7]) }),
  restart: () => svg("line", { class: "restart", x1: 11, x2: 11, y1: 0, y2: 14 }),
  width: () => svg("path", { class: "width", d: "M1 7h20" }),
  mean: () => svg("path", { class: "width mean", d: "M1 7h20" }),
  box: () => svg("rect", { class: "box", x: 4, y: 2, width: 14, height: 10 }),
  newest: () => svg("path", { class: "newest", d: ring([11, 7], 5) }),
  line: () => svg("path", { class: "lines failed", d: "M1 7h20" }),
  ramp: () => svg("g", {}, ...Array.from({ length: RAMP }, (_, k) => svg("path", { class: `dots ramp-${k}`, d: dot([4 + 10 * k, 7]) }))),
};

function setLegend(id, entries) {
  $(id).replaceChildren(...entries.filter(Boolean).map(([kind, text]) => {
    const width = kind === "ramp" ? 10 * RAMP : 22;
    return html("span", {}, svg("svg", { width, height: 14, "aria-hidden": "true" }, swatches[kind]()), text);
  }));
}
