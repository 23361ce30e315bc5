// Small tools of every part of the page: elements, numbers, marks. All text is set as text.

const SVG = "http://www.w3.org/2000/svg";
const at = (id) => document.getElementById(id);

// make("p", "soft", "words", child, …): text and elements alike are appended as they are; in place of a class, properties.
function make(tag, name, ...content) {
  const element = document.createElement(tag);
  if (name) Object.assign(element, typeof name === "string" ? { className: name } : name);
  element.append(...content.filter((one) => one !== undefined && one !== null));
  return element;
}

// Text from a dataset or a model: whichever way it runs, it stays in its own box.
function foreign(...what) {
  return Object.assign(make(...what), { dir: "auto" });
}

function draw(tag, attributes, ...content) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...content.filter((one) => one !== undefined && one !== null));
  return element;
}

function button(words, action, name = "", label) {
  const element = make("button", { className: name, type: "button" }, words);
  if (label) element.setAttribute("aria-label", label);
  element.addEventListener("click", action);
  return element;
}

function beginning(text, length) {
  return text.length > length ? `${Array.from(text.slice(0, 2 * length)).slice(0, length).join("")}…` : text;
}

// A name as it is, with characters that nobody sees, such as bidi marks, written out.
function plain(text) {
  return text.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, (one) => `\\u${one.codePointAt(0).toString(16).padStart(4, "0")}`);
}

// A model's name without who offers it; of an endpoint, what it serves stands before its address.
const ownName = (label) => label.slice(label.split("@")[0].lastIndexOf("/") + 1);
// By its end a model is told from others of its family.
const shortName = (label, most) => (ownName(label).length > most ? `${beginning(ownName(label), most - 9)}${ownName(label).slice(-8)}` : ownName(label));

const count = (number, one, more = `${one}s`) => `${number.toLocaleString("en")} ${number === 1 ? one : more}`;
const isNumber = (value) => typeof value === "number" && !Number.isNaN(value);
const fixed = (value, digits) => (isNumber(value) ? value.toFixed(digits) : "–");

function dollars(value, estimated = false) {
  if (!isNumber(value)) return "–";
  const digits = value > 0 && value < 0.01 ? 5 : 2;
  return `${estimated ? "~" : ""}$${value.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits })}`;
}

// A p-value as commands write it.
const chance = (p) => (isNumber(p) ? (p < 0.001 ? "< 0.001" : p.toFixed(p < 0.01 ? 4 : 3)) : "–");

// What is known, in one sentence from tests; numbers below 0 as tables write them.
const verdict = (words) => (words ? foreign("p", "verdict", plain(words).replace(/([ (])-(?=\d)/g, "$1−")) : "");

// A tab of the page, which shows what the app knows.
class View {
  constructor(app) {
    this.app = app;
  }
}

// A card: a heading, a line below it, and whatever it holds.
function card(title, line, ...content) {
  const box = make("section", "card", make("h2", "", title));
  if (line) box.append(make("p", "soft", line));
  box.append(...content.filter(Boolean));
  return box;
}

// A table in a box that scrolls by itself, and its menu; the first column of row heads stays in sight.
function table(label, heads, rows, name = "") {
  const head = make("tr");
  for (const one of heads) {
    const cell = one instanceof Node ? one : make("th", "", one);
    if (cell.tagName === "TH") cell.scope = "col";
    head.append(cell);
  }
  const body = make("tbody", "", ...rows);
  const region = make("div", { className: "scroll", tabIndex: 0, role: "region", ariaLabel: label }, make("table", name, make("thead", "", head), body));
  return make("div", "", region, share(label, () => rowsOf(region.firstChild)));
}

// A table that was made elsewhere, as texts.
function shownTable({ title, head, rows, numbers, notes }) {
  const cell = (tag) => (text, place) => make(tag, numbers[place] ? "num" : "words", plain(text));
  const lines = rows.map((cells) => row(rowHead(plain(cells[0])), ...cells.map(cell("td")).slice(1)));
  return [make("h2", "", title), table(title, head.map(cell("th")), lines, "board"), make("p", "soft", notes.join(" "))];
}

function rowHead(...content) {
  const head = foreign("th", "", ...content);
  head.scope = "row";
  return head;
}

function row(head, ...cells) {
  return make("tr", "", head, ...cells.map((one) => (one instanceof Node && /^T[DH]$/.test(one.tagName) ? one : make("td", "", one))));
}

function fold(title, ...content) {
  return make("details", "", make("summary", "", title), ...content);
}

function list(items, name = "") {
  return make("ul", name, ...items.map((one) => foreign("li", "", one)));
}

// Choices of a select: [words, value].
function choices(select, options) {
  select.replaceChildren(...options.map(([words, value]) => new Option(words, value)));
}

// A select of choices; `change` is told what is chosen.
function chooser(options, value, change, label) {
  const select = make("select");
  choices(select, options);
  select.value = value;
  if (label) select.setAttribute("aria-label", label);
  select.addEventListener("change", () => change(select.value));
  return select;
}

// A box to tick, with its label.
function tick(value, ...label) {
  return make("label", "", make("input", { type: "checkbox", value }), ...label);
}

// A control with its label.
function field(id, words, control) {
  control.id = id;
  return make("div", "field", make("label", { htmlFor: id }, words), control);
}
