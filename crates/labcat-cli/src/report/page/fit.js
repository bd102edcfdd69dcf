// A model fitted to data, at the best point: both in one chart, what is left between them, and the parameters with their standard errors.

const { fit } = study;
const spread = (numbers) => numbers.reduce(([low, high], number) => [Math.min(low, number), Math.max(high, number)], [Infinity, -Infinity]);
const roomy = ([low, high]) => ({ low: low - 0.05 * (high - low), high: high + 0.05 * (high - low), log: false });
const chartOf = (caption, label, draw) => {
  const host = html("div", { class: "chart" });
  $("fit-charts").append(html("figure", {}, html("figcaption", {}, caption), host));
  addChart(host, label, draw);
};

function drawModel(series) {
  const errors = series.data.map((_, k) => series.error[k] ?? 0);
  const heights = roomy(spread([...series.model, ...series.data.flatMap((value, k) => [value - errors[k], value + errors[k]])]));
  const order = series.at.map((_, k) => k).sort((a, b) => series.at[a] - series.at[b]);
  return (layer, width) => {
    const height = 260;
    const frame = drawFrame(layer, width, { height, x: atAxis(series), y: heights, xTitle: atTitle(series), yTitle: series.name });
    const bars = series.error.map((error, k) => `M${px(frame.x(series.at[k]))} ${px(frame.y(series.data[k] - error))}V${px(frame.y(series.data[k] + error))}`);
    layer.append(
      svg("path", { class: "noise", d: bars.join("") }),
      svg("path", { class: "dots", d: series.data.map((value, k) => dot([frame.x(series.at[k]), frame.y(value)])).join("") }),
      svg("path", { class: "best-line", d: polyline(order.map((k) => [frame.x(series.at[k]), frame.y(series.model[k])])) }),
    );
    return { height, points: [] };
  };
}

function drawResiduals(series) {
  const heights = roomy(spread([...series.residuals, 0]));
  return (layer, width) => {
    const height = 260;
    const frame = drawFrame(layer, width, { height, x: atAxis(series), y: heights, xTitle: atTitle(series), yTitle: "residual" });
    layer.append(
      svg("path", { class: "width", d: `M${px(frame.left)} ${px(frame.y(0))}H${px(frame.right)}` }),
      svg("path", { class: "dots", d: series.residuals.map((value, k) => dot([frame.x(series.at[k]), frame.y(value)])).join("") }),
    );
    return { height, points: [] };
  };
}

function atAxis({ at, at_name: name }) {
  const [low, high] = spread(at);
  return { low, high, log: false, whole: !name };
}
const atTitle = ({ at_name: name }) => name || "row";

function showFit() {
  const determined = fit.standard_errors.length > 0;
  const scale = determined ? ` The standard deviation of a residual is ${short(fit.sigma, 3)}.` : "";
  $("fit-note").textContent = `${counted(fit.count, "residual")} at evaluation ${fit.evaluation}, the best. `
    + (determined
      ? `Parameters ± their standard error, from a linear model of the residuals around it.${scale}`
      : "The evaluations around it do not determine standard errors of the parameters yet.");
  const { x } = evaluations[study.best ?? leastViolated];
  $("fit-parameters").replaceChildren(...parameters.map((parameter, axis) => {
    const error = fit.standard_errors[axis] ?? null;
    const text = error === null ? valueText(parameter, x[axis], 8) : `${valueText(parameter, x[axis], 8)} ± ${short(error, 2)}`;
    return html("div", {}, html("dt", { title: parameter.name }, parameter.name), html("dd", {}, text));
  }));
  for (const series of fit.series) {
    const name = series.name ? `: ${series.name}` : "";
    if (series.data.length) chartOf(`Data and model${name}`, `Data and model${name}.`, drawModel(series));
    chartOf(`Residuals${name}`, `Residuals${name}.`, drawResiduals(series));
  }
  setLegend("fit-legend", [["dots", fit.series.some(({ data }) => data.length) ? "data, residuals" : "residuals"], fit.series.some(({ data }) => data.length) && ["best", "model"]]);
}
