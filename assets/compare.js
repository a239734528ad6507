// The rows of a comparison: a card for every answer, a table of what it cost. Runs once per mount
// with `element`, `props` and `watch` in scope. Text from outside is only ever set as textContent.
// Choosing a side of the viewer is an event on the document, heard by the viewer.

const list = element.querySelector(".gv-compare");
const pair = { a: null, b: null };

function make(tag, kind, text = "") {
  return Object.assign(document.createElement(tag), { className: kind, textContent: text });
}

function choose(side, label) {
  const detail = { [side]: label, source: "compare" };
  document.dispatchEvent(new CustomEvent("gleanvid:pair", { detail }));
}

// The viewer answers with the pair that it shows.
function mark() {
  for (const button of list.querySelectorAll("button[data-side]"))
    button.setAttribute("aria-pressed", String(pair[button.dataset.side] === button.dataset.label));
}

function sides(row) {
  const group = make("span", "gv-sides");
  for (const side of ["a", "b"]) {
    const button = make("button", "gv-side", side.toUpperCase());
    Object.assign(button, { type: "button" });
    Object.assign(button.dataset, { side, label: row.label });
    button.setAttribute("aria-label", `Show ${row.label} as ${side.toUpperCase()} in the viewer`);
    button.addEventListener("click", (event) => {
      event.stopPropagation();
      choose(side, row.label);
    });
    group.append(button);
  }
  return group;
}

function card(row) {
  const block = make("article", `gv-result gv-${row.state}`);
  block.append(make("h2", "", row.label));
  const said = make("p", "gv-said", row.error || (row.answer.length ? "" : STATES[row.state]));
  for (const [text, differs] of row.answer) said.append(differs ? make("mark", "", text) : text);
  block.append(said);
  return block;
}

const STATES = { waiting: "…", running: "Running…", done: "(no words)", failed: "" };

function line(row) {
  const entry = make("tr", `gv-${row.state}`);
  const head = make("th", "");
  head.scope = "row";
  head.append(make("span", "", row.label.replace(" %", "\u00a0%")));
  entry.append(head);
  if (row.error) {
    const cell = make("td", "gv-error", row.error);
    cell.colSpan = row.cells.length + 1;
    entry.append(cell);
    return entry;
  }
  const view = make("td", "gv-view");
  if (row.viewed) {
    view.append(sides(row));
    entry.addEventListener("click", () => choose("a", row.label));
  }
  entry.append(view, ...row.cells.map((text) => make("td", "", text)));
  return entry;
}

function table(value) {
  const whole = make("table", "gv-table");
  whole.append(make("caption", "", "Cost and quality of every method"));
  const titles = make("tr", "");
  for (const [title, unit] of [["Method", ""], ["Viewer", ""], ...value.columns]) {
    const head = make("th", "", title);
    head.scope = "col";
    if (unit) head.append(make("small", "", unit));
    titles.append(head);
  }
  const [top, body] = [make("thead", ""), make("tbody", "")];
  top.append(titles);
  body.append(...value.rows.map(line));
  whole.append(top, body);
  const scroll = make("div", "gv-scroll");
  Object.assign(scroll, { tabIndex: 0, role: "region", ariaLabel: "Table of the comparison" });
  scroll.append(whole);
  return scroll;
}

function show() {
  const value = props.value;
  if (!value || !value.rows.length) return list.replaceChildren();
  const cards = make("div", "gv-cards");
  cards.append(...value.rows.map(card));
  list.replaceChildren(cards, table(value));
  mark();
}

document.addEventListener("gleanvid:pair", ({ detail }) => {
  if (!element.isConnected || detail.source !== "viewer") return;
  Object.assign(pair, { a: detail.a ?? null, b: detail.b ?? null });
  mark();
});
watch("value", show);
show();
