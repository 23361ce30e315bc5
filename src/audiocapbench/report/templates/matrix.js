// Where models fail together: a row a sample, a column a model, a colour a score. Only the rows in sight exist.

const MATRIX_SORTS = { lowest: "mean, lowest first", highest: "mean, highest first", differ: "spread, widest first", order: "benchmark's order" };

class MatrixList extends ClipList {
  apart(scores) {
    const known = scores.filter(isNumber);
    return known.length ? fixed(Math.max(...known) - Math.min(...known), this.query.scorer.digits) : "–";
  }

  line(row, one) {
    const { scorer, names } = this.query;
    const known = one.scores.filter(isNumber);
    const [low, high] = [Math.min(...known), Math.max(...known)];
    const cells = one.scores.map((value, column) => {
      const title = `${plain(names[column])}: ${fixed(value, scorer.digits)}`;
      const shown = make("span", { className: isNumber(value) ? "cell" : "cell none", title }, isNumber(value) ? value.toFixed(scorer.digits === 2 ? 1 : 2) : "");
      if (isNumber(value)) shown.style.setProperty("--share", `${100 * Math.max(0, Math.min(1, value / scorer.max_value))}%`);
      shown.dataset.model = column;
      return shown;
    });
    const mean = known.length ? `${fixed(one.value, scorer.digits)}` : "–";
    row.replaceChildren(foreign("span", "name", beginning(plain(one.id), 60)), make("span", "num", mean), make("span", "num soft", this.apart(one.scores)), ...cells);
    row.setAttribute("aria-label", `${plain(one.id)}: ${known.length ? `mean ${mean}, from ${fixed(low, scorer.digits)} to ${fixed(high, scorer.digits)}` : "no score"}`);
  }
}

// What is listed: a score of models, and of which samples.
function matrixQuery(board, models, sort, category = "") {
  const names = models.map((one) => board.models[one].label);
  return { search: "", category, status: "", measure: board.headline, model: ANY, low: null, high: null, sort, shown: models, names, scorer: board.scorers[board.headline] };
}

// The heads of columns, and below them an empty list.
function matrixGrid(id, label, board, models, apart) {
  const names = models.map((model) => board.models[model]).map((one) => make("span", { className: "upright", title: plain(one.label) }, modelMark(one), foreign("span", "", shortName(plain(one.label), 16))));
  const head = make("div", { className: "matrix-row matrix-head", ariaHidden: "true" }, make("span", "", "sample"), make("span", "num", "mean"), make("span", "num", apart), ...names);
  const rows = make("div", { className: "matrix-list", id, tabIndex: 0, role: "listbox", ariaLabel: label }, make("div", { role: "presentation" }));
  const grid = make("div", "matrix", head, rows);
  grid.style.setProperty("--models", models.length);
  const room = () => grid.clientWidth - head.children[2].offsetLeft - head.children[2].offsetWidth;
  new ResizeObserver(() => grid.classList.toggle("dense", room() / models.length < 28)).observe(grid);
  return grid;
}

class MatrixView extends View {
  async render(box) {
    const { board, state, source } = this.app;
    const models = board.rows.filter((model) => board.models[model].run !== null);
    if (!models.length) {
      box.replaceChildren(card("No model is shown", "Show all models again on the leaderboard: the filter there holds here too."));
      return;
    }
    const scorer = board.scorers[board.headline];
    const sort = Object.hasOwn(MATRIX_SORTS, state.get("sort")) ? state.get("sort") : "lowest";
    const select = (name, words_, options, value) => field(`matrix-${name}`, words_, chooser(options, value, (chosen) => state.set({ [name]: chosen })));
    const grid = matrixGrid("matrix-list", `Samples with the ${plain(scorer.label)} of each model`, board, models, "spread");
    let model = "";
    const [rows, spacer] = [grid.lastChild, grid.lastChild.firstChild];
    spacer.addEventListener("click", ({ target }) => {
      const column = target.closest("[data-model]")?.dataset.model;
      model = column === undefined ? "" : board.models[models[column]].label;
    });
    const told = make("p", "soft");
    const tools = make("form", "tools", select("sort", "Sort", Object.entries(MATRIX_SORTS).map(([name, words_]) => [words_, name]), sort), select("category", "Category", [["all categories", ""], ...source.categories.map((name) => [plain(name), name])], state.get("category")), told);
    const typing = document.activeElement?.id;
    const query = matrixQuery(board, models, sort, state.get("category"));
    box.replaceChildren(card("Where models fail together", `${plain(scorer.label)} of every sample and model; a cell opens its sample.`, tools, make("div", "scroll", grid), this.scale(scorer), share("Scores of all samples", () => this.rows(query))));
    if (typing?.startsWith("matrix-")) at(typing)?.focus();
    const samples = new MatrixList(source, rows, spacer, (id) => this.app.explore({ clip: id, model, sort }), 27);
    const page = await samples.show(query);
    told.textContent = count(page.total, "sample");
  }

  // All samples, asked for by so many as a server gives at once.
  async rows({ scorer, names, ...query }) {
    const found = [["sample", "category", ...names.map((name) => ({ text: plain(name), small: "", num: true }))]];
    for (let page = null; !page || found.length <= page.total; ) {
      page = await this.app.source.page(query, found.length - 1, found.length + 199);
      found.push(...page.rows.map((one) => [plain(one.id), plain(one.category), ...one.scores.map((value) => fixed(value, scorer.digits))]));
    }
    return found;
  }

  scale(scorer) {
    const steps = [0, 0.25, 0.5, 0.75, 1].map((share) => {
      const step = make("span", "cell", `${share * scorer.max_value}`);
      step.style.setProperty("--share", `${100 * share}%`);
      return step;
    });
    return make("p", "soft scale", ...steps, make("span", "cell none"), " no score");
  }
}
