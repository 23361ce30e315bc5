// The page: opens the source, fills the header, and shows the view that the address names.

const NAMES = { leaderboard: "Leaderboard", compare: "Compare", explore: "Explore", trials: "Trials", costs: "Costs", made: "How it was made" };

class App {
  constructor(source) {
    this.source = source;
    this.state = new State();
    this.revision = 0;
    this.drawn = {};
    this.views = { leaderboard: new LeaderboardView(this), compare: new CompareView(this), trials: new TrialsView(this), costs: new CostsView(this), made: new MadeView(this) };
    this.header();
    this.explorer = new ExploreView(this);
    this.state.listeners.push(() => this.show());
  }

  get board() {
    return this.source.board;
  }

  // Models that were run here; published ones have no samples to look into.
  runs() {
    return this.board.models.map((_, model) => model).filter((model) => this.board.models[model].run !== null);
  }

  colour(model) {
    return Math.max(0, this.board.providers.indexOf(this.board.models[model].provider)) % 8;
  }

  points(x, y) {
    const { board } = this;
    const found = board.models.map((one, model) => ({ one, model, x: board.estimates[x][model], y: board.estimates[y][model] })).filter((point) => point.x && point.y);
    return found.map(({ one, model, x: first, y: second }) => ({
      label: plain(one.label),
      title: `${plain(one.label)}: ${first.value.toFixed(2)}, ${second.value.toFixed(2)}`,
      x: first,
      y: second,
      colour: this.colour(model),
      muted: one.control,
      open: one.run === null ? null : () => this.explore({ model: one.label, sort: "lowest" }),
    }));
  }

  // To the samples that something on another view stands for.
  explore(changes) {
    const none = Object.fromEntries(FIELDS.filter((name) => !["a", "b"].includes(name)).map((name) => [name, ""]));
    this.state.set({ ...none, ...changes }, { tab: "explore" });
  }

  header() {
    const { board } = this;
    at("title").textContent = plain(board.title);
    const samples = `${count(board.samples, "sample")}${board.clips !== board.samples ? ` of ${count(board.clips, "clip")}` : ""}`;
    const judges = [...new Set(board.scorers.map((one) => one.judge).filter(Boolean))];
    const chips = [plain(board.benchmark), samples, count(this.runs().length, "run"), `asked ${board.asked}`, `data ${board.datasets.join(", ")}`, ...judges.map((one) => `judge ${plain(one)}`)];
    at("chips").replaceChildren(...chips.map((one) => foreign("li", "chip", one)));
    at("tabs").replaceChildren(
      ...TABS.map((tab) => {
        const link = make("a", "", NAMES[tab]);
        link.id = `tab-${tab}`;
        link.addEventListener("click", (event) => {
          event.preventDefault();
          this.state.set({}, { tab });
        });
        return link;
      }),
    );
  }

  async show() {
    const { tab } = this.state;
    for (const one of TABS) {
      const link = at(`tab-${one}`);
      link.href = this.state.address({}, one);
      if (one === tab) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
      at(one).hidden = one !== tab;
    }
    const chosen = at(`tab-${tab}`);
    at("tabs").scrollLeft = chosen.offsetLeft - at("tabs").clientWidth / 2 + chosen.clientWidth / 2;
    document.title = `${NAMES[tab]} · ${plain(this.board.title)} · AudioCapBench`;
    if (tab !== "compare") this.views.compare.player?.close();
    if (tab !== "explore") this.explorer.view.player?.audio?.pause();
    try {
      await this.fill(tab);
    } catch (error) {
      this.drawn[tab] = this.explorer.shown = null; // What could not be shown is asked for again.
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
    return tab === "compare" ? JSON.stringify([this.state.get("a"), this.state.get("b"), this.revision]) : this.revision;
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
  if (typeof goLive === "function") goLive(app, source);
  performance.mark("page-ready");
} catch (error) {
  at("trouble").hidden = false;
  const isAway = typeof Unanswered === "function" && error instanceof Unanswered;
  at("trouble").textContent = `The page cannot be shown: ${plain(error.message)}. ${isAway ? "Reload it to try again." : "A newer browser may help."}`;
  if (!isAway) throw error;
}
