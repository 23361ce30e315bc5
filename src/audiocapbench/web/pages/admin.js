// The administrator's page: looked up anew every few seconds.
"use strict";

const token = location.hash.slice(1);
let project = "ratings", drawn = "";

function ask(path) {
  return fetch(`api/${path}`, { headers: { Authorization: `Bearer ${token}` }, cache: "no-store" });
}
function problem(text) {
  at("problem").hidden = !text;
  at("problem").textContent = text;
  if (text) at("when").textContent = "";
}

function show(told) {
  project = told.name;
  at("name").textContent = `· ${told.name}`;
  at("board").hidden = false;
  at("so-far").textContent = told.so_far;
  const tables = JSON.stringify(told.tables);
  if (drawn !== tables) at("tables").replaceChildren(...told.tables.flatMap(shownTable));
  drawn = tables;
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
  save(await reply.blob(), `${project}-${form === "jsonl" ? "ratings.jsonl" : form === "votes" ? "votes.csv" : "ratings.csv"}`);
}

document.querySelectorAll("[data-form]").forEach((one) => one.addEventListener("click", () => fetchFile(one.dataset.form)));
window.addEventListener("hashchange", () => location.reload());
if (token) look(); else problem("Open the administrator’s link that ‘audiocapbench view’ showed.");
