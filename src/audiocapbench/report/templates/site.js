// The page of a leaderboard site: a board as the report has it, of the benchmark, score and category that the reader
// chooses, with the models that fit. What is chosen is in the address; ranks are always among all models.

class SiteBoard extends LeaderboardView {
  tradeoff() {
    return null;
  }

  name(model) {
    const one = this.app.board.models[model];
    const colour = this.app.colour(model);
    const link = foreign("a", "link", plain(one.label));
    link.href = one.page;
    const facts = [one.by, one.weights && `${one.weights} weights`, one.licence].filter(Boolean).map(plain);
    const head = rowHead(draw("svg", { class: `key c${colour}`, width: 14, height: 14, viewBox: "-7 -7 14 14", "aria-hidden": "true" }, draw("path", { d: SHAPES[colour % SHAPES.length] })), link);
    const small = foreign("small", "", one.control ? "control" : facts.join(" · ") || plain(one.provider));
    // Only what a web address begins with: a link must not be a script.
    if (/^https?:\/\//.test(one.link ?? "")) {
      const more = make("a", "", "more");
      more.href = one.link;
      more.rel = "noopener nofollow";
      more.setAttribute("aria-label", `more about ${plain(one.label)}`);
      small.append(" · ", more);
    }
    head.append(small);
    head.className = "model";
    return head;
  }

  score(scorer, model, name, mini = false) {
    const shown = super.score(scorer, model, name, mini);
    if (this.app.board.estimates[scorer][model]?.claimed) shown.append(make("small", "warning", "claimed"));
    return shown;
  }

  covered(group, model) {
    const { board } = this.app;
    if (!board.part) return super.covered(group, model);
    const cell = board.estimates[group.scorers[0]][model];
    return cell ? `${cell.n.toLocaleString("en")}/${board.samples.toLocaleString("en")}` : "–";
  }
}

const SITE_TABS = { leaderboard: "Leaderboard", costs: "Costs", made: "How it was made" };
// Where each control keeps its choice in the address.
const KEPT = { benchmark: "by", score: "score", category: "category", weights: "status", q: "q", control: "hide" };

class Site {
  constructor({ boards }) {
    this.boards = boards;
    this.state = new State();
    this.views = { leaderboard: new SiteBoard(this), costs: new CostsView(this), made: new MadeView(this) };
    const form = at("controls");
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("input", ({ target }) => this.state.set({ [KEPT[target.id]]: target.type === "checkbox" ? (target.checked ? "control" : "") : target.value }));
    form.addEventListener("reset", (event) => {
      event.preventDefault();
      this.state.set(Object.fromEntries(FIELDS.map((name) => [name, ""])));
    });
    this.state.listeners.push(() => this.show());
    this.show();
  }

  colour(model) {
    return Math.max(0, this.board.providers.indexOf(this.board.models[model].provider)) % 8;
  }

  runs() {
    return this.board.models.map((_, model) => model);
  }

  // Whatever stands for a model leads to its page.
  explore({ model, category }) {
    const one = this.board.models.find((each) => each.label === model);
    location.href = category ? `${one.page}#explore&category=${encodeURIComponent(category)}` : one.page;
  }

  get whole() {
    const wanted = Number(this.state.get("by") || 0);
    return this.boards[wanted] ?? this.boards[0];
  }

  fits(one) {
    const words_ = this.state.get("q").toLowerCase().split(/\s+/).filter(Boolean);
    const text = [one.label, one.by, one.provider, one.licence].join(" ").toLowerCase();
    const weights = this.state.get("status");
    return words_.every((word) => text.includes(word)) && !(one.control && this.state.get("hide")) && (!weights || (one.weights ?? "unsaid") === weights);
  }

  // The chosen part of a board, as a board.
  cut() {
    const { whole } = this;
    const category = this.state.get("category") in whole.views ? this.state.get("category") : "";
    const named = whole.scorers.findIndex((one) => one.label === this.state.get("score"));
    const headline = named < 0 ? whole.headline : named;
    const view = whole.views[category];
    const ranking = view.rankings[headline];
    const worth = (model) => view.estimates[headline][model]?.value ?? -Infinity;
    const kept = whole.models.map((_, model) => model).filter((model) => this.fits(whole.models[model]));
    kept.sort((a, b) => (ranking.places[a].rank ?? Infinity) - (ranking.places[b].rank ?? Infinity) || worth(b) - worth(a) || a - b);
    const pick = (cells) => kept.map((model) => cells[model]);
    const places = new Map(kept.map((model, place) => [model, place]));
    const groups = whole.boards.map((one) => ({ ...one, covered: pick(one.covered) }));
    return {
      ...whole,
      part: category,
      verdict: view.verdicts[headline],
      headline,
      samples: view.samples,
      scorers: whole.scorers.map((one, number) => ({ ...one, best: places.get(view.winners[number]) ?? null })),
      models: pick(whole.models),
      estimates: view.estimates.map(pick),
      boards: [...groups.filter((one) => one.scorers.includes(headline)), ...groups.filter((one) => !one.scorers.includes(headline))],
      parts: Object.entries(whole.views).filter(([name]) => name && (!category || name === category)).map(([name, one]) => ({ category: name, samples: one.samples, cells: pick(one.estimates[headline]) })),
      ranking: {
        ...ranking,
        places: pick(ranking.places),
        pairs: ranking.pairs.filter((one) => places.has(one.first) && places.has(one.second)).map((one) => ({ ...one, first: places.get(one.first), second: places.get(one.second) })),
      },
      notes: [...(kept.length < whole.models.length ? ["Ranks and tests are among all models, also those that are filtered out."] : []), ...(category ? [] : view.notes[headline])],
    };
  }

  controls() {
    const { whole, board } = this;
    choices(at("benchmark"), this.boards.map((one, number) => [`${plain(one.benchmark)}, ${count(one.samples, "sample")} (${one.datasets.join(", ")})`, String(number)]));
    at("benchmark").closest(".field").hidden = this.boards.length < 2;
    at("benchmark").value = String(this.boards.indexOf(whole));
    choices(at("score"), whole.scorers.map((one) => [plain(one.label), one.label]));
    at("score").value = whole.scorers[board.headline].label;
    choices(at("category"), Object.entries(whole.views).map(([name, one]) => [`${name ? plain(name) : "all"} (${one.samples.toLocaleString("en")})`, name]));
    at("category").value = board.part;
    choices(at("weights"), [["all", ""], ["open", "open"], ["closed", "closed"], ["not said", "unsaid"]]);
    at("weights").value = this.state.get("status");
    at("control").checked = Boolean(this.state.get("hide"));
    if (document.activeElement !== at("q")) at("q").value = this.state.get("q");
    at("count").textContent = `${board.models.length} of ${count(whole.models.length, "model")}`;
  }

  header() {
    const { board } = this;
    at("chips").replaceChildren(...[plain(board.benchmark), count(board.samples, "sample"), `asked ${board.asked}`, `data ${board.datasets.join(", ")}`].map((one) => foreign("li", "chip", one)));
    at("tabs").replaceChildren(
      ...Object.entries(SITE_TABS).map(([tab, words_]) => {
        const link = make("a", "", words_);
        link.href = this.state.address({}, tab);
        link.id = `tab-${tab}`;
        if (tab === this.tab) link.setAttribute("aria-current", "page");
        return link;
      }),
    );
  }

  show() {
    this.tab = this.state.tab in SITE_TABS ? this.state.tab : "leaderboard";
    this.board = this.cut();
    this.controls();
    this.header();
    for (const tab of Object.keys(SITE_TABS)) at(tab).hidden = tab !== this.tab;
    if (this.board.models.length) this.views[this.tab].render(at(this.tab));
    else at(this.tab).replaceChildren(card("No model fits", "Reset the filters, or use fewer search words."));
    document.title = `${SITE_TABS[this.tab]} · ${plain(this.board.title)} · AudioCapBench`;
    document.body.dataset.shown = this.tab;
  }
}

try {
  const [head] = await unpacked();
  at("app").hidden = false;
  new Site(head);
} catch (error) {
  at("trouble").hidden = false;
  at("trouble").textContent = `The page cannot be shown: ${plain(error.message)}. A newer browser may help.`;
  throw error;
}
