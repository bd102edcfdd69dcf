// What the model of all evaluations says around the point to use: a line with a band along each parameter, and a map of two.

const REACH = 2; // standard deviations
const better = minimises ? -1 : 1;
const toUse = study.recommended ?? (study.best === null ? null : { x: evaluations[study.best].x, mean: evaluations[study.best].value });

// A logarithmic axis may end above what is expected.
function levelIn(frame, value) {
  const at = frame.y(valueAxis.of(value));
  return Number.isFinite(at) ? Math.min(frame.bottom, Math.max(frame.top, at)) : frame.bottom;
}

function drawExpected(layer, frame, axis) {
  const known = (study.slices[axis] ?? []).filter(({ mean, std }) => mean !== null && std !== null);
  if (!known.length) return;
  const ends = known.map(({ at, mean, std }) => [frame.x(at), levelIn(frame, mean), levelIn(frame, mean - REACH * std), levelIn(frame, mean + REACH * std)]);
  if (parameters[axis].labels.length) {
    const mark = ([x, middle, low, high]) => `M${px(x)} ${px(low)}V${px(high)}M${px(x - 7)} ${px(middle)}h14`;
    layer.append(svg("path", { class: "expected-bar", d: ends.map(mark).join("") }));
    return;
  }
  const back = ends.map(([x, , , high]) => [x, high]).toReversed();
  layer.append(
    svg("path", { class: "expected-band", d: `${polyline([...ends.map(([x, , low]) => [x, low]), ...back])}Z` }),
    svg("path", { class: "expected", d: polyline(ends.map(([x, middle]) => [x, middle])) }),
  );
}

// The better a cell, the darker; a line around those that may be as good as the point to use.
function drawExpectedMap(layer, width) {
  const height = Math.min(width, 460);
  const { axes, at, mean, std } = study.map;
  const [across, up] = axes.map((axis) => parameters[axis]);
  const frame = drawFrame(layer, width, {
    height, x: parameterRange(across), y: parameterRange(up), xTitle: trimmed(across.name, 40), yTitle: trimmed(up.name, 40), square: true,
  });
  const halfway = (places) => [...places, places.at(-1)].map((place, i) => (i && i < places.length ? (place + places[i - 1]) / 2 : place));
  const edges = at.map((values, k) => halfway(values.map((value) => (k ? frame.y : frame.x)(value))));
  const sorted = mean.flat().filter((value) => value !== null).sort((a, b) => better * (a - b));
  const grade = (value) => Math.min(RAMP - 1, Math.floor((sorted.findIndex((other) => better * (other - value) >= 0) / sorted.length) * RAMP));
  const mayBe = (row, column) => {
    const [m, s] = [mean[row]?.[column] ?? null, std[row]?.[column] ?? null];
    return m !== null && s !== null && better * (m - toUse.mean) + REACH * s >= 0;
  };
  const cells = Array.from({ length: RAMP }, () => "");
  let border = "";
  mean.forEach((values, row) => values.forEach((value, column) => {
    const [left, right, bottom, top] = [edges[0][column], edges[0][column + 1], edges[1][row], edges[1][row + 1]];
    if (value !== null) cells[grade(value)] += `M${px(left)} ${px(bottom)}H${px(right)}V${px(top)}H${px(left)}Z`;
    if (!mayBe(row, column)) return; // at the edge of the map the line is closed, so that one sees which side is inside
    if (!mayBe(row, column - 1)) border += `M${px(left)} ${px(bottom)}V${px(top)}`;
    if (!mayBe(row, column + 1)) border += `M${px(right)} ${px(bottom)}V${px(top)}`;
    if (!mayBe(row - 1, column)) border += `M${px(left)} ${px(bottom)}H${px(right)}`;
    if (!mayBe(row + 1, column)) border += `M${px(left)} ${px(top)}H${px(right)}`;
  }));
  const places = evaluations.map(({ x }) => (axes.some((axis) => x[axis] === null) ? null : [frame.x(x[axes[0]]), frame.y(x[axes[1]])]));
  const shown = succeeded.filter((index) => places[index]);
  layer.append(
    ...cells.map((d, step) => svg("path", { class: `cells fill-${step}`, d })),
    svg("path", { class: "dots tried", d: joined(shown, (index) => dot(places[index])) }),
    svg("path", { class: "may-be", d: border }),
    svg("path", { class: "best-dot", d: diamond([frame.x(toUse.x[axes[0]]), frame.y(toUse.x[axes[1]])], 7) }),
  );
  return { height, points: places };
}

function showExpectedMap() {
  const [across, up] = study.map.axes.map((axis) => parameters[axis].name);
  const rest = parameters.length > 2 ? `, the others as ${study.recommended ? "recommended" : "in the best evaluation"}` : "";
  $("expected-note").textContent = `The prediction of a model of all evaluations over ${across} and ${up}${rest}. Inside the line a value may be as good as the ${study.recommended ? "recommended" : "best"} one: it is within two standard deviations of the prediction.`;
  addChart($("expected-chart"), `Expected value over ${across} and ${up}.`, drawExpectedMap);
  setLegend("expected-legend", [["ramp", "worse to better, expected"], ["mayBe", "may be as good"], ["point", study.recommended ? "recommended" : "best"]]);
}
