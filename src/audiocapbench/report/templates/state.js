// What the reader has chosen, kept in the address: #explore&q=dog&clip=ID. What is not there is the default.

const TABS = ["leaderboard", "matrix", "compare", "explore", "trials", "made"];
// What holds on every view: how the board is ranked and shown, and who is compared.
const CHOSEN = ["rank", "part", "find", "weights", "controls", "cols", "x", "y", "a", "b", "by"];
const FIELDS = ["clip", "q", "category", "status", "score", "model", "low", "high", "sort", "hide", ...CHOSEN];

class State {
  constructor() {
    this.listeners = [];
    this.read();
    addEventListener("hashchange", () => {
      this.read();
      this.tell();
    });
  }

  read() {
    const parts = location.hash.slice(1).split("&").filter(Boolean);
    const values = {};
    let tab = TABS.includes(parts[0]) ? parts.shift() : "";
    for (const part of parts) {
      const [name, value] = [part.slice(0, part.indexOf("=")), part.slice(part.indexOf("=") + 1)];
      if (FIELDS.includes(name)) values[name] = decoded(value);
    }
    // A bare link to a sample opens it.
    tab ||= "clip" in values ? "explore" : TABS[0];
    this.tab = tab;
    this.values = values;
  }

  get(name) {
    return this.values[name] ?? "";
  }

  address(changes = {}, tab = this.tab) {
    const values = { ...this.values, ...changes };
    const parts = FIELDS.filter((name) => values[name]).map((name) => `${name}=${encodeURIComponent(String(values[name]).toWellFormed())}`);
    return `#${[tab, ...parts].join("&")}`;
  }

  // Going to another place can be undone with the browser's own button; a filter cannot.
  set(changes, { tab = this.tab, quiet = false } = {}) {
    const address = this.address(changes, tab);
    const moved = tab !== this.tab;
    if (address === location.hash) return;
    if (moved) history.pushState(null, "", address);
    else history.replaceState(null, "", address);
    this.read();
    if (!quiet) this.tell();
  }

  tell() {
    for (const listener of this.listeners) listener();
  }
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // A stray per cent sign: as it stands.
  }
}
