// The page: opens the source, fills the header, and shows the view that the address names.

const NAMES = { leaderboard: "Leaderboard", matrix: "Matrix", compare: "Compare", explore: "Explore", trials: "Trials", made: "How it was made" };

class App {
  constructor(source) {
    this.source = source;
    this.state = new State();
    this.revision = 0;
    this.drawn = {};
    this.tabs = source.tabs ?? TABS;
    this.default = this.label;
    this.known = new Set(this.whole.models.map((one) => one.run));
    this.views = { leaderboard: new LeaderboardView(this), matrix: new MatrixView(this), compare: new CompareView(this), trials: new TrialsView(this), made: new MadeView(this) };
    this.header();
    if (source.boards) this.benchmarks();
    this.explorer = source.boards ? null : new ExploreView(this);
    this.state.listeners.push(() => this.show());
  }

  get whole() {
    return this.source.boards?.[Number(this.state.get("by"))] ?? this.source.board;
  }

  // As the reader has chosen to see it.
  get board() {
    const key = JSON.stringify(CHOSEN.map((name) => this.state.get(name)));
    if (this.seen?.whole !== this.whole || this.seen.key !== key) this.seen = { whole: this.whole, key, board: chosenBoard(this.whole, this.state, this.default) };
    return this.seen.board;
  }

  // What ranks by default.
  get label() {
    return this.whole.scorers[this.whole.headline].label;
  }

  // A score that has come to rank by default since the page was opened, by its place; null where none has.
  offered() {
    return this.source.boards || [this.default, this.state.get("rank")].includes(this.label) ? null : this.whole.headline;
  }

  // Models whose runs have come since the page was opened.
  come() {
    return this.source.boards ? [] : this.runs().filter((model) => !this.known.has(this.board.models[model].run));
  }

  // Models that were run here; published ones have no samples to look into.
  runs() {
    return this.board.models.map((_, model) => model).filter((model) => this.board.models[model].run !== null);
  }

  // What the address names and the page does not have, such as a model of another page.
  strange() {
    const { source, whole } = this;
    const [scores, models] = [whole.scorers, this.runs().map((model) => whole.models[model])].map((all) => all.map((one) => one.label));
    const known = { rank: ["score", scores], score: ["score", scores], model: ["model", models], a: ["model", models], b: ["model", models], part: ["category", Object.keys(whole.views)], category: ["category", source.categories], status: ["status", source.present] };
    const gone = Object.entries(known).filter(([name, [, there]]) => this.state.get(name) && there && !there.includes(this.state.get(name)));
    return [...new Set(gone.map(([name, [kind]]) => `${kind} ${beginning(plain(this.state.get(name)), 80)}`))].join(", ");
  }

  // To the samples that something on another view stands for.
  explore(changes) {
    const page = this.board.models.find((one) => one.label === changes.model)?.page;
    if (page) location.href = changes.category ? `${page}#explore&category=${encodeURIComponent(changes.category)}` : page;
    if (!this.explorer) return;
    const none = Object.fromEntries(FIELDS.filter((name) => !CHOSEN.includes(name)).map((name) => [name, ""]));
    this.state.set({ ...none, ...changes }, { tab: "explore" });
  }

  // Boards of a site, where it has several.
  benchmarks() {
    const { boards } = this.source;
    if (boards.length < 2) return;
    const choice = boards.map((one, place) => [`${plain(one.benchmark)}, ${count(one.samples, "sample")} (${one.datasets.join(", ")})`, String(place)]);
    at("chips").before(chooser(choice, this.state.get("by") || "0", (by) => this.state.set({ by, rank: "", part: "" }), "Benchmark"));
  }

  header() {
    const board = this.whole;
    at("title").textContent = plain(board.title);
    const samples = `${count(board.samples, "sample")}${board.clips !== board.samples ? ` of ${count(board.clips, "clip")}` : ""}`;
    const judges = [...new Set(board.scorers.map((one) => one.judge).filter(Boolean))];
    const chips = [plain(board.benchmark), samples, count(this.runs().length, "run"), `asked ${board.asked}`, `data ${board.datasets.join(", ")}`, ...judges.map((one) => `judge ${plain(one)}`)];
    at("chips").replaceChildren(...chips.map((one) => foreign("li", "chip", one)));
    at("tabs").replaceChildren(
      ...this.tabs.map((tab) => {
        const link = make("a", { id: `tab-${tab}` }, NAMES[tab]);
        link.addEventListener("click", (event) => {
          event.preventDefault();
          this.state.set({}, { tab });
        });
        return link;
      }),
    );
  }

  async show() {
    const tab = this.tabs.includes(this.state.tab) ? this.state.tab : TABS[0];
    if (this.source.boards) this.header();
    // What ranks stays what it is, whatever comes while the page is open or before it is opened again.
    if (tab === "leaderboard" && !this.state.get("rank")) this.state.set({ rank: this.source.boards ? this.label : this.default }, { tab, quiet: true });
    for (const one of this.tabs) {
      const link = at(`tab-${one}`);
      link.href = this.state.address({}, one);
      if (one === tab) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
      at(one).hidden = one !== tab;
    }
    const strange = this.strange();
    at("strange").hidden = !strange;
    at("strange").textContent = `The link names what is not here: ${strange}.`;
    const chosen = at(`tab-${tab}`);
    at("tabs").scrollLeft = chosen.offsetLeft - at("tabs").clientWidth / 2 + chosen.clientWidth / 2;
    document.title = `${NAMES[tab]} · ${plain(this.board.title)} · AudioCapBench`;
    if (tab !== "compare") this.views.compare.detail?.player?.audio?.pause();
    if (tab !== "explore") this.explorer?.view.player?.audio?.pause();
    try {
      await this.fill(tab);
    } catch (error) {
      this.drawn[tab] = null;
      if (this.explorer) this.explorer.shown = null; // What could not be shown is asked for again.
      throw error;
    }
    document.body.dataset.shown = tab;
  }

  async fill(tab) {
    if (tab === "explore") return this.explorer.update();
    if (this.drawn[tab] === this.key(tab)) return;
    this.drawn[tab] = this.key(tab);
    await this.views[tab].render(at(tab));
  }

  key(tab) {
    const fields = { matrix: [...CHOSEN, "sort", "category"], explore: [] }[tab] ?? CHOSEN;
    return JSON.stringify([fields.map((name) => this.state.get(name)), this.revision]);
  }

  // The board has changed: everything is drawn anew when it is next in sight.
  async changed() {
    this.revision += 1;
    this.header();
    this.explorer.controls();
    await this.show();
  }
}

try {
  const source = await openSource();
  const app = source.board === null ? null : new App(source);
  at("app").hidden = app === null;
  if (app) await app.show();
  else document.body.dataset.shown = "nothing";
  if (typeof Live === "function") new Live(app, source);
  performance.mark("page-ready");
} catch (error) {
  at("trouble").hidden = false;
  const isAway = typeof Unanswered === "function" && error instanceof Unanswered;
  at("trouble").textContent = `The page cannot be shown: ${plain(error.message)}. ${isAway ? "Reload it to try again." : "A newer browser may help."}`;
  if (!isAway) throw error;
}
