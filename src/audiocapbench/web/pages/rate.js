// One person rates one item at a time. An answer stays in the page until the server has it on disk.
"use strict";

const HEADERS = { "X-Requested-With": "audiocapbench", "Content-Type": "application/json" };
const SURE = [["1", "guess", "Q"], ["2", "fairly sure", "W"], ["3", "sure", "E"]];
const token = location.hash.slice(1);
const audio = at("audio");
let project = null, item = null, replaces = null, key = "", waiting = null, busy = false, sound = 0, note = "";

// --- the server ---------------------------------------------------------------------------------

async function ask(path, body) {
  const how = { headers: { ...HEADERS, Authorization: `Bearer ${token}` }, cache: "no-store" };
  if (body) Object.assign(how, { method: "POST", body: JSON.stringify(body) });
  const reply = await fetch(`api/${path}`, how);
  return { status: reply.status, ok: reply.ok, said: await reply.json().catch(() => ({})) };
}

function newKey() {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((one) => one.toString(16).padStart(2, "0")).join("");
}

// Answers that the server does not have yet; they outlive the tab. Their name does not tell the token.
const memory = new Map();
const outbox = `audiocapbench-unsaved-${[...token].reduce((sum, one) => Math.imul(sum ^ one.charCodeAt(0), 16777619) >>> 0, 2166136261)}`;
function kept() {
  try { return JSON.parse(localStorage.getItem(outbox) || "[]"); } catch { return memory.get(outbox) || []; }
}
function keep(entries) {
  memory.set(outbox, entries);
  try { localStorage.setItem(outbox, JSON.stringify(entries)); } catch { /* the page still has them */ }
}

// Sends one answer until it is settled; true where the page may go on.
async function deliver(entry) {
  for (let pause = 1000; ; pause = Math.min(2 * pause, 10000)) {
    let reply;
    try { reply = await ask("save", entry); } catch { reply = { status: 0, said: { error: "the server cannot be reached" } }; }
    const settled = reply.ok || [409, 422].includes(reply.status);
    if (settled || [401, 403].includes(reply.status)) {
      if (settled) keep(kept().filter((one) => one.key !== entry.key));
      warn("");
      if (reply.ok) return true;
      if (!settled) { tell("This link does not work", `${sentence(reply.said.error)} Your last answer is kept in this browser.`); return false; }
      note = sentence(reply.said.error);
      return reply.status === 409;
    }
    warn(`Not saved yet: ${reply.said.error || "the server has a problem"}. Your answer is kept here and is sent again.`);
    await new Promise((resolve) => { waiting = resolve; setTimeout(resolve, pause); });
  }
}

async function flush() {
  for (const entry of kept()) await deliver(entry);
}

async function next() {
  replaces = null;
  let reply;
  try { reply = await ask("next", {}); } catch { reply = { status: 0, said: {} }; }
  if (!reply.ok) {
    const gone = [401, 403].includes(reply.status);
    tell(gone ? "This link does not work" : "The server cannot be reached", gone ? sentence(reply.said.error) : `${reply.said.error ? sentence(reply.said.error) : "Perhaps it is being restarted."} Nothing that you saved is lost.`, !gone);
    return;
  }
  project = reply.said.project;
  at("who").textContent = `· ${reply.said.person}`;
  at("count").textContent = reply.said.state === "item" ? `${reply.said.done} done${reply.said.left === null ? "" : `, ${reply.said.left} to go`}` : `${reply.said.done} done`;
  at("about").open = reply.said.done === 0;
  if (reply.said.state === "item") show(reply.said.item);
  else if (reply.said.state === "wait") tell("Nothing for you at the moment", "Others are rating the last clips. If one of them stops, it will be yours.", true);
  else tell("All done. Thank you!", `You have rated ${reply.said.done} ${reply.said.done === 1 ? "clip" : "clips"}. You may close this page.`);
}

// --- what is shown ------------------------------------------------------------------------------

function sentence(text) {
  const words = text || "Something went wrong";
  return `${words[0].toUpperCase()}${words.slice(1)}.`;
}
function warn(text) { at("alert").hidden = !text; at("alert-text").textContent = text; }
function hint(text) { at("hint").textContent = text; }

function tell(title, text, retry = false) {
  audio.pause();
  item = null;
  at("task").hidden = true;
  at("message").hidden = false;
  at("message-title").textContent = title;
  at("message-text").textContent = text;
  at("check").hidden = !retry;
  document.title = title;
}

function option(group, value, inner) {
  return make("label", "option", make("input", { type: "radio", name: group, value }), inner);
}

function captions() {
  if (project.captions === 1) return [make("blockquote", "single", item.captions[0])];
  const boxes = item.captions.map((text, place) => option("choice", place + 1,
    make("span", "caption", make("span", "number", place + 1), make("span", "words", text))));
  const parts = [make("legend", "", "Your choice"), make("div", `captions${boxes.length === 2 ? " two" : ""}`, ...boxes)];
  if (project.undecided) parts.push(make("div", "row", option("choice", "tie", keyed("Equally good", "T")), option("choice", "bad", keyed("Both bad", "B"))));
  const made = [make("fieldset", "", ...parts)];
  if (project.confidence) made.push(make("fieldset", "", make("legend", "", "How sure are you?"), make("div", "row", ...SURE.map(([value, word, letter]) => option("confidence", value, keyed(word, letter))))));
  return made;
}

function keyed(word, letter) {
  return make("span", "", word, make("kbd", { ariaHidden: "true" }, letter));
}

function scales() {
  return project.scales.map((scale) => {
    const count = scale.high - scale.low + 1;
    const steps = Array.from({ length: count }, (_, step) => option(scale.name, scale.low + step, make("span", "", scale.low + step)));
    const name = scale.name === "rel" ? "Fit" : `${scale.name[0].toUpperCase()}${scale.name.slice(1)}`;
    return make("fieldset", "", make("legend", "", name, make("small", "", scale.about)),
      make("div", `scale steps-${count}`, ...steps),
      make("div", `ends ends-${count}`, make("span", "", `${scale.low} ${scale.low_means}`), make("span", "", `${scale.high} ${scale.high_means}`)));
  });
}

function show(found, answer = null) {
  item = found;
  key = newKey();
  document.title = project.title;
  at("message").hidden = true;
  at("task").hidden = false;
  at("changing").hidden = !answer;
  at("question").textContent = project.title;
  at("about").hidden = !project.instructions;
  at("instructions").textContent = project.instructions;
  at("answers").replaceChildren(...captions(), ...scales());
  at("keys-text").textContent = keyHelp();
  hint("");
  for (const [name, value] of Object.entries(answer || {})) {
    const input = document.querySelector(`input[name="${CSS.escape(name)}"][value="${CSS.escape(String(value))}"]`);
    if (input) input.checked = true;
  }
  load();
  at("question").focus();
}

function keyHelp() {
  const parts = ["P plays the clip"];
  if (project.captions > 1) parts.push(`1 ${project.captions > 2 ? "to" : "or"} ${project.captions} chooses${project.undecided ? ", 0 is a tie" : ""}`);
  if (project.scales.length) parts.push(project.scales[0].high === 10 ? "0 to 9 and X for 10 rate one after the other" : "1 to 5 rate");
  return `${parts.join(", ")}, Enter saves, U goes back.`;
}

// --- the clip -----------------------------------------------------------------------------------

async function load() {
  const mine = ++sound;
  audio.pause();
  if (audio.src) URL.revokeObjectURL(audio.src);
  audio.removeAttribute("src"); // What was played of the clip before is not this clip's.
  audio.load();
  at("play").disabled = true;
  paint();
  for (let pause = 1000; mine === sound; pause = Math.min(2 * pause, 10000)) {
    try {
      const reply = await fetch(`api/audio/${item.token}`, { headers: { Authorization: `Bearer ${token}` }, cache: "no-store" });
      if (mine !== sound) return;
      if (reply.ok) {
        audio.src = URL.createObjectURL(await reply.blob());
        at("play").disabled = false;
        return;
      }
      hint(sentence((await reply.json().catch(() => ({}))).error));
    } catch { hint("The clip cannot be loaded; trying again."); }
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}

function played() {
  let sum = 0;
  for (let place = 0; place < audio.played.length; place++) sum += audio.played.end(place) - audio.played.start(place);
  return sum;
}

function paint() {
  const length = audio.duration || 0, left = item && !replaces ? item.listen_s - played() : 0;
  at("seek").value = length ? Math.round(1000 * audio.currentTime / length) : 0;
  at("seek").setAttribute("aria-valuetext", `${audio.currentTime.toFixed(1)} of ${length.toFixed(1)} seconds`);
  at("time").textContent = length ? `${audio.currentTime.toFixed(1)} / ${length.toFixed(1)} s` : "loading …";
  at("heard").textContent = left > 0.3 ? `Listen to ${Math.max(0.1, left).toFixed(1)} s more` : "Heard";
  at("play-text").textContent = audio.paused ? "Play" : "Pause";
  at("play-shape").setAttribute("d", audio.paused ? "M7 4v16l13-8z" : "M6 4h4v16H6zM14 4h4v16h-4z");
}

function playOrPause() {
  if (at("play").disabled) return;
  if (audio.paused) audio.play().catch(() => hint("This browser cannot play the clip.")); else audio.pause();
}
["timeupdate", "play", "pause", "ended", "loadedmetadata", "seeked"].forEach((name) => audio.addEventListener(name, paint));
at("play").addEventListener("click", playOrPause);
at("seek").addEventListener("input", () => { if (audio.duration) audio.currentTime = at("seek").value / 1000 * audio.duration; });

// --- answers ------------------------------------------------------------------------------------

function answered() {
  const names = project.captions > 1 ? ["choice", ...(project.confidence ? ["confidence"] : [])] : project.scales.map((one) => one.name);
  const found = {};
  for (const name of names) {
    const input = document.querySelector(`input[name="${CSS.escape(name)}"]:checked`);
    if (!input) return { missing: name };
    found[name] = /^\d+$/.test(input.value) ? Number(input.value) : input.value;
  }
  return { found };
}

async function save() {
  if (busy || !item) return;
  const { found, missing } = answered();
  if (missing) {
    hint(missing === "choice" ? "Choose a caption first." : missing === "confidence" ? "Say how sure you are." : `Rate ${missing === "rel" ? "the fit" : missing} first.`);
    document.querySelector(`input[name="${CSS.escape(missing)}"]`).focus();
    return;
  }
  if (!replaces && played() + 0.3 < item.listen_s) { hint("Listen to the clip first."); at("play").focus(); return; }
  const entry = { item: item.token, key, answer: found, played_s: Math.round(100 * played()) / 100, replaces };
  keep([...kept(), entry]);
  work(true);
  note = "";
  const goes = await deliver(entry);
  work(false);
  if (goes) await next();
  else key = newKey();
  if (note && item) hint(note);
}

function work(on) {
  busy = on;
  document.querySelectorAll("#answers input, .actions button, #leave").forEach((one) => { one.disabled = on; });
}

async function back() {
  if (busy) return;
  work(true);
  try {
    const reply = await ask("back", { before: replaces ? item.token : null });
    if (reply.ok && reply.said.last) { replaces = reply.said.last.key; show(reply.said.last.item, reply.said.last.answer); }
    else hint(reply.ok ? "There is nothing before this." : sentence(reply.said.error));
  } catch { hint("The server cannot be reached."); }
  work(false);
}

function rate(digit) {
  const names = project.captions > 1 ? ["choice"] : project.scales.map((one) => one.name);
  const focused = document.activeElement && names.includes(document.activeElement.name) ? document.activeElement.name : null;
  const open = names.find((name) => !document.querySelector(`input[name="${name}"]:checked`));
  const name = focused || open || names[0];
  const input = document.querySelector(`input[name="${name}"][value="${digit}"]`);
  if (!input) return;
  input.checked = true;
  const later = names[names.indexOf(name) + 1];
  (later ? document.querySelector(`input[name="${later}"]`) : input).focus();
}

function press(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || !item || busy) return;
  const target = event.target, letter = event.key.toLowerCase();
  if (event.key === "Enter" && target.type === "radio") { event.preventDefault(); save(); return; }
  if (!at("keys").checked) return;
  if (event.key === "Enter" && !target.closest("button, summary, a, input")) { event.preventDefault(); save(); return; }
  const sure = SURE.find((one) => one[2].toLowerCase() === letter);
  if (letter === "p" || (letter === " " && !target.closest("button, summary, a, input"))) { event.preventDefault(); playOrPause(); }
  else if (letter === "u") back();
  else if (/^\d$/.test(letter)) rate(project.undecided && letter === "0" ? "tie" : letter);
  else if (letter === "x" && project.scales.length) rate("10");
  else if (project.undecided && (letter === "t" || letter === "b")) rate(letter === "t" ? "tie" : "bad");
  else if (sure && project.confidence && project.captions > 1) { const input = document.querySelector(`input[name="confidence"][value="${sure[0]}"]`); input.checked = true; input.focus(); }
}

at("task").addEventListener("submit", (event) => { event.preventDefault(); save(); });
at("undo").addEventListener("click", back);
at("leave").addEventListener("click", () => { if (!busy) next(); });
at("check").addEventListener("click", () => begin());
at("again").addEventListener("click", () => { if (waiting) waiting(); });
document.addEventListener("keydown", press);
window.addEventListener("hashchange", () => location.reload());

async function begin() {
  if (!token) { tell("Open your own link", "You rate with the link that you were invited with; it ends with a # and your token."); return; }
  await flush();
  await next();
}
begin();
