// Parallel coordinates: one line per evaluation across the axes of all parameters and the value.

const parallelColumns = () => [...columns.filter(({ axis }) => axis !== undefined), ...(succeeded.length ? [valueColumn] : [])];

function drawParallel(layer, available) {
  const shown = parallelColumns();
  const [height, top, bottom, side] = [340, 46, 312, 34];
  const width = Math.max(available, shown.length * 72);
  const gap = shown.length > 1 ? (width - 2 * side) / (shown.length - 1) : 0;
  const axes = shown.map((column, k) => {
    const parameter = parameters[column.axis];
    const range = parameter ? parameterRange(parameter) : valueAxis.exact();
    return { column, parameter, place: side + k * gap, scale: makeScale(range.low, range.high, range.log, bottom, top), range };
  });
  const level = ({ parameter, scale, column }, index) => scale(parameter ? column.get(index) : valueAxis.of(column.get(index)));
  const line = (index) => polyline(axes.filter(({ column }) => column.get(index) !== null).map((axis) => [axis.place, level(axis, index)]));
  drawLines(layer, line);
  axes.forEach((axis, k) => {
    const [anchor, edge] = k === 0 ? ["start", 4] : k === axes.length - 1 ? ["end", width - 4] : ["middle", axis.place];
    drawAxis(layer, axis, { top, bottom, room: gap || width, anchor, edge });
  });
  const first = (index) => axes.find(({ column }) => column.get(index) !== null);
  const points = evaluations.map((_, index) => (filter.matches[index] && first(index) ? [first(index).place, level(first(index), index)] : null));
  return { width, height, points, trace: line, nearest: (x, y) => nearestLine(axes, level, points, x, y) };
}

function drawLines(layer, line) {
  const group = (name, members) => layer.append(svg("path", { class: `lines ${name}`, d: joined(members, line) }));
  const matching = succeeded.filter((index) => filter.matches[index]);
  group("muted", evaluations.flatMap((_, index) => (filter.matches[index] ? [] : [index])));
  group("failed", failed.filter((index) => filter.matches[index]));
  for (let grade = 0; grade < RAMP; grade += 1) group(`ramp-${grade}`, matching.filter((index) => gradeOf(index) === grade && index !== study.best));
  group("infeasible", infeasible.filter((index) => filter.matches[index]));
  group("best", matching.filter((index) => index === study.best));
}

function drawAxis(layer, axis, { top, bottom, room, anchor, edge }) {
  const { column, place, scale, range, parameter } = axis;
  const letters = Math.max(4, Math.floor(room / 8.6));
  const name = svg("text", { class: "name", x: px(edge), y: 14, "text-anchor": anchor }, trimmed(parameter ? column.name : valueAxis.name(), letters));
  name.append(svg("title", {}, parameter ? column.name : valueAxis.title()));
  const ends = [svg("text", { x: px(edge), y: 34, "text-anchor": anchor }, short(range.high, 4)), svg("text", { x: px(edge), y: bottom + 20, "text-anchor": anchor }, short(range.low, 4))];
  layer.append(name, svg("line", { class: "axis", x1: place, x2: place, y1: top, y2: bottom }), ...(range.labels ? labelTicks(axis, letters, anchor) : ends));
  const clipped = (pixel) => Math.min(bottom, Math.max(top, pixel));
  const brush = svg("rect", { class: "brush", x: place - 6, width: 12, rx: 3 });
  const showBrush = (from, to) => {
    brush.setAttribute("y", Math.min(from, to));
    brush.setAttribute("height", Math.abs(to - from));
  };
  const limits = parameter || !valueAxis.log || valueAxis.positive ? rangeOf(column) : null;
  if (limits) showBrush(...limits.map((limit, end) => (Number.isFinite(limit) && (!range.log || limit > 0) ? clipped(scale(limit)) : end ? top : bottom)));
  else showBrush(0, 0);
  layer.append(brush);
  if (parameter || !valueAxis.log || valueAxis.positive) layer.append(grip(axis, { top, bottom, clipped, showBrush }));
}

// The labels of a choice beside its axis, as many as there is room for.
function labelTicks({ place, scale, range: { labels } }, letters, anchor) {
  const every = Math.max(1, Math.ceil(labels.length / 16));
  const [side, towards] = anchor === "end" ? [place - 8, "end"] : [place + 8, "start"];
  return labels.flatMap((label, at) => (at % every ? [] : [
    svg("line", { class: "axis", x1: place - 4, x2: place + 4, y1: px(scale(at)), y2: px(scale(at)) }),
    svg("text", { class: "label-tick", x: px(side), y: px(scale(at)), "text-anchor": towards, dy: "0.35em" }, trimmed(label, letters)),
  ]));
}

// Fingers scroll the page; a mouse or a pen brushes.
function grip({ column, place, scale }, { top, bottom, clipped, showBrush }) {
  const handle = svg("rect", { class: "grip", x: place - 14, width: 28, y: top - 6, height: bottom - top + 12 });
  let start = null;
  const level = (event) => {
    const drawing = handle.ownerSVGElement;
    const box = drawing.getBoundingClientRect();
    return clipped(((event.clientY - box.top) / box.height) * drawing.viewBox.baseVal.height);
  };
  handle.addEventListener("pointerdown", (event) => {
    if (event.pointerType === "touch" || event.button !== 0) return;
    event.preventDefault();
    start = level(event);
    handle.setPointerCapture(event.pointerId);
  });
  handle.addEventListener("pointermove", (event) => {
    if (start === null) return;
    event.stopPropagation();
    showBrush(start, level(event));
  });
  handle.addEventListener("pointerup", (event) => {
    if (start === null) return;
    const [from, to] = [Math.max(start, level(event)), Math.min(start, level(event))];
    start = null;
    setRange(column, from - to < 3 ? null : [scale.invert(from), scale.invert(to)]);
  });
  handle.addEventListener("click", (event) => event.stopPropagation());
  return handle;
}

function nearestLine(axes, level, points, x, y) {
  const right = Math.max(1, axes.findIndex(({ place }) => place >= x));
  const [a, b] = [axes[right - 1], axes[right] ?? axes[right - 1]];
  const share = b.place > a.place ? Math.min(1, Math.max(0, (x - a.place) / (b.place - a.place))) : 0;
  let [found, closest] = [null, 14];
  points.forEach((place, index) => {
    if (!place || a.column.get(index) === null || b.column.get(index) === null) return;
    const distance = Math.abs(level(a, index) * (1 - share) + level(b, index) * share - y);
    if (distance < closest) [found, closest] = [index, distance];
  });
  return found;
}

function showParallel() {
  const label = `Parallel coordinates of ${counted(evaluations.length, "evaluation")}. Arrow keys walk through them; the filter of the table chooses among them.`;
  const chart = addChart($("parallel-chart"), label, drawParallel);
  setLegend("parallel-legend", [
    feasible.length && ["ramp", "worst to best"], study.best !== null && ["best", "the best"], infeasible.length && ["limited", "violates a constraint"], failed.length && ["line", failedName],
  ]);
  $("parallel-clear").addEventListener("click", () => setFilter({ text: "", status: "" }));
  filter.listeners.push(() => {
    $("parallel-clear").hidden = !isFiltered();
    redraw(chart);
  });
}
