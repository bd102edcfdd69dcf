// The study, and what every part of its page asks of it.

const { evaluations, parameters } = study;
const minimises = study.direction !== "maximize";
const succeeded = evaluations.flatMap((evaluation, index) => (evaluation.value === null ? [] : [index]));
const meets = ({ constraints }) => constraints.every((excess) => excess <= 0);
const feasible = succeeded.filter((index) => meets(evaluations[index]));
const infeasible = succeeded.filter((index) => !meets(evaluations[index]));
const failed = evaluations.flatMap((evaluation, index) => (evaluation.value === null ? [index] : []));
const broken = failed.filter((index) => !evaluations[index].constraints.length); // without a value for no known reason
// No evaluation satisfies the constraints: the one with the smallest violation is shown, and not called the best.
const leastViolated = study.best !== null && evaluations[study.best] && !meets(evaluations[study.best]) ? study.best : null;
if (leastViolated !== null || evaluations[study.best]?.value === null) study.best = null; // no best without a value to show
const failedName = broken.length === failed.length ? "failed" : "failed or without a value";
const RAMP = 6;
const gone = new AbortController(); // ends what listens beyond the page's own elements

// Evaluations have one number everywhere, their id. The id that is the highest of the first `count` told:
const highest = [-1];
evaluations.forEach(({ id }, index) => highest.push(Math.max(highest[index], id)));
const afterId = (count) => highest[Math.min(count, evaluations.length)];
const reasonOf = ({ message, status }) => message || status;
const violated = ({ constraints }) => study.measured_constraints
  .flatMap((text, k) => (constraints[k] > 0 ? [`${text} by ${short(constraints[k], 3)}`] : [])).join(", ");

// ---- values of parameters: numbers, or labels by their numbers; null where a parameter does not apply

const valueText = ({ labels }, value, digits = 6) => (value === null ? "–" : labels.length ? labels[value] : short(value, digits));
const valueData = ({ labels, type }, value) => (type === "boolean" ? value === 1 : labels.length ? labels[value] : value);
// Half a place beyond the first and the last label, and a tick for each.
const parameterRange = ({ low, high, scale, labels }) => (labels.length
  ? { low: -0.5, high: labels.length - 0.5, log: false, labels }
  : { low, high, log: scale === "log" });

// ---- the value's axis, shared by all charts: linear, log, or (with values of both signs) the log of the distance to the best

const valueAxis = (() => {
  const values = succeeded.map((index) => evaluations[index].value);
  const extent = (numbers) => numbers.reduce(([low, high], number) => [Math.min(low, number), Math.max(high, number)], [Infinity, -Infinity]);
  const [low, high] = extent(values);
  const [lowest, highestValue] = extent((feasible.length ? feasible : succeeded).map((index) => evaluations[index].value));
  const best = minimises ? lowest : highestValue;
  const positive = low > 0;
  const gaps = values.map((value) => Math.abs(value - best)).filter((gap) => gap > 0);
  const [floor, widest] = positive ? [low, high] : extent(gaps);
  const logPossible = values.length > 1 && widest / floor > 10;
  const middling = [...gaps].sort((a, b) => a - b)[Math.floor(gaps.length / 2)];
  const crowded = (positive && high / low > 1000) || middling < 0.02 * (high - low); // a linear axis would hide the end of the search
  const axis = { log: logPossible && crowded, logPossible, positive };
  axis.of = (value) => (axis.log && !positive ? Math.max(Math.abs(value - best), floor) : value);
  axis.exact = () => (axis.log ? { low: floor, high: widest, log: true } : { low, high, log: false });
  axis.range = () => {
    if (axis.log) {
      const room = (widest / floor) ** 0.04;
      return { low: floor / room, high: widest * room, log: true };
    }
    const room = (high - low) * 0.04;
    return { low: low - room, high: high + room, log: false };
  };
  axis.name = () => (axis.log && !positive ? "distance" : "value");
  axis.title = () => (axis.log && !positive ? "distance to the best value" : "value");
  return axis;
})();

// How good each evaluation is among all that meet the constraints: 0 the worst … RAMP - 1 the best, as a step of the colour ramp.
const gradeOf = (() => {
  const grades = new Int8Array(evaluations.length).fill(-1);
  const sign = minimises ? -1 : 1;
  const order = [...feasible].sort((a, b) => sign * (evaluations[a].value - evaluations[b].value));
  order.forEach((index, rank) => (grades[index] = Math.min(RAMP - 1, Math.floor((rank / order.length) * RAMP))));
  return (index) => grades[index];
})();
