// Which evaluations are meant: a filter of words and comparisons (`x > 2 value <= 0.1 status=timeout`), shared by the
// table and the parallel coordinates. A brush on an axis writes into the same text, so there is one place to look.

const feasibility = (evaluation) => (evaluation.value === null && !evaluation.constraints.length ? null : evaluation.value !== null && meets(evaluation) ? "yes" : "no");
const valueColumn = { name: "value", get: (index) => evaluations[index].value };
const columns = [
  { name: "id", get: (index) => evaluations[index].id },
  valueColumn,
  { name: "status", get: (index) => evaluations[index].status, words: true },
  ...(study.measured_constraints.length ? [{ name: "feasible", get: (index) => feasibility(evaluations[index]), words: true }] : []),
  ...parameters.map((parameter, axis) => ({
    name: parameter.name, labels: parameter.labels, axis, get: (index) => evaluations[index].x[axis], text: (value) => valueText(parameter, value),
  })),
  ...study.measured_constraints.map((text, k) => ({ name: text, get: (index) => evaluations[index].constraints[k] ?? null, text: (excess) => short(excess, 4) })),
  { name: "seconds", get: (index) => evaluations[index].seconds, text: (seconds) => short(seconds, 4) },
];
const CONDITION = /("(?:[^"\\]|\\.)*"|[^\s<>=!"]+)\s*(<=|>=|!=|<|>|=)\s*("(?:[^"\\]|\\.)*"|[^\s]+)/g;
const COMPARE = {
  "<": (a, b) => a < b, "<=": (a, b) => a <= b, ">": (a, b) => a > b, ">=": (a, b) => a >= b, "=": (a, b) => a === b, "!=": (a, b) => a !== b,
};
const unquoted = (text) => (text.startsWith('"') ? text.slice(1, -1).replace(/\\(.)/g, "$1") : text);
const quoted = (name) => (/[\s<>=!"\\]/.test(name) ? `"${name.replace(/["\\]/g, "\\$&")}"` : name);

const filter = { text: "", status: "", matches: new Uint8Array(evaluations.length).fill(1), conditions: [], problem: "", listeners: [] };

function parseFilter(text) {
  const conditions = [];
  let problem = "";
  const rest = text.replace(CONDITION, (_, left, compare, right) => {
    const name = unquoted(left);
    const column = columns.find((candidate) => candidate.name.toLowerCase() === name.toLowerCase());
    const bound = column?.words ? unquoted(right).toLowerCase() : numberOf(column, unquoted(right));
    if (!column) problem = `There is no column “${name}”; there are: ${columns.map((known) => known.name).join(", ")}.`;
    else if (column.labels?.length && Number.isNaN(bound)) problem = `“${right}” is none of ${column.labels.join(", ")}.`;
    else if (!column.words && Number.isNaN(bound)) problem = `“${right}” is not a number to compare ${column.name} with.`;
    else conditions.push({ column, compare, bound });
    return " ";
  });
  return { conditions, problem, words: rest.toLowerCase().split(/\s+/).filter(Boolean) };
}

// A label counts as its number; so does its place, which a brush writes.
function numberOf(column, text) {
  const place = (column?.labels ?? []).findIndex((label) => label.toLowerCase() === text.toLowerCase());
  return place >= 0 ? place : Number(text);
}

function holds({ column, compare, bound }, index) {
  const value = column.get(index);
  if (value === null) return compare === "!=";
  return COMPARE[compare](column.words ? value.toLowerCase() : value, bound);
}

function setFilter({ text = filter.text, status = filter.status }) {
  const { conditions, problem, words } = parseFilter(text);
  Object.assign(filter, { text, status, conditions, problem });
  evaluations.forEach((evaluation, index) => {
    const spoken = words.length ? `${evaluation.id} ${evaluation.status} ${evaluation.message ?? ""} ${evaluation.stdout} ${evaluation.stderr}`.toLowerCase() : "";
    const matches = !problem && (!status || evaluation.status === status) && conditions.every((condition) => holds(condition, index)) && words.every((word) => spoken.includes(word));
    filter.matches[index] = matches || (problem && (!status || evaluation.status === status)) ? 1 : 0;
  });
  filter.listeners.forEach((listener) => listener());
}

// Replaces what the filter says about one column by a range (or by nothing).
function setRange(column, range) {
  const others = filter.text.replace(CONDITION, (whole, left) => (unquoted(left).toLowerCase() === column.name.toLowerCase() ? "" : whole));
  const name = quoted(column.name);
  const added = range ? `${name}>=${short(range[0], 4)} ${name}<=${short(range[1], 4)}` : "";
  setFilter({ text: `${others} ${added}`.replace(/\s+/g, " ").trim() });
}

// The range that the filter leaves of a column, or null if it says nothing about it.
function rangeOf(column) {
  const bounds = filter.conditions.filter((condition) => condition.column === column);
  const lower = bounds.filter(({ compare }) => compare.startsWith(">")).map(({ bound }) => bound);
  const upper = bounds.filter(({ compare }) => compare.startsWith("<")).map(({ bound }) => bound);
  return lower.length || upper.length ? [Math.max(-Infinity, ...lower), Math.min(Infinity, ...upper)] : null;
}

const isFiltered = () => filter.text !== "" || filter.status !== "";
