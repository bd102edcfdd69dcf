// The small tools that every page uses: elements, numbers as text, scales.

const $ = (id) => document.getElementById(id);

function build(node, attributes, children) {
  for (const [key, value] of Object.entries(attributes ?? {})) {
    if (typeof value === "function") node.addEventListener(key, value);
    else if (value !== null && value !== undefined && value !== false) node.setAttribute(key, value === true ? "" : value);
  }
  node.append(...children.filter((child) => child !== null));
  return node;
}
const html = (tag, attributes, ...children) => build(document.createElement(tag), attributes, children);
const svg = (tag, attributes, ...children) => build(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);

// ---- numbers as text

function short(number, digits = 6) {
  if (number === null || number === undefined) return "–";
  const rounded = Number(number.toPrecision(digits));
  const size = Math.abs(rounded);
  return size !== 0 && (size >= 1e7 || size < 1e-4) ? rounded.toExponential().replace("e+", "e") : String(rounded);
}

function duration(seconds) {
  if (seconds === null || seconds === undefined) return "–";
  if (seconds < 1) return `${short(seconds * 1000, 3)} ms`;
  if (seconds < 120) return `${short(seconds, 3)} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 120) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

const counted = (count, one, many = `${one}s`) => `${count.toLocaleString("en")} ${count === 1 ? one : many}`;
const trimmed = (text, length) => {
  const characters = [...text];
  return characters.length > length ? `${characters.slice(0, Math.max(1, length - 1)).join("")}…` : text;
};

// ---- scales: from a range of numbers to pixels

function makeScale(low, high, log, from, to) {
  const warp = log ? (number) => Math.log10(Math.max(number, Number.MIN_VALUE)) : (number) => number;
  let [start, end] = [warp(low), warp(high)];
  if (!(end > start)) {
    const room = log ? 0.5 : Math.abs(start) * 0.1 || 1;
    [start, end] = [start - room, end + room];
  }
  const scale = (number) => from + ((warp(number) - start) / (end - start)) * (to - from);
  scale.invert = (pixel) => {
    const warped = start + ((pixel - from) / (to - from)) * (end - start);
    return log ? 10 ** warped : warped;
  };
  scale.ticks = (count) => (log ? logTicks(start, end, count) : linearTicks(start, end, count));
  return scale;
}

function linearTicks(start, end, count) {
  const span = end - start;
  if (!Number.isFinite(span)) return [start, end].map((at) => ({ at, label: short(at, 3) }));
  const rough = span / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((factor) => factor * power >= rough * 0.999);
  const digits = Math.min(15, Math.max(2, Math.ceil(Math.log10(Math.max(Math.abs(start), Math.abs(end)) / step)) + 1));
  const ticks = [];
  for (let k = Math.ceil(start / step - 1e-9); k * step <= end + step * 1e-9; k += 1) {
    ticks.push({ at: k * step, label: short(k * step, digits) });
    if (ticks.length > 4 * count) break;
  }
  return ticks;
}

function logTicks(start, end, count) {
  const decades = decadeTicks(start, end, count, [1]);
  const ticks = end - start >= 2 && decades.length > 1 ? decades : decadeTicks(start, end, count, [1, 2, 5]);
  return ticks.length > 1 ? ticks : [start, end].map((place) => ({ at: 10 ** place, label: short(10 ** place, 3) }));
}

function decadeTicks(start, end, count, factors) {
  const [first, last] = [Math.floor(start + 1e-9), Math.floor(end + 1e-9)];
  const every = Math.max(1, Math.ceil((last - first) / count));
  const plain = first >= -3 && last <= 4;
  const ticks = [];
  for (let power = Math.ceil(first / every) * every; power <= last; power += every) {
    for (const factor of factors) {
      const place = power + Math.log10(factor);
      if (place >= start - 1e-9 && place <= end + 1e-9) ticks.push({ at: 10 ** place, label: powerLabel(power, factor, plain) });
    }
  }
  return ticks;
}

function powerLabel(power, factor, plain) {
  if (plain || Math.abs(power) <= 1) return short(factor * 10 ** power, 3);
  const raised = [...String(power)].map((character) => (character === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[character])).join("");
  return factor === 1 ? `10${raised}` : `${factor}·10${raised}`;
}

// ---- a study in a word

const stateOf = ({ stop_reason: stopped, activity, evaluations }) => {
  if (activity === "running") return "running";
  if (stopped) return `stopped: ${stopped}`;
  return (evaluations.length ?? evaluations) ? "can go on" : "not begun";
};
