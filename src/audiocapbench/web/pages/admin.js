// The administrator's page: looked up anew every few seconds.
"use strict";

const token = location.hash.slice(1);
const at = (id) => document.getElementById(id);
let name = "ratings", standing = "[]";

function ask(path) {
  return fetch(`api/${path}`, { headers: { Authorization: `Bearer ${token}` }, cache: "no-store" });
}
function problem(text) { at("problem").hidden = !text; at("problem").textContent = text; }
function cell(tag, text, small = "") {
  const made = document.createElement(tag);
  made.textContent = text;
  if (tag === "th") made.scope = "row";
  if (small) { const more = document.createElement("small"); more.textContent = ` ${small}`; made.append(more); }
  return made;
}
function fill(id, rows) {
  at(id).replaceChildren(...rows.map((cells) => { const row = document.createElement("tr"); row.append(...cells); return row; }));
}
// Who people prefer, as the server has counted it.
function table(found) {
  const title = document.createElement("h2"), frame = document.createElement("div"), made = document.createElement("table"), notes = document.createElement("p");
  title.textContent = found.title;
  Object.assign(frame, { className: "scroll", tabIndex: 0, role: "region", ariaLabel: found.title });
  const lines = [found.head, ...found.rows].map((cells, line) => {
    const row = document.createElement("tr");
    row.append(...cells.map((text, place) => cell(line && place ? "td" : "th", text)));
    if (!line) row.childNodes.forEach((one) => { one.scope = "col"; });
    return row;
  });
  const head = made.createTHead();
  head.append(lines[0]);
  made.createTBody().append(...lines.slice(1));
  frame.append(made);
  notes.className = "soft";
  notes.textContent = found.notes.join(" ");
  return [title, frame, notes];
}
const figure = (value) => (value === null ? "–" : value.toFixed(2));
const span = (ends) => (ends === null ? "" : `${figure(ends[0])} to ${figure(ends[1])}`);
const percent = (value) => `${Math.round(100 * value)} %`;

function show(told) {
  name = told.name;
  at("name").textContent = `· ${told.name}`;
  at("board").hidden = false;
  at("share").textContent = told.wanted === null ? told.ratings : percent(told.wanted ? Math.min(1, told.ratings / told.wanted) : 0);
  at("ratings").textContent = told.wanted === null ? "votes" : `${told.ratings} of ${told.wanted} ratings`;
  at("done").setAttribute("width", Math.min(100, 100 * told.ratings / Math.max(1, told.wanted)));
  at("complete").textContent = `${told.complete} / ${told.items}`;
  at("each").textContent = `items with ${told.each} ${told.each === 1 ? "rating" : "ratings"}`;
  const tried = told.people.reduce((sum, one) => sum + one.gold, 0), right = told.people.reduce((sum, one) => sum + one.gold_right, 0);
  at("golden").textContent = tried ? percent(right / tried) : "–";
  fill("agreement", told.agreement.map((one) => [cell("th", one.dimension), cell("td", figure(one.alpha), span(one.alpha_ci)), cell("td", figure(one.kappa), span(one.kappa_ci)), cell("td", one.items)]));
  fill("people", told.people.map((one) => [cell("th", one.person), cell("td", one.ratings),
    cell("td", one.gold ? `${one.gold_right} of ${one.gold}` : "–", one.gold ? `${percent(one.gold_interval[0])} to ${percent(one.gold_interval[1])}` : ""),
    cell("td", one.seconds === null ? "–" : one.seconds.toFixed(1)),
    cell("td", one.last ? new Date(one.last).toLocaleString([], { dateStyle: "short", timeStyle: "short" }) : "–")]));
  const drawn = JSON.stringify(told.tables);
  if (drawn !== standing) at("standing").replaceChildren(...told.tables.flatMap(table));
  standing = drawn;
  at("votes").hidden = told.kind !== "pairs";
  at("when").textContent = `as of ${new Date().toLocaleTimeString()}`;
}

async function look() {
  try {
    const reply = await ask("progress");
    const told = await reply.json();
    problem(reply.ok ? "" : told.error);
    if (reply.ok) show(told);
    if ([401, 403].includes(reply.status)) return;
  } catch { problem("The server cannot be reached."); }
  setTimeout(look, 5000);
}

async function fetchFile(form) {
  const reply = await ask(`export?form=${form}`).catch(() => null);
  if (!reply || !reply.ok) { problem("The export failed; try again."); return; }
  const link = document.createElement("a");
  link.href = URL.createObjectURL(await reply.blob());
  link.download = `${name}-${form === "jsonl" ? "ratings.jsonl" : form === "votes" ? "votes.csv" : "ratings.csv"}`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

document.querySelectorAll("[data-form]").forEach((one) => one.addEventListener("click", () => fetchFile(one.dataset.form)));
window.addEventListener("hashchange", () => location.reload());
if (token) look(); else problem("Open the administrator’s link that ‘audiocapbench view’ showed.");
