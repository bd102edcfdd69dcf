// The trust region of two parameters as an animation: its rotated box among the points known at each step.

const boxes = study.trust_regions.filter(({ corners }) => corners);
const TRAIL = 10;
let step = 0;
let timer = null;
let goToStep = null;

// The part of the plane to draw: all of it, or a square (in the scaled space) about the box. A very small square is
// measured from the box's centre (`origin`), for its coordinates would differ in the last digits only.
function mapRanges(close) {
  const logs = parameters.map(({ scale }) => scale === "log");
  const plain = parameters.map(({ low, high }, axis) => makeScale(low, high, logs[axis], 0, 1));
  const ends = plain.map((scale, axis) => boxes[step].corners.map((corner) => scale(corner[axis])));
  const spans = ends.map((places) => [Math.min(...places), Math.max(...places)]);
  const half = close ? Math.min(0.5, 1.1 * Math.max(1e-15, ...spans.map(([least, most]) => most - least))) : 0.5;
  return plain.map((scale, axis) => {
    const { low, high } = parameters[axis];
    if (half < 1e-4 && !logs[axis]) return { low: half * (low - high), high: half * (high - low), log: false, origin: boxes[step].centre[axis] };
    const middle = Math.min(1 - half, Math.max(half, (spans[axis][0] + spans[axis][1]) / 2));
    return { low: scale.invert(middle - half), high: scale.invert(middle + half), log: logs[axis], origin: null };
  });
}

function drawMap(layer, width, close) {
  const height = Math.min(width, 520);
  const [horizontal, vertical] = mapRanges(close);
  const title = (range, axis) => trimmed(parameters[axis].name, 40) + (range.origin === null ? "" : ", from the centre");
  const frame = drawFrame(layer, width, { height, x: horizontal, y: vertical, xTitle: title(horizontal, 0), yTitle: title(vertical, 1), square: true });
  const at = ([x, y]) => [frame.x(x - (horizontal.origin ?? 0)), frame.y(y - (vertical.origin ?? 0))];
  const { left, right, top, bottom } = frame;
  const id = close ? "close-clip" : "map-clip";
  const clip = svg("clipPath", { id }, svg("rect", { x: left, y: top - 6, width: right - left, height: bottom - top + 12 }));
  const plot = svg("g", { "clip-path": `url(#${id})` });
  layer.append(clip, plot);
  const known = boxes[step].at_evaluation;
  const places = evaluations.map(({ x }, index) => (index <= known ? at(x) : null));
  drawKnown(plot, places, known);
  drawBoxes(plot, at);
  const best = bestAmong(known);
  if (best !== null) plot.append(svg("path", { class: "best-dot", d: diamond(places[best]) }));
  if (places[known]) plot.append(svg("path", { class: "newest", d: ring(places[known], 6) }));
  const inside = ([x, y]) => x >= left && x <= right && y >= top - 6 && y <= bottom + 6;
  return { height, points: places.map((place) => (place && inside(place) ? place : null)) };
}

function drawKnown(plot, places, known) {
  for (let grade = 0; grade < RAMP; grade += 1) {
    const members = succeeded.filter((index) => index < known && gradeOf(index) === grade);
    plot.append(svg("path", { class: `dots ramp-${grade}`, style: `--dot:${dotSize()}`, d: joined(members, (index) => dot(places[index])) }));
  }
  plot.append(svg("path", { class: "infeasible", d: joined(infeasible.filter((index) => index < known), (index) => hollow(places[index])) }));
  plot.append(svg("path", { class: "crosses", d: joined(failed.filter((index) => index < known), (index) => cross(places[index])) }));
}

function drawBoxes(plot, at) {
  const outline = ({ corners }) => `${polyline(corners.map(at))}Z`;
  const begun = study.restarts.reduce((latest, { at_evaluation: at }) => (at <= boxes[step].at_evaluation ? at : latest), 0);
  for (let back = Math.min(TRAIL, step); back > 0; back -= 1) {
    if (boxes[step - back].at_evaluation < begun) continue;
    plot.append(svg("path", { class: "trail", "stroke-opacity": (0.5 * (1 - back / (TRAIL + 1))).toFixed(2), d: outline(boxes[step - back]) }));
  }
  const [cx, cy] = at(boxes[step].centre);
  plot.append(
    svg("path", { class: "box", d: outline(boxes[step]) }),
    svg("path", { class: "centre", d: `M${px(cx - 5)} ${px(cy)}h10M${px(cx)} ${px(cy - 5)}v10` }),
  );
}

function bestAmong(known) {
  const sign = minimises ? 1 : -1;
  return feasible.filter((index) => index < known).reduce((best, index) => (best === null || sign * evaluations[index].value < sign * evaluations[best].value ? index : best), null);
}

function showMap() {
  const label = `Trust region over ${parameters[0].name} and ${parameters[1].name}, in ${counted(boxes.length, "step")}.`;
  const maps = [
    addChart($("map-chart"), label, (layer, width) => drawMap(layer, width, false)),
    addChart($("close-chart"), `Close up: ${label}`, (layer, width) => drawMap(layer, width, true)),
  ];
  goToStep = (next) => {
    step = Math.min(Math.max(next, 0), boxes.length - 1);
    const box = boxes[step];
    $("step").value = step;
    $("step").setAttribute("aria-valuetext", `step ${step + 1} of ${boxes.length}`);
    $("step-back").disabled = step === 0;
    $("step-on").disabled = step === boxes.length - 1;
    $("step-text").textContent = `Step ${step + 1} of ${boxes.length}, after ${counted(box.at_evaluation, "evaluation")}: half-widths ${box.half_widths.map((half) => short(half, 3)).join(" and ")}`;
    maps.forEach(redraw);
  };
  const pause = () => {
    clearInterval(timer);
    timer = null;
    $("play").textContent = "Play";
  };
  const play = () => {
    if (step === boxes.length - 1) goToStep(0);
    const stride = Math.ceil(boxes.length / 400);
    timer = setInterval(() => {
      goToStep(step + stride);
      if (step === boxes.length - 1) pause();
    }, Math.min(220, Math.max(50, 20000 / boxes.length)));
    $("play").textContent = "Pause";
  };
  const stop = (next) => {
    pause();
    goToStep(next);
  };
  $("step").max = boxes.length - 1;
  $("step").addEventListener("input", () => stop(Number($("step").value)));
  $("step-back").addEventListener("click", () => stop(step - 1));
  $("step-on").addEventListener("click", () => stop(step + 1));
  $("play").addEventListener("click", () => (timer === null ? play() : pause()));
  setLegend("map-legend", [["box", "trust region"], ["newest", "next evaluation"], ["point", "best so far"], ["ramp", "worst to best"], infeasible.length && ["infeasible", "violates a constraint"], failed.length && ["crosses", failedName]]);
  goToStep(0);
}
