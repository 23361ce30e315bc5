// The first view: who is best, how sure that is, and where models differ.

class LeaderboardView {
  constructor(app) {
    this.app = app;
    this.sorted = {};
  }

  render(box) {
    const { board } = this.app;
    const main = this.board(board.boards[0], true);
    const scatterCard = this.tradeoff();
    box.replaceChildren(
      verdict(board.verdict),
      ...this.warnings(),
      make("div", scatterCard ? "two" : "", main, scatterCard),
      ...board.boards.slice(1).map((one) => this.board(one, false)),
      this.parts(),
    );
  }

  warnings() {
    return this.app.board.warnings.map((one) => make("p", "warning", make("strong", "", "Warning: "), foreign("span", "", `${plain(one)}.`)));
  }

  // Rows in the order of a column: places by default, which ties are drawn in.
  order(group, key) {
    const { board } = this.app;
    const sort = this.sorted[key];
    const rows = board.models.map((_, number) => number).filter((model) => board.models[model].run !== null || group.scorers.some((one) => board.estimates[one][model]));
    if (!sort) return rows;
    const value = {
      model: (model) => board.models[model].label.toLowerCase(),
      covered: (model) => -(group.covered[model] ?? -1),
      decides: (model) => -(this.decides(model) ?? -Infinity),
    }[sort.column] ?? ((model) => -(board.estimates[sort.column][model]?.value ?? -Infinity));
    const sign = sort.down ? 1 : -1;
    return rows.sort((a, b) => {
      const [x, y] = [value(a), value(b)];
      if (x === Infinity || y === Infinity) return (x === Infinity) - (y === Infinity);
      return sign * (x < y ? -1 : x > y ? 1 : 0) || a - b;
    });
  }

  head(group, key, words_, column, name = "") {
    const sort = this.sorted[key];
    const now = column === null ? !sort : sort?.column === column;
    const cell = make("th", name);
    cell.scope = "col";
    const down = now && sort ? !sort.down : true;
    const element = button(words_, () => {
      this.sorted[key] = column === null ? undefined : { column, down };
      const fresh = this.board(group, group === this.app.board.boards[0]);
      cell.closest(".card").replaceWith(fresh);
      fresh.querySelector(`[data-column="${column}"]`)?.focus();
    }, "sort");
    element.dataset.column = column;
    cell.append(element);
    if (now && sort) cell.setAttribute("aria-sort", sort.down ? "descending" : "ascending");
    else if (now) cell.setAttribute("aria-sort", "ascending");
    return cell;
  }

  board(group, ranked) {
    const { board } = this.app;
    const key = group.title;
    const [lead, rest] = ranked ? [board.headline, group.scorers.filter((one) => one !== board.headline)] : [null, group.scorers];
    const places = ranked && board.ranking.ranked;
    const decides = places && (board.ranking.uneven ? `on\u00a0${board.ranking.ground.toLocaleString("en")}` : board.ranking.by_zero ? "as zero" : "");
    const heads = [];
    if (places) heads.push(this.head(group, key, "rank", null, "rank"), make("th", "tie", make("span", "hidden", "tied")));
    heads.push(this.head(group, key, "model", "model", "model"));
    if (lead !== null) {
      const scorer = board.scorers[lead];
      heads.push(this.head(group, key, scorer.column, lead, "num"));
      heads.push(make("th", "axis", axisHead(scorer)));
    }
    if (decides) heads.push(this.head(group, key, decides, "decides", "num"));
    for (const one of rest) heads.push(this.head(group, key, board.scorers[one].column, one, "num"));
    heads.push(this.head(group, key, group.coverage, "covered", "num"));
    const order = this.order(group, key);
    const drawn = places && !this.sorted[key] ? tieLines(order.map((model) => board.ranking.places[model]?.tied ?? "")) : null;
    const rows = order.map((model, place) => {
      const one = board.models[model];
      const cells = [];
      if (places) cells.push(make("td", "rank", this.rank(model)), drawn ? drawn[place] : make("td", "tie", board.ranking.places[model]?.tied || ""));
      cells.push(this.name(model));
      if (lead !== null) {
        const cell = board.estimates[lead][model];
        cells.push(this.score(lead, model, "num lead"), make("td", "axis", this.filtering(intervalBar(cell, board.scorers[lead]), model)));
      }
      if (decides) cells.push(make("td", `num${board.ranking.uneven && board.scorers[lead].best === model ? " best" : ""}`, fixed(this.decides(model), board.scorers[lead].digits)));
      for (const scorer of rest) cells.push(this.score(scorer, model, "num", true));
      cells.push(make("td", "num soft", this.covered(group, model)));
      return make("tr", one.control ? "control" : one.run === null ? "published" : "", ...cells);
    });
    const title = lead === null ? plain(group.title) : `${plain(board.scorers[lead].label)}, 0 to ${board.scorers[lead].max}`;
    const line = lead === null ? group.note : `Mark: score. Band: 95 % interval over clips. ${places ? "Rows that a line joins share a letter: they cannot be told apart. In brackets are the places that the tests leave open. ▲: better than every other, by tests. " : ""}${group.note}`;
    const box = card(foreign("span", "", title), line, table(`${plain(group.title)}, table`, heads, rows, places ? "board ranked" : "board"));
    if (ranked) box.append(...this.told());
    return box;
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

  name(model) {
    const one = this.app.board.models[model];
    const key = draw("svg", { class: `key c${this.app.colour(model)}`, width: 14, height: 14, viewBox: "-7 -7 14 14", "aria-hidden": "true" }, draw("path", { d: SHAPES[this.app.colour(model) % SHAPES.length] }));
    const label = foreign("span", "", plain(one.label));
    const head = rowHead(key);
    if (one.run === null) head.append(label);
    else head.append(this.filtering(button(label, () => {}, "link"), model));
    head.append(make("small", "", one.control ? "control" : plain(one.provider)));
    if (one.departures) head.append(make("small", "departs", `departs from the paper: ${plain(one.departures)}`));
    head.className = "model";
    return head;
  }

  who(model, category) {
    const label = foreign("span", "", plain(this.app.board.models[model].label));
    if (this.app.board.models[model].run === null) return make("span", "who", label);
    return this.filtering(button(label, () => {}, "link who"), model, { category });
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

  score(scorer, model, name, mini = false) {
    const { board } = this.app;
    const about = board.scorers[scorer];
    const cell = board.estimates[scorer][model];
    // Where models have scores of different samples, the column that ranks them has the mark.
    const best = about.best === model && !(board.ranking.uneven && scorer === board.headline && name.includes("lead"));
    const shown = make("td", `${name}${best ? " best" : ""}`, fixed(cell?.value, about.digits));
    const ends = span(cell, about.digits);
    if (ends) shown.append(make("small", "", ends));
    if (mini && cell) shown.append(intervalBar(cell, about));
    return shown;
  }

  covered(group, model) {
    const number = group.covered[model];
    const { total } = this.app.board.models[model];
    if (number === undefined || number === null) return "–";
    return `${number.toLocaleString("en")}/${total.toLocaleString("en")}`;
  }

  // What the tests say in words, and every pair for whoever wants it.
  told() {
    const { board } = this.app;
    const parts = [];
    const { pairs, places } = board.ranking;
    const label = (model) => plain(board.models[model].label);
    const digits = board.scorers[board.headline].digits;
    if (pairs.length) {
      const ranked = places.map((one, model) => [one.rank, model]).filter(([rank]) => rank !== null).sort((a, b) => a[0] - b[0]).map(([, model]) => model);
      const apart = ranked.slice(1).filter((model, place) => pairs.some((one) => one.different && one.first === ranked[place] && one.second === model)).length;
      parts.push(make("p", "told", make("b", "", `${apart} of ${count(ranked.length - 1, "pair")}`), ` of neighbouring ranks ${apart === 1 ? "differs" : "differ"} significantly on ${count(board.ranking.ground, "sample")}.`));
      const rows = pairs.map((one) =>
        row(rowHead(`${label(one.first)} over ${label(one.second)}`), fixed(one.difference, digits), one.n.toLocaleString("en"), one.p_adjusted === null ? "not tested" : one.p_adjusted < 0.0001 ? "< 0.0001" : one.p_adjusted.toFixed(4), one.different ? "yes" : "no"),
      );
      parts.push(fold("Every pair", table("Every pair, table", ["models", "difference", "samples", "p, corrected", "significant"], rows)));
    }
    if (board.notes.length) parts.push(fold("Notes", list(board.notes.map(plain), "notes soft")));
    if (parts.length && board.notes.length < 4) parts.at(-1).open = true;
    const way = `${board.ranking.ranked ? "Ranked" : "Sorted"} by ${plain(board.scorers[board.headline].label)}. Intervals: ${board.method}, left out for fewer than ${board.fewest} samples.`;
    parts.push(make("p", "soft", way));
    return parts;
  }

  tradeoff() {
    const { board } = this.app;
    const [x, y] = ["accuracy", "hallucination"].map((name) => board.scorers.findIndex((one) => one.judge !== null && one.judge === board.judge_of_both && one.column === name));
    if (x < 0 || y < 0) return null;
    const points = this.app.points(x, y);
    if (!points.length) return null;
    const axis = (name) => ({ name, low: 0, high: 10, shown: (value) => `${value}` });
    const svg = scatter("Accuracy against hallucination of each model, with 95 percent intervals; the table has the numbers", points, { x: axis("accuracy"), y: axis("hallucination (10 = nothing invented)") });
    return card("Accuracy against hallucination", `By ${plain(board.judge_of_both)}. Right and up is better; lines are 95 % intervals.`, svg, this.legend());
  }

  legend() {
    const { board } = this.app;
    const items = board.providers.map((name, number) => make("li", "", draw("svg", { class: `key c${number % 8}`, width: 14, height: 14, viewBox: "-7 -7 14 14", "aria-hidden": "true" }, draw("path", { d: SHAPES[(number % 8) % SHAPES.length] })), foreign("bdi", "", plain(name))));
    const legend = make("ul", "legend", ...items);
    legend.setAttribute("aria-label", "Providers");
    return legend;
  }

  // The headline by category, all on one axis.
  parts() {
    const { board } = this.app;
    const scorer = board.scorers[board.headline];
    const panels = board.parts.map((part) => {
      const rows = board.models.map((one, model) => {
        const cell = part.cells[model];
        const line = make("div", one.control ? "part control" : "part", this.who(model, part.category), this.filtering(intervalBar(cell, scorer), model, { category: part.category }), make("span", "num", fixed(cell?.value, scorer.digits)));
        line.title = spoken(plain(one.label), cell, scorer.digits);
        return line;
      });
      const few = part.cells.some((cell) => cell && !cell.interval && !cell.printed);
      return make("div", "panel", make("h3", "", foreign("bdi", "", plain(part.category)), make("small", "", ` ${count(part.samples, "sample")}${few ? ", too few for an interval" : ""}`)), ...rows);
    });
    return card("By category", `${plain(scorer.label)} from 0 to ${scorer.max}; a bar leads to its samples.`, make("div", "panels", ...panels));
  }
}

function axisHead(scorer) {
  const ends = make("span", "ends", make("i", "", "0"), make("i", "", `${scorer.max / 2}`), make("i", "", `${scorer.max}`));
  ends.setAttribute("aria-hidden", "true");
  return make("span", "", make("span", "hidden", "interval"), ends);
}

// A line down the side for every group of ties; groups that overlap stand side by side.
function tieLines(tied) {
  const letters = [...new Set(tied.flatMap((one) => one.split(" ").filter(Boolean)))];
  const shown = letters.filter((letter) => tied.filter((one) => one.split(" ").includes(letter)).length > 1);
  return tied.map((one, place) => {
    const own = one.split(" ");
    const lines = shown.map((letter) => {
      if (!own.includes(letter)) return make("i", "none");
      const [above, below] = [tied[place - 1], tied[place + 1]].map((other) => other?.split(" ").includes(letter));
      return make("i", `${above ? "" : "first "}${below ? "" : "last"}`);
    });
    const cell = make("td", "tie", make("span", "lines", ...lines), make("span", "hidden", one ? `tied: ${one}` : ""));
    return cell;
  });
}
