// The explorer: search, filters, the list and the open sample, tied together by the address.

// The control of each field of the address, and the address without any of them.
const CONTROLS = { q: "search", category: "category", status: "status", score: "measure", model: "model", low: "low", high: "high", sort: "sort" };
const TYPED_MS = 150; // After the last letter of a search: each would have the server look through everything.
const NO_FILTERS = Object.fromEntries([...Object.keys(CONTROLS), "hide"].map((name) => [name, ""]));

class ExploreView {
  constructor(app) {
    this.app = app;
    this.box = at("explore");
    this.list = new ClipList(app.source, at("list"), at("spacer"), (id) => this.app.state.set({ clip: id }));
    this.view = new ClipView(app, at("clip"), { step: (by) => this.step(by), back: () => this.back() });
    this.shown = "";
    this.controls();
    rememberLetters();
    addEventListener("keydown", (event) => this.key(event));
  }

  controls() {
    const { board, source } = this.app;
    choices(at("category"), [["all categories", ""], ...source.categories.map((name) => [plain(name), name])]);
    choices(at("status"), [["any status", ""], ...source.present.map((name) => [name, name])]);
    choices(at("measure"), board.scorers.map((one) => [plain(one.label), one.label]));
    choices(at("model"), [["all shown models", ""], ...this.app.runs().map((model) => [plain(board.models[model].label), board.models[model].label])]);
    choices(at("sort"), Object.entries(SORTS).map(([name, one]) => [one.words, name]));
    at("models").replaceChildren(
      ...this.app.runs().map((model) => tick(model, foreign("span", "", plain(board.models[model].label)))),
    );
    if (this.listening) return;
    this.listening = true;
    const form = at("controls");
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("input", ({ target }) => {
      clearTimeout(this.typing);
      if (target.id === "search") this.typing = setTimeout(() => this.changed(), TYPED_MS);
      else this.changed();
    });
    form.addEventListener("reset", (event) => {
      event.preventDefault();
      this.app.state.set(NO_FILTERS);
    });
    for (const [id, checked] of [["all", true], ["none", false]]) {
      at(id).addEventListener("click", () => {
        for (const box of this.boxes()) box.checked = checked;
        this.changed();
      });
    }
    at("search").addEventListener("keydown", (event) => {
      if (event.key !== "ArrowDown" && event.key !== "Enter") return;
      event.preventDefault();
      at("list").focus();
      if (event.key === "Enter") this.list.choose(0);
    });
  }

  boxes() {
    return [...at("models").querySelectorAll("input")];
  }

  // From the controls into the address.
  changed() {
    const { board } = this.app;
    const hidden = this.boxes().filter((box) => !box.checked).map((box) => board.models[Number(box.value)].run);
    const usual = { score: board.scorers[board.headline].label, sort: "order" };
    const given = Object.entries(CONTROLS).map(([name, id]) => [name, at(id).value === usual[name] ? "" : at(id).value]);
    this.app.state.set({ ...Object.fromEntries(given), hide: hidden.join(".") });
  }

  // From the address into the controls, and what it means.
  query() {
    const { board, state } = this.app;
    const hidden = new Set(state.get("hide").split(".").map(Number));
    for (const box of this.boxes()) box.checked = !hidden.has(board.models[Number(box.value)].run);
    const measure = Math.max(0, state.get("score") ? board.scorers.findIndex((one) => one.label === state.get("score")) : board.headline);
    const number = (name) => (state.get(name).trim() === "" || Number.isNaN(Number(state.get(name))) ? null : Math.max(-1e9, Math.min(1e9, Number(state.get(name)))));
    const usual = { score: board.scorers[measure].label, sort: "order" };
    for (const [name, id] of Object.entries(CONTROLS)) {
      const value = name === "score" ? usual.score : state.get(name) || (usual[name] ?? "");
      if (at(id).value !== value) at(id).value = value;
    }
    const shown = this.boxes().filter((box) => box.checked).map((box) => Number(box.value));
    return {
      search: state.get("q"),
      category: state.get("category"),
      status: state.get("status"),
      measure,
      model: this.app.runs().find((model) => board.models[model].label === state.get("model")) ?? ANY,
      low: number("low"),
      high: number("high"),
      sort: Object.hasOwn(SORTS, state.get("sort")) ? state.get("sort") : "order",
      shown,
      names: shown.map((model) => board.models[model].label),
      scorer: board.scorers[measure],
    };
  }

  async update() {
    const { state } = this.app;
    const query = this.query();
    const key = JSON.stringify([query, this.app.revision]);
    const wanted = state.get("clip");
    at("trouble").hidden = true;
    if (key !== this.shown) {
      this.shown = key;
      this.list.opened = wanted || null;
      const page = await this.list.show(query);
      if (!page) return; // A later query has taken over.
      at("count").textContent = `${page.total.toLocaleString("en")} of ${count(page.all, "sample")}`;
      at("shown-count").textContent = `${query.shown.length} of ${this.app.runs().length}`;
      this.first = page.rows[0]?.id ?? null;
      at("list").classList.toggle("nothing", page.total === 0);
    }
    // A sample is always in sight where there is room for one beside the list.
    const id = wanted || (matchMedia("(min-width: 51rem)").matches ? this.first : null);
    const asked = wanted && wanted !== this.wanted;
    this.wanted = wanted;
    this.box.classList.toggle("reading", Boolean(wanted));
    if (id === null) this.view.close();
    else if (id !== this.view.id || query.shown !== this.view.query?.shown) await this.open(id, query, asked);
    performance.mark("explorer-ready");
  }

  async open(id, query, asked) {
    const clip = await this.app.source.clip(id);
    if (clip === null) {
      this.view.missing(id, () => this.app.state.set({ clip: "", ...NO_FILTERS }));
      return;
    }
    this.view.show(clip, query);
    await this.list.follow(id);
    if (asked) {
      this.box.querySelector("#clip h2").focus({ preventScroll: true });
      at("clip").scrollTop = 0;
    }
  }

  step(by) {
    this.list.choose(this.list.active + by);
  }

  back() {
    this.app.state.set({ clip: "" });
    this.list.opened = this.view.id;
    this.list.mark();
    at("list").focus();
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const typing = event.target.closest("input, select, textarea");
    if (event.key === "Escape" && typing?.id === "find") typing.blur(); // what is typed stays, as in Explore
    else if (event.key === "Escape" && this.app.state.tab === "explore") {
      if (typing) at("list").focus();
      else this.back();
    } else if (typing || !at("letters").checked) return;
    else if (event.key === "/") {
      if (this.app.state.tab !== "explore") this.app.state.set({ clip: "" }, { tab: "explore" });
      if (!at("search").checkVisibility()) this.back();
      at("search").focus();
    } else if (event.key === "p" && this.app.state.tab === "explore") this.view.player?.play();
    else if ((event.key === "j" || event.key === "k") && this.app.state.tab === "explore") this.step(event.key === "j" ? 1 : -1);
    else return;
    event.preventDefault();
  }
}

// A page opened from a disk may be refused a memory; the choice then holds while it is open.
const LETTERS = "audiocapbench-letters";

function rememberLetters() {
  try {
    at("letters").checked = localStorage.getItem(LETTERS) !== "off";
  } catch {
    return;
  }
  at("letters").addEventListener("change", () => {
    localStorage.setItem(LETTERS, at("letters").checked ? "on" : "off");
  });
}
