// The table of evaluations: sorted, filtered, a page of rows at a time, each with what the program said.

const PAGE = 50;
const table = { sort: 0, descending: false, page: 0, rows: [], open: new Set() };

function compareBy(column, descending) {
  const sign = descending ? -1 : 1;
  return (a, b) => {
    const [left, right] = [column.get(a), column.get(b)];
    if (left === null || right === null) return (left === null) - (right === null) || a - b; // what is missing comes last
    if (left === right) return a - b;
    return sign * (left < right ? -1 : 1);
  };
}

function arrange() {
  const matching = evaluations.flatMap((_, index) => (filter.matches[index] ? [index] : []));
  table.rows = matching.sort(compareBy(columns[table.sort], table.descending));
}

function outputOf({ message, stdout, stderr }) {
  const part = (title, text) => (text ? [html("h4", {}, title), html("pre", { tabindex: 0 }, text)] : []);
  const reason = message ? [html("h4", {}, "Why it failed"), html("p", { class: "reason" }, message)] : [];
  const parts = [...reason, ...part("Standard output", stdout), ...part("Standard error", stderr)];
  return html("div", { class: "output" }, ...(parts.length ? parts : [html("p", { class: "note" }, "It printed nothing.")]));
}

function cell(column, index) {
  const value = column.get(index);
  const wrong = column.name === "feasible" ? value === "no" : evaluations[index].value === null;
  if (column.words) return html("td", { class: "text" }, value !== null && wrong ? html("span", { class: "status" }, value) : value);
  return html("td", { title: value === null ? null : column.labels?.length ? column.labels[value] : String(value) }, (column.text ?? short)(value));
}

function rowsOf(index) {
  const open = table.open.has(index);
  const evaluation = evaluations[index];
  const toggle = () => {
    if (!table.open.delete(index)) table.open.add(index);
    renderTable();
    $(`output-${index}`).focus();
  };
  const button = html("button", { type: "button", id: `output-${index}`, "aria-expanded": String(open), "aria-label": `Output of evaluation ${evaluation.id}`, click: toggle }, open ? "Hide" : "Show");
  const row = html("tr", { class: index === (study.best ?? leastViolated) ? "is-best" : null, "data-index": index },
    ...columns.map((column) => cell(column, index)),
    html("td", { class: "text" }, evaluation.stdout || evaluation.stderr || evaluation.message ? button : ""));
  return open ? [row, html("tr", {}, html("td", { class: "detail", colspan: columns.length + 1 }, outputOf(evaluation)))] : [row];
}

function renderTable() {
  const last = Math.max(0, Math.ceil(table.rows.length / PAGE) - 1);
  table.page = Math.min(Math.max(table.page, 0), last);
  const from = table.page * PAGE;
  const shown = table.rows.slice(from, from + PAGE);
  const nothing = html("tr", {}, html("td", { class: "detail", colspan: columns.length + 1 }, "No evaluation matches the filter."));
  $("table").tBodies[0].replaceChildren(...(shown.length ? shown.flatMap(rowsOf) : [nothing]));
  document.querySelectorAll("#table th[data-column]").forEach((head, k) => {
    head.setAttribute("aria-sort", k !== table.sort ? "none" : table.descending ? "descending" : "ascending");
  });
  const all = table.rows.length === evaluations.length ? "" : ` (${evaluations.length.toLocaleString("en")} in all)`;
  $("rows").textContent = shown.length ? `${(from + 1).toLocaleString("en")}–${(from + shown.length).toLocaleString("en")} of ${table.rows.length.toLocaleString("en")}${all}` : `none${all}`;
  $("previous").disabled = table.page === 0;
  $("next").disabled = table.page === last;
}

function sortBy(k) {
  table.descending = table.sort === k && !table.descending;
  table.sort = k;
  table.page = 0;
  arrange();
  renderTable();
}

function showInTable(index) {
  pin(false);
  activate(null);
  if (!filter.matches[index]) setFilter({ text: "", status: "" });
  table.page = Math.floor(table.rows.indexOf(index) / PAGE);
  table.open.add(index);
  renderTable();
  const row = document.querySelector(`#table tr[data-index="${index}"]`);
  row.tabIndex = -1;
  row.focus({ preventScroll: true });
  row.scrollIntoView({ block: "center" });
}

function showTable() {
  const heads = columns.map((column, k) => html("th", { scope: "col", "data-column": column.name, class: column.words ? "text" : null },
    html("button", { type: "button", title: column.name, click: () => sortBy(k) }, trimmed(column.name, 22))));
  $("table").tHead.replaceChildren(html("tr", {}, ...heads, html("th", { scope: "col" }, html("span", { class: "unseen" }, "Output"))));
  const statuses = [...new Set(evaluations.map(({ status }) => status))];
  $("status").replaceChildren(html("option", { value: "" }, "any"), ...statuses.map((status) => {
    const count = evaluations.filter((evaluation) => evaluation.status === status).length;
    return html("option", { value: status }, `${status} (${count.toLocaleString("en")})`);
  }));
  $("filter").addEventListener("input", () => setFilter({ text: $("filter").value }));
  $("status").addEventListener("change", () => setFilter({ status: $("status").value }));
  $("previous").addEventListener("click", () => turn(-1));
  $("next").addEventListener("click", () => turn(1));
  const example = quoted(parameters[0]?.name ?? "id");
  $("filter-help").append("Comparisons such as ", html("code", {}, parameters[0]?.labels.length ? `${example} = ${quoted(parameters[0].labels[0])}` : `${example} > ${short((parameters[0]?.low ?? 0) / 2 + (parameters[0]?.high ?? 2) / 2, 3)}`), " or ", html("code", {}, "value <= 0.5"), ", and words that occur in the output.");
  filter.listeners.push(() => {
    if ($("filter").value !== filter.text) $("filter").value = filter.text;
    $("status").value = filter.status;
    $("filter-problem").textContent = filter.problem;
    table.page = 0;
    arrange();
    renderTable();
  });
  arrange();
  renderTable();
}

function turn(by) {
  table.page += by;
  renderTable();
}
