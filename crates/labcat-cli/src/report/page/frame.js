// The frame of a chart: axes with their ticks, and under the plot a rail for what has no value.

const px = (number) => number.toFixed(1);
const polyline = (points) => points.map(([x, y], k) => `${k ? "L" : "M"}${px(x)} ${px(y)}`).join("");

function drawFrame(layer, width, { height, x, y, xTitle, yTitle, rail = false, square = false }) {
  const [top, bottom] = [yTitle ? 26 : 12, height - (xTitle ? 42 : 26) - (rail ? 20 : 0)];
  const yScale = makeScale(y.low, y.high, y.log, bottom, top);
  const yTicks = yScale.ticks(Math.max(2, Math.round((bottom - top) / 52)));
  const left = Math.max(34, 12 + 6.8 * Math.max(...yTicks.map(({ label }) => label.length), rail ? 6 : 0));
  const right = square ? Math.min(width - 10, left + 12 + bottom - top) : width - 10;
  const xScale = makeScale(x.low, x.high, x.log, left + 6, right - 6);
  for (const { at, label } of yTicks) {
    const level = px(yScale(at));
    layer.append(svg("line", { class: "gridline", x1: left, x2: right, y1: level, y2: level }));
    layer.append(svg("text", { x: left - 8, y: level, "text-anchor": "end", dy: "0.35em" }, label));
  }
  const foot = bottom + (rail ? 20 : 0);
  layer.append(svg("line", { class: "axis", x1: left, x2: right, y1: foot, y2: foot }));
  drawColumns(layer, xScale, foot, { left, right, top: square ? top : foot, whole: x.whole });
  if (rail) layer.append(svg("text", { x: left - 8, y: bottom + 10, "text-anchor": "end", dy: "0.35em" }, "failed"));
  if (yTitle) layer.append(svg("text", { x: 0, y: 12 }, yTitle));
  if (xTitle) layer.append(svg("text", { x: right, y: height - 4, "text-anchor": "end" }, xTitle));
  return { x: xScale, y: yScale, left, right, top, bottom, railAt: bottom + 10 };
}

function drawColumns(layer, scale, foot, { left, right, top, whole = false }) {
  let free = -Infinity;
  for (const { at, label } of scale.ticks(Math.max(2, Math.round((right - left) / 80)))) {
    const [place, half] = [scale(at), label.length * 3.4];
    if (top < foot) layer.append(svg("line", { class: "gridline", x1: px(place), x2: px(place), y1: top, y2: foot }));
    if (whole && !Number.isInteger(at)) continue;
    if (place - half < free || place + half > right + 10) continue;
    free = place + half + 8;
    layer.append(svg("text", { x: px(place), y: foot + 17, "text-anchor": "middle" }, label));
  }
}
