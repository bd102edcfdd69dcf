// The frame of a chart: axes with their ticks, and under the plot a rail for what has no value.

const px = (number) => number.toFixed(1);
const polyline = (points) => points.map(([x, y], k) => `${k ? "L" : "M"}${px(x)} ${px(y)}`).join("");

const LETTER = 6.8; // the width of a letter of a label, about

function drawFrame(layer, width, { height, x, y, xTitle, yTitle, rail = false, square = false }) {
  const [top, bottom] = [yTitle ? 26 : 12, height - (xTitle ? 42 : 26) - (rail ? 20 : 0)];
  const yScale = makeScale(y.low, y.high, y.log, bottom, top);
  const shift = commonPart(y);
  const tickScale = makeScale(y.low - shift, y.high - shift, y.log, bottom, top);
  const yTicks = tickScale.ticks(Math.max(3, Math.round((bottom - top) / 52)));
  const left = Math.max(34, 12 + LETTER * Math.max(...yTicks.map(({ label }) => label.length), rail ? 6 : 0));
  const right = square ? Math.min(width - 10, left + 12 + bottom - top) : width - 10;
  const xScale = makeScale(x.low, x.high, x.log, left + 6, right - 6);
  for (const { at, label } of yTicks) {
    const level = px(tickScale(at));
    layer.append(svg("line", { class: "gridline", x1: left, x2: right, y1: level, y2: level }));
    layer.append(svg("text", { class: "up", x: left - 8, y: level, "text-anchor": "end", dy: "0.35em" }, label));
  }
  const foot = bottom + (rail ? 20 : 0);
  layer.append(svg("line", { class: "axis", x1: left, x2: right, y1: foot, y2: foot }));
  drawColumns(layer, xScale, foot, { left, right, top: square ? top : foot, whole: x.whole, ends: x.ends ? [x.low, x.high] : [], log: x.log, labels: x.labels });
  if (rail) layer.append(svg("text", { x: left - 8, y: bottom + 10, "text-anchor": "end", dy: "0.35em" }, "failed"));
  if (yTitle) layer.append(svg("text", { x: 0, y: 12 }, shift ? `${yTitle} − ${short(shift, 15)}` : yTitle));
  if (xTitle) layer.append(svg("text", { x: right, y: height - 4, "text-anchor": "end" }, xTitle));
  return { x: xScale, y: yScale, left, right, top, bottom, railAt: bottom + 10 };
}

// What all numbers of a range have in common, if it would make their labels long: they are counted from there.
function commonPart({ low, high, log }) {
  const span = high - low;
  if (log || !(span > 0) || Math.max(Math.abs(low), Math.abs(high)) < 1e4 * span) return 0;
  const unit = 10 ** Math.ceil(Math.log10(span));
  return Number((Math.floor(low / unit) * unit).toPrecision(15));
}

// The ends of a range have their labels first, if they are wanted; the ticks between them have what room is left.
function drawColumns(layer, scale, foot, { left, right, top, whole = false, ends = [], log = false, labels = null }) {
  const room = labels ? Math.floor((right - left) / labels.length / LETTER) - 1 : 0;
  const ticks = labels ? labels.map((label, at) => ({ at, label: trimmed(label, Math.max(4, room)) })) : scale.ticks(Math.max(2, Math.round((right - left) / 80)));
  const taken = [];
  const add = (at, label, from, to, anchor) => {
    if (from < 0 || to > right + 10 || taken.some(([a, b]) => from < b + 8 && to > a - 8)) return;
    taken.push([from, to]);
    layer.append(svg("text", { class: "across", x: px(scale(at)), y: foot + 17, "text-anchor": anchor }, label));
  };
  ends.forEach((at, k) => {
    const label = ticks.find((tick) => Math.abs(scale(tick.at) - scale(at)) < 0.5)?.label ?? endLabel(at, log);
    const room = label.length * LETTER;
    if (k === 0) add(at, label, scale(at), scale(at) + room, "start");
    else add(at, label, scale(at) - room, scale(at), "end");
  });
  for (const { at, label } of ticks) {
    const [place, half] = [scale(at), (label.length * LETTER) / 2];
    if (top < foot) layer.append(svg("line", { class: "gridline", x1: px(place), x2: px(place), y1: top, y2: foot }));
    if (whole && !Number.isInteger(at)) continue;
    add(at, label, place - half, place + half, "middle");
  }
}

function endLabel(number, log) {
  const power = Math.log10(number);
  return log && Math.abs(power - Math.round(power)) < 1e-9 && Math.abs(power) > 3 ? powerLabel(Math.round(power), 1, false) : short(number, 4);
}
