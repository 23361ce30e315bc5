// The first view: who is best and how sure that is, one line a model, and any two scores against each other.

// The board by the score and on the part of the samples that the reader chose; `rows` are the models that fit, best
// first. Ranks and tests are among all models, whoever is shown.
function chosenBoard(whole, state, usual) {
  const named = whole.scorers.findIndex((one) => one.label === (state.get("rank") || usual));
  const headline = named < 0 ? whole.headline : named;
  const wanted = state.get("part");
  const part = Object.hasOwn(whole.views, wanted) && whole.views[wanted].rankings.length ? wanted : "";
  const view = whole.views[part];
  const ranking = view.rankings[headline] ?? { ranked: false, places: [], pairs: [] };
  const worth = (model) => view.estimates[headline][model]?.value ?? -Infinity;
  const words_ = state.get("find").toLowerCase().split(/\s+/).filter(Boolean);
  const weights = state.get("weights");
  const fits = (one) => words_.every((word) => [one.label, one.by, one.provider, one.licence].join(" ").toLowerCase().includes(word)) && !(one.control && state.get("controls")) && (!weights || (one.weights ?? "unsaid") === weights);
  const rows = whole.models.map((_, model) => model).filter((model) => fits(whole.models[model]));
  rows.sort((a, b) => (ranking.places[a]?.rank ?? Infinity) - (ranking.places[b]?.rank ?? Infinity) || worth(b) - worth(a) || a - b);
  const own = headline === whole.headline && !part ? whole.notes : (view.notes[headline] ?? []);
  const notes = rows.length < whole.models.length ? ["Ranks and tests are among all models, also those that are filtered out.", ...own] : own;
  return { ...whole, headline, part, ranking, rows, notes, estimates: view.estimates, samples: part ? view.samples : whole.samples, verdict: view.verdicts[headline] ?? "", winner: view.winners[headline] ?? null };
}

const [MOST_SCORES, MOST_COME] = [8, 5];
const STATUS_ORDER = ["ok", "empty", "refused", "filtered", "truncated", "unparsed", "failed", "skipped"];

class LeaderboardView extends View {
  sort = null; // By rank.

  render(box) {
    if (this.whole !== this.app.whole) {
      const typing = document.activeElement?.closest(".tools [id]")?.id;
      this.whole = this.app.whole;
      [this.top, this.tools, this.body] = [make("div"), this.controls(), make("div")];
      box.replaceChildren(this.top, this.tools, this.body);
      if (typing) at(typing)?.focus();
    }
    this.fill();
  }

  fill() {
    const { board, state } = this.app;
    for (const [id, value] of [["rank", board.scorers[board.headline].label], ["part", board.part], ["weights", state.get("weights")], ["find", state.get("find")]]) if (at(id) && at(id).value !== value) at(id).value = value;
    if (at("no-controls")) at("no-controls").checked = Boolean(state.get("controls"));
    at("count-models").textContent = board.rows.length < board.models.length ? `${board.rows.length} of ${count(board.models.length, "model")}` : "";
    this.top.replaceChildren(this.verdict(), ...this.notices());
    this.tools.querySelector(".share")?.remove();
    if (board.rows.length) {
      this.body.replaceChildren(this.fitting(), make("div", "two even", this.scatter(), this.tests()));
      this.tools.append(this.body.querySelector(".share"));
    } else this.body.replaceChildren(card("No model fits", "Search for less, or show all models again: ", button("Show all", () => state.set({ find: "", weights: "", controls: "" }))));
    this.picker();
  }

  // The table with no more scores than fit beside what always stands there, unless the reader chose.
  fitting() {
    this.most = MOST_SCORES;
    const shown = this.table();
    if (this.app.state.get("cols")) return shown;
    this.body.replaceChildren(shown);
    const region = shown.querySelector(".scroll");
    const widths = new Map(Array.from(region.querySelectorAll(".sort"), (one) => [one.dataset.column, one.closest("th").offsetWidth]));
    const scores = this.shownColumns().filter((one) => one.scored);
    this.most = scores.length;
    for (let over = region.scrollWidth - region.clientWidth; over > 0 && this.most; ) over -= widths.get(scores[--this.most].key);
    return this.most < scores.length ? this.table() : shown;
  }

  // The answer in a sentence, and below it how sure it is.
  verdict() {
    const { board, source } = this.app;
    const scorer = board.scorers[board.headline];
    const [first, second] = board.rows.filter((model) => isNumber(board.ranking.places[model]?.rank));
    const label = (model) => plain(board.models[model].label);
    const lines = [];
    const test = board.ranking.pairs.find((one) => one.first === first && one.second === second);
    if (test) {
      const order = board.models.map((_, model) => model).filter((model) => isNumber(board.ranking.places[model]?.rank)).sort((a, b) => board.ranking.places[a].rank - board.ranking.places[b].rank);
      const apart = order.slice(1).filter((model, place) => board.ranking.pairs.some((one) => one.different && one.first === order[place] && one.second === model)).length;
      const above = Number(fixed(test.difference, scorer.digits)) > 0 ? `is ${fixed(test.difference, scorer.digits)} above` : "is level with";
      lines.push(`${label(first)} ${above} ${label(second)}${board.ranking.by_zero ? " with failures as 0" : ""} (p ${chance(test.p_adjusted).replace(/^(?=\d)/, "= ")}${order.length > 2 ? ", corrected" : ""}).`, `${apart} of ${count(order.length - 1, "pair")} of neighbouring ranks ${apart === 1 ? "differs" : "differ"} significantly.`);
    }
    let words_ = board.verdict;
    if (!words_) {
      const [best] = board.rows;
      const cell = board.rows.length ? board.estimates[board.headline][best] : null;
      const ends = span(cell, scorer.digits);
      const said = cell ? `${label(best)} ${board.models.length > 1 ? "has the highest" : "has"} ${plain(scorer.label)}: ${fixed(cell.value, scorer.digits)}${ends ? ` (${ends})` : ""}` : `No model has a score of ${plain(scorer.label)}`;
      words_ = `${said} on ${count(cell?.n || board.samples, "sample")}.`;
      if (source.partial) lines.push("Who is surely better is being tested.");
      else if (board.models.length < 2) lines.push(board.home ? "Who is better stands under “All models”." : "Run another model on the same clips to see which is better.");
      else if (board.ranking.places.length) lines.push("None is ranked: the notes below say why.");
      else lines.push(`Not tested here by this score: “audiocapbench leaderboard ${scorer.judge ? "--judge" : "--metric"} '${plain(scorer.judge ?? scorer.label)}'” does.`);
    }
    const by = `${board.ranking.ranked ? "Ranked" : "Sorted"} by ${plain(scorer.label)}${board.part ? ` on ${plain(board.part)}` : ""}, from 0 to ${scorer.max_value}.`;
    return make("section", "lead", verdict(words_), foreign("p", "soft", [...lines, by].join(" ")));
  }

  notices() {
    const { board, state } = this.app;
    const said = board.warnings.map((one) => make("p", "warning", make("strong", "", "Warning: "), foreign("span", "", `${plain(one)}.`)));
    const come = this.app.come().map((model) => plain(board.models[model].label));
    if (come.length) said.unshift(foreign("p", "notice", `New since the page was opened: ${come.slice(0, MOST_COME).join(", ")}${come.length > MOST_COME ? ` and ${come.length - MOST_COME} more` : ""}.`));
    const offered = this.app.offered();
    if (offered !== null) {
      const label = this.whole.scorers[offered].label;
      said.unshift(make("p", "notice", `By default the models would now be ranked by ${plain(label)}. `, button(`Rank by ${plain(label)}`, () => state.set({ rank: label }))));
    }
    return said;
  }

  // What ranks, of which samples and models, and which columns are shown.
  controls() {
    const { whole, state } = this.app;
    const select = (id, words_, options) => field(id, words_, chooser(options, "", (value) => state.set({ [id]: value })));
    const parts = Object.entries(whole.views).filter(([, one]) => one.rankings.length);
    const found = [select("rank", "Rank by", whole.scorers.map((one) => [plain(one.label), one.label]))];
    if (parts.some(([, one]) => one.samples < whole.samples)) found.push(select("part", "Category", parts.map(([name, one]) => [`${name ? plain(name) : "all"} (${one.samples.toLocaleString("en")})`, name])));
    if (whole.models.some((one) => one.weights)) found.push(select("weights", "Weights", [["all", ""], ["open", "open"], ["closed", "closed"], ["not said", "unsaid"]]));
    if (whole.models.length > 3) {
      found.push(field("find", "Find a model", make("input", { type: "search", autocomplete: "off" })));
    }
    if (whole.models.some((one) => one.control)) {
      const box = tick("", " Hide controls");
      [box.className, box.firstChild.id] = ["check", "no-controls"];
      found.push(box);
    }
    this.columnBoxes = make("div", "boxes");
    const columns = make("details", "menu columns", make("summary", "", "Columns"), this.columnBoxes);
    const shown = make("p", { className: "soft", id: "count-models", role: "status" });
    const tools = make("form", { className: "tools", role: "search", ariaLabel: "Rank and filter models" }, ...found, columns, shown);
    tools.addEventListener("submit", (event) => event.preventDefault());
    tools.addEventListener("input", ({ target }) => {
      if (this.columnBoxes.contains(target)) {
        const keys = [...this.columnBoxes.querySelectorAll("input:checked")].map((one) => one.value);
        state.set({ cols: keys.join("\n") || "-" });
      } else if (target.id === "no-controls") state.set({ controls: target.checked ? "hidden" : "" });
      else if (target.id === "find") state.set({ find: target.value });
    });
    return tools;
  }

  picker() {
    const shown = new Set(this.shownColumns().map((one) => one.key));
    const all = this.columns();
    const keys = all.map((one) => one.key).join("\n");
    if (this.columnBoxes.dataset.keys !== keys) {
      this.columnBoxes.dataset.keys = keys;
      this.columnBoxes.replaceChildren(
        ...all.map((one) => tick(one.key, foreign("span", "", one.title ?? one.name))),
      );
    }
    for (const box of this.columnBoxes.querySelectorAll("input")) box.checked = shown.has(box.value);
  }

  // Whatever can stand beside the score that ranks: {key, name, value(model) to sort by, cell(model)}.
  columns() {
    const { board } = this.app;
    const scorer = board.scorers[board.headline];
    const group = board.boards.find((one) => one.scorers.includes(board.headline));
    const order = [...group.scorers, ...board.boards.filter((one) => one !== group).flatMap((one) => one.scorers)].filter((one) => one !== board.headline);
    const found = order.map((number) => ({ key: board.scorers[number].label, name: plain(group.scorers.includes(number) ? board.scorers[number].column : board.scorers[number].label), title: plain(board.scorers[number].label), scored: true, value: (model) => board.estimates[number][model]?.value, cell: (model) => this.score(number, model) }));
    const text = (key, name, value, shown = value) => ({ key, name, text: true, value: (model) => value(board.models[model]), cell: (model) => this.words(shown(board.models[model]) ?? "") });
    const number = (key, name, value, shown) => ({ key, name, value, cell: (model) => make("td", "num", shown(model)) });
    const categories = Object.keys(this.whole.views).filter(Boolean);
    const inPart = (name, model) => this.whole.views[name].estimates[board.headline][model];
    if (categories.length > 1 && categories.some((name) => board.models.some((_, model) => inPart(name, model)))) {
      found.push({ key: "categories", name: "categories", value: (model) => Math.min(...categories.map((name) => inPart(name, model)?.value ?? Infinity)), cell: (model) => make("td", "", this.spark(model, categories)) });
      for (const name of categories) found.push({ key: `category ${name}`, name: plain(name), value: (model) => inPart(name, model)?.value, cell: (model) => this.filtering(this.scoreCell(inPart(name, model), scorer), model, { category: name }) });
    }
    found.push(number("covered", group.coverage, (model) => board.estimates[board.headline][model]?.n, (model) => this.covered(group, model)));
    const per = (one) => (one.cost && one.asked ? (1000 * one.cost) / one.asked : null);
    const lead = (model) => board.estimates[board.headline][model];
    found.push({ key: "statuses", name: "statuses", value: (model) => board.models[model].total - board.models[model].answered, cell: (model) => this.statuses(board.models[model]) });
    found.push(number("zero", "failures as zero", (model) => lead(model)?.zero, (model) => fixed(lead(model)?.zero, scorer.digits)));
    found.push(number("bounds", "worst to best", (model) => lead(model)?.bounds?.[0], (model) => lead(model)?.bounds?.map((end) => fixed(end, scorer.digits)).join("–") ?? "–"));
    for (const [key, name] of [["cost", "cost"], ["judging", "judging"]]) found.push(number(`spent ${key}`, name, (model) => board.models[model][key], (model) => dollars(board.models[model][key], key === "cost" && board.models[model].cost_estimated)));
    if (board.models.some(per)) found.push({ axis: "dollars per 1,000 samples", ...number("cost", "$ / 1,000", (model) => per(board.models[model]), (model) => dollars(per(board.models[model]), board.models[model].cost_estimated)) });
    if (board.models.some((one) => isNumber(one.latency))) found.push({ axis: "median seconds", ...number("time", "median s", (model) => board.models[model].latency, (model) => fixed(board.models[model].latency, 2)) });
    if (board.models.some((one) => one.departures)) found.push(text("departs", "departs from the paper", (one) => one.departures && plain(one.departures)));
    found.push(text("provider", "provider", (one) => plain(one.provider)));
    const facts = (one) => [one.by, one.weights && `${one.weights} weights`, one.licence].filter(Boolean).map(plain).join(" · ");
    if (board.models.some((one) => facts(one) || one.link)) found.push({ key: "facts", name: "about", text: true, value: (model) => facts(board.models[model]), cell: (model) => this.words(facts(board.models[model]), board.models[model]) });
    return found;
  }

  shownColumns() {
    const chosen = this.app.state.get("cols");
    const all = this.columns();
    if (chosen) return all.filter((one) => chosen.split("\n").includes(one.key));
    const common = (one) => 2 * this.app.board.rows.filter((model) => isNumber(one.value(model))).length > this.app.board.rows.length;
    const scores = all.filter((one) => one.scored && common(one)).slice(0, this.most);
    return all.filter((one) => scores.includes(one) || ["categories", "covered", "departs", "facts"].includes(one.key));
  }

  table() {
    const { board } = this.app;
    const scorer = board.scorers[board.headline];
    const { ranking } = board;
    const decides = ranking.ranked && (ranking.uneven ? `on\u00a0${ranking.ground.toLocaleString("en")}` : ranking.by_zero ? "as zero" : "");
    const columns = this.shownColumns();
    const fixedOnes = [
      { key: "rank", name: "rank", value: (model) => -(ranking.places[model]?.rank ?? Infinity) },
      { key: "model", name: "model", text: true, value: (model) => plain(board.models[model].label).toLowerCase() },
      { key: "lead", name: plain(scorer.column), title: plain(scorer.label), value: (model) => board.estimates[board.headline][model]?.value },
      { key: "decides", name: decides, value: (model) => this.decides(model) },
    ];
    const [rank, model_, lead, decided] = fixedOnes;
    const order = this.order([...fixedOnes, ...columns].find((one) => one.key === this.sort?.key));
    const heads = [this.head(model_, "model"), this.head(lead, "num"), make("th", "axis", axisHead(scorer)), ...(decides ? [this.head(decided, "num")] : []), ...columns.map((one) => this.head(one, one.text ? "" : "num"))];
    if (ranking.ranked) heads.unshift(this.head(rank, "rank"), make("th", "tie", make("span", "hidden", "tied")));
    const ties = ranking.ranked ? tieLines(order.map((model) => ranking.places[model]?.tied ?? ""), !this.sort) : null;
    const references = this.references();
    const rows = order.map((model, place) => {
      const one = board.models[model];
      const cell = board.estimates[board.headline][model];
      const bar = this.filtering(intervalBar(cell, scorer, references), model);
      const cells = [this.name(model), this.score(board.headline, model, "lead"), make("td", "axis", bar)];
      if (ranking.ranked) cells.unshift(make("td", "rank", this.rank(model)), ties[place]);
      if (decides) cells.push(make("td", `num${ranking.uneven && board.winner === model ? " best" : ""}`, fixed(this.decides(model), scorer.digits)));
      return make("tr", one.control ? "control" : one.run === null ? "published" : "", ...cells, ...columns.map((column) => column.cell(model)));
    });
    const box = make("section", "card", make("h2", "hidden", `${plain(scorer.label)}, 0 to ${scorer.max_value}`), table("Board", heads, rows, ranking.ranked ? "board ranked" : "board"));
    const lines = references.map((one) => `${one.name} ${fixed(one.value, scorer.digits)}`).join(", ");
    const shown = [board.headline, ...board.scorers.keys()].filter((number) => number === board.headline || columns.some((one) => one.key === board.scorers[number].label));
    const notes = board.boards.filter((one) => one.scorers.some((number) => shown.includes(number) && board.scorers[number].column === "hallucination")).map((one) => one.note);
    const joined = ties?.some((one) => one.querySelector(".lines > :not(.none)")) ? [make("span", "joined", "Rows that a line joins cannot be told apart. "), "In brackets are the places that the tests leave open. "] : [];
    const votes = board.boards.some((one) => one.coverage === "votes" && one.scorers.includes(board.headline));
    const bands = board.estimates[board.headline].some((cell) => cell?.interval) ? `Bands: 95 % intervals over ${votes ? "people and clips" : "clips"}.` : "";
    box.append(make("p", "soft legend", ...joined, `${bands}${lines ? ` Dashed lines: ${lines}.` : ""} ${notes.join(" ")}`));
    return box;
  }

  order(column) {
    const rows = [...this.app.board.rows];
    if (!column) return rows;
    const known = (value) => (typeof value === "string" ? value !== "" : isNumber(value) && Number.isFinite(value));
    const sign = this.sort.down ? -1 : 1;
    return rows.sort((a, b) => {
      const [x, y] = [column.value(a), column.value(b)];
      if (!known(x) || !known(y)) return known(y) - known(x); // What has none stands last, whichever way.
      return sign * (x < y ? -1 : x > y ? 1 : 0);
    });
  }

  head(column, name) {
    const now = this.sort ? this.sort.key === column.key : column.key === "rank";
    const head = make("th", { className: name, scope: "col" });
    const element = button(column.name, () => {
      const down = this.sort?.key === column.key ? !this.sort.down : !column.text;
      this.sort = column.key === "rank" ? null : { key: column.key, down };
      this.fill();
      [...this.body.querySelectorAll(".sort")].find((one) => one.dataset.column === column.key)?.focus();
    }, "sort");
    element.dataset.column = column.key;
    element.title = column.title ?? column.name;
    head.append(element);
    if (now) head.setAttribute("aria-sort", this.sort?.down ? "descending" : "ascending");
    return head;
  }

  // What ranks a model where that is not its score.
  decides(model) {
    const { ranking, estimates, headline } = this.app.board;
    return ranking.uneven ? ranking.places[model]?.score : estimates[headline][model]?.zero;
  }

  rank(model) {
    const place = this.app.board.ranking.places[model];
    if (!place) return `printed ${this.app.board.models[model].printed}`;
    if (place.rank === null) return "–";
    return place.open && place.open !== String(place.rank) ? make("span", "", `${place.rank} `, make("small", "", `(${place.open})`)) : String(place.rank);
  }

  // One line however long the name is; all of it is seen on hover and focus.
  name(model) {
    const one = this.app.board.models[model];
    // Where it is too long, who offers it gives way and then the middle: by its end a model is told from others of its family.
    const [full, own] = [plain(one.label), ownName(plain(one.label))];
    const before = full.slice(0, full.length - own.length);
    const letters = Array.from(own);
    const end = letters.splice(Math.max(letters.length - 8, 6)).join("");
    const label = foreign("span", "full", make("span", before.length > 4 ? "start" : "", before), make("span", "", letters.join("")), make("span", "end", end));
    let element = make("span", "link", label);
    if (one.page) element = make("a", { className: "link", href: one.page }, label);
    else if (one.run !== null) element = this.filtering(button(label, () => {}, "link"), model);
    else element.tabIndex = 0;
    element.title = `${full} · ${one.control ? "control" : plain(one.provider)}`;
    const head = rowHead(make("span", "one", modelMark(one), element));
    head.className = "model";
    return head;
  }

  // Whatever stands for a model leads to its samples, the worst first.
  filtering(element, model, changes = {}) {
    const one = this.app.board.models[model];
    if (one.run === null) return element;
    element.classList.add("leads");
    element.title ||= `Samples of ${plain(one.label)}`;
    element.addEventListener("click", () => this.app.explore({ model: one.label, sort: "lowest", ...changes }));
    return element;
  }

  score(number, model, name = "") {
    const { board } = this.app;
    const scorer = board.scorers[number];
    // Only who beats every other by what ranks has a mark; where samples differ, the column that decides has it.
    const best = name && board.winner === model && !board.ranking.uneven;
    return this.scoreCell(board.estimates[number][model], scorer, `${name}${best ? " best" : ""}`);
  }

  scoreCell(cell, scorer, name = "") {
    const shown = make("td", `num ${name}`, make("span", "", fixed(cell?.value, scorer.digits)));
    const ends = span(cell, scorer.digits);
    if (cell?.claimed) shown.append(make("small", "warning", " claimed"));
    if (name.startsWith("lead")) shown.append(" ", make("small", "", ends));
    else if (cell) shown.append(intervalBar(cell, scorer));
    if (ends) shown.title = `95 % interval ${ends}`;
    return shown;
  }

  words(text, one) {
    const shown = foreign("td", "clipped", text || "–");
    shown.title = text;
    // Only what a web address begins with: a link must not be a script.
    if (/^https?:\/\//.test(one?.link ?? "")) {
      const more = make("a", { href: one.link, rel: "noopener nofollow", ariaLabel: `more about ${plain(one.label)}` }, "more");
      shown.replaceChildren(text, text ? " · " : "", more);
    }
    return shown;
  }

  // A bar a category, which leads to its samples.
  spark(model, categories) {
    const { board } = this.app;
    const scorer = board.scorers[board.headline];
    const cells = categories.map((name) => this.whole.views[name].estimates[board.headline][model]);
    const told = categories.map((name, place) => `${plain(name)} ${fixed(cells[place]?.value, scorer.digits)}`);
    const bars = categories.map((name, place) => {
      const bar = make("i", { title: told[place] });
      bar.style.setProperty("--tall", cells[place] ? `${100 * Math.max(0.03, Math.min(1, cells[place].value / scorer.max_value))}%` : "0%");
      return this.filtering(bar, model, { category: name });
    });
    return make("span", { className: "spark", role: "img", ariaLabel: told.join(", ") }, ...bars);
  }

  // How its answers ended, as parts of a whole.
  statuses(one) {
    const parts = [...Object.entries(one.statuses), ["not asked", one.total - one.asked]].filter(([, number]) => number);
    const kind = (name) => `status-${name === "not asked" ? "none" : STATUS_ORDER.includes(name) ? name : "failed"}`;
    return make("td", "words", stacked(parts.map(([name, number]) => [name, number, kind(name)]), plain(one.label)), make("small", "", parts.map(([name, number]) => `${number.toLocaleString("en")} ${name}`).join(", ")));
  }

  // How many samples the score that ranks is of.
  covered(group, model) {
    const { board } = this.app;
    const number = board.estimates[board.headline][model]?.n;
    if (!number) return "–";
    const of = group.coverage === "votes" ? "" : `/${(board.part ? board.samples : board.models[model].total).toLocaleString("en")}`; // votes are no samples
    return `${number.toLocaleString("en")}${of}`;
  }

  // Controls, captions that hear nothing, and people: what a score has to be seen beside.
  references(number = this.app.board.headline) {
    const { board } = this.app;
    const controls = board.models.map((one, model) => ({ name: plain(one.label), control: one.control, value: board.estimates[number][model]?.value }));
    const anchors = Object.entries(board.anchors ?? {}).map(([name, values]) => ({ name, control: true, value: board.part ? null : values[number] }));
    return [...controls, ...anchors].filter((one) => one.control && isNumber(one.value));
  }

  // Every pair, and what else is to be known.
  tests() {
    const { board } = this.app;
    const label = (model) => plain(board.models[model].label);
    const digits = board.scorers[board.headline].digits;
    const shown = new Set(board.rows);
    const pairs = board.ranking.pairs.filter((one) => shown.has(one.first) && shown.has(one.second));
    const rows = pairs.map((one) => row(rowHead(`${label(one.first)} over ${label(one.second)}`), fixed(one.difference, digits), one.n.toLocaleString("en"), chance(one.p_adjusted), one.different ? "yes" : "no"));
    const way = `Intervals: ${board.method}, left out for fewer than ${board.fewest} samples.`;
    const every = rows.length ? fold(`Every pair (${rows.length.toLocaleString("en")})`, table("Every pair, table", ["models", "difference", "samples", "p, corrected", "significant"], rows)) : null;
    return card(rows.length ? "What the tests say" : "Notes", "", every, board.notes.length ? list(board.notes.map((one) => plain(one).replace(/^Models that share a letter/, "Rows that a line joins")), "notes soft") : null, make("p", "soft", way));
  }

  // What can stand on an axis: any score, and what it costs and takes.
  axes() {
    const { board } = this.app;
    const found = board.scorers.map((scorer, number) => ({ key: scorer.label, name: plain(scorer.label), cell: (model) => board.estimates[number][model], number }));
    const others = this.columns().filter((one) => one.axis);
    return [...found, ...others.map(({ key, axis, value }) => ({ key, name: axis, cell: (model) => (isNumber(value(model)) ? { value: value(model) } : null) }))];
  }

  scatter() {
    const { board, state } = this.app;
    const axes = this.axes();
    if (axes.length < 2 || board.models.length < 2) return null;
    const both = ["accuracy", "hallucination"].map((name) => axes.find((one) => board.judge_of_both !== null && board.scorers[one.number]?.judge === board.judge_of_both && board.scorers[one.number].column === name));
    const usual = both.every(Boolean) ? both : [axes.find((one) => one.number !== board.headline), axes[board.headline]];
    const [x, y] = ["x", "y"].map((name, place) => axes.find((one) => one.key === state.get(name)) ?? usual[place]);
    const select = (name, now) => {
      const chosen = (value) => {
        state.set({ [name]: value });
        at(`axis-${name}`)?.focus();
      };
      const element = chooser(axes.map((one) => [one.name, one.key]), now.key, chosen, name === "x" ? "Across" : "Up");
      element.id = `axis-${name}`;
      return element;
    };
    const points = board.rows.map((model) => ({ one: board.models[model], x: x.cell(model), y: y.cell(model) })).filter((point) => point.x && point.y);
    const drawn = points.map(({ one, x: first, y: second }) => ({ label: plain(one.label), title: `${plain(one.label)}: ${fixed(first.value, 2)}, ${fixed(second.value, 2)}`, x: first, y: second, mark: one.mark, shape: one.shape, muted: one.control, open: one.run === null ? null : () => this.app.explore({ model: one.label, sort: "lowest" }) }));
    const blind = (axis) => (axis.number === undefined ? [] : this.references(axis.number).filter((one) => ["blind", "person"].includes(one.name)));
    const svg = drawn.length ? scatter(`${y.name} against ${x.name} of each model, with 95 percent intervals; the table has the numbers`, drawn, { x: { name: x.name, lines: blind(x) }, y: { name: y.name, lines: blind(y) } }) : make("p", "soft", "No model has both: choose other scores.");
    const both_ = (axis, cell) => ({ text: fixed(cell.value, board.scorers[axis.number]?.digits ?? 4), small: span(cell, board.scorers[axis.number]?.digits ?? 4), num: true });
    const cells = () => [["model", ...[y, x].map((axis) => ({ text: axis.name, small: "", num: true }))], ...points.map((point) => [plain(point.one.label), both_(y, point.y), both_(x, point.x)])];
    return card("Two scores against each other", "", make("div", "axes", select("y", y), make("span", "soft", "against"), select("x", x)), svg, drawn.length ? share(`${y.name} against ${x.name}`, cells, svg) : null);
  }
}

function axisHead(scorer) {
  const ends = make("span", { className: "ends", ariaHidden: "true" }, ...[0, scorer.max_value / 2, scorer.max_value].map((end) => make("i", "", `${end}`)));
  return make("span", "", make("span", "hidden", "interval"), ends);
}

// A line down the side for every group of ties; groups that overlap stand side by side. Sorted otherwise: the letters.
function tieLines(tied, ranked) {
  const rows = tied.map((one) => one.split(" ").filter(Boolean));
  const lanes = [];
  for (const letter of [...new Set(rows.flat())]) {
    const places = rows.flatMap((one, place) => (one.includes(letter) ? [place] : []));
    if (places.length < 2) continue;
    const [first, last] = [places[0], places.at(-1)];
    const lane = lanes.find((one) => one.at(-1).last < first) ?? (lanes.push([]), lanes.at(-1));
    lane.push({ first, last, letter });
  }
  return rows.map((own, place) => {
    const lines = lanes.map((lane) => {
      const group_ = lane.find((one) => one.first <= place && place <= one.last && own.includes(one.letter));
      return make("i", !group_ ? "none" : `${group_.first === place ? "first " : ""}${group_.last === place ? "last" : ""}`);
    });
    const shown = ranked ? make("span", "lines", ...lines) : make("span", "letters", own.join(" "));
    return make("td", "tie", shown, make("span", "hidden", ranked && own.length ? own.join(" ") : ""));
  });
}
