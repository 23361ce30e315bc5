// Two models side by side: their scores, the samples on which they differ most, and their answers word by word.

const MOST_ROWS = 200;

class CompareView extends View {
  models() {
    const { board, state } = this.app;
    const runs = this.app.runs();
    const find = (name, other) => runs.find((model) => board.models[model].label === state.get(name)) ?? other;
    const real = runs.filter((model) => !board.models[model].control);
    const [first, second] = [...real, ...runs.filter((model) => board.models[model].control)];
    const a = find("a", first);
    return [a, find("b", a === second ? first : second)];
  }

  async render(box) {
    const { board } = this.app;
    if (this.app.runs().length < 2) {
      box.replaceChildren(card("Compare", "Two models are needed here; this page has one."));
      return;
    }
    const [a, b] = this.models();
    const asked = (this.asked = {});
    const measure = board.headline;
    const query = { search: "", category: "", status: "", measure, model: ANY, low: null, high: null, sort: "differ", shown: [a, b] };
    const [duel, page] = await Promise.all([this.app.source.duel(a, b, measure), this.app.source.page(query, 0, MOST_ROWS)]);
    if (asked !== this.asked) return;
    this.samples = make("div", "moved");
    this.detail?.close();
    const beside = make("section", "card beside");
    beside.setAttribute("aria-label", "The chosen sample");
    this.detail = new DuelView(this.app, beside);
    [this.verdict, this.every] = [make("p"), this.scores(a, b)];
    box.replaceChildren(this.chooser(a, b), this.verdict, make("div", "two", this.every, this.duel(a, b, duel)), make("div", "halves", this.moved(a, b, page), beside));
    this.test(a, b, asked);
    const first = page.rows.find((one) => one.id === this.app.state.get("clip")) ?? page.rows[0];
    if (first) await this.open(first.id, a, b, false);
  }

  chooser(a, b) {
    const { board } = this.app;
    const models = this.app.runs().map((model) => [plain(board.models[model].label), board.models[model].label]);
    const select = (name, chosen, words_) => make("label", `side-${name}`, make("span", "", words_), chooser(models, board.models[chosen].label, (value) => this.app.state.set({ [name]: value })));
    const swap = button("⇄", () => this.app.state.set({ a: board.models[b].label, b: board.models[a].label }), "", "Swap the two models");
    return make("div", "card chooser", select("a", a, "A"), swap, select("b", b, "B"));
  }

  // Scores of both, and what the tests say of them when that is known.
  async test(a, b, asked) {
    const pair = a === b ? null : await this.app.source.compared(a, b);
    if (asked !== this.asked) return;
    this.verdict.replaceWith(verdict(pair?.verdict));
    this.every.replaceWith(this.scores(a, b, pair));
  }

  scores(a, b, pair) {
    const { board } = this.app;
    const signed = (value, digits) => (isNumber(value) ? `${value >= 0 ? "+" : "−"}${Math.abs(value).toFixed(digits)}` : "–");
    const rows = board.scorers.map((scorer, number) => {
      const cells = [a, b].map((model) => board.estimates[number][model]);
      if (!cells[0] && !cells[1]) return null;
      const both = make("td", "axis", ...cells.map((cell, side) => make("div", `side-${"ab"[side]}`, intervalBar(cell, scorer))));
      const tested = pair?.rows.find((one) => one.scorer === scorer.label);
      const gap = pair ? tested?.difference : cells[0] && cells[1] ? cells[1].value - cells[0].value : null;
      const ends = tested?.interval?.map((end) => signed(end, scorer.digits)).join(" to ");
      const numbers = cells.map((cell, side) => {
        if (tested?.zero) return make("td", "num", fixed(tested.zero[side], scorer.digits), make("small", "", "failures as 0"));
        return make("td", "num", fixed(cell?.value, scorer.digits), cell?.interval ? make("small", "", span(cell, scorer.digits)) : null);
      });
      return row(rowHead(plain(scorer.label)), numbers[0], numbers[1], both, make("td", "num", signed(gap, scorer.digits), ends ? make("small", "", ends) : null), make("td", "num", chance(tested?.p)));
    });
    const heads = ["score", make("th", "num", make("span", "badge side-a", "A")), make("th", "num", make("span", "badge side-b", "B")), make("th", "axis", make("span", "hidden", "intervals")), make("th", "num", "B − A"), make("th", "num", "p")];
    const runs = [a, b].map((model) => board.models[model].run).join(" ");
    const line = pair?.verdict ? "B − A is over the samples that are settled in both, with a 95 % interval of its own; p is corrected: not for the score of the verdict, for the others over their rows." : pair ? `B − A is as the board tests it, and p is corrected over all of its pairs; “audiocapbench compare ${runs}” has intervals too.` : pair === undefined ? "The differences are being tested." : `Not tested on this page: “audiocapbench compare ${runs}” does.`;
    return card("Every score", line, table("Scores of both models, table", heads, rows.filter(Boolean), "board"));
  }

  duel(a, b, found) {
    const { board } = this.app;
    const all = found.wins + found.ties + found.losses;
    const bar = stacked([["better by A", found.wins, "side-a"], ["equal", found.ties, "even"], ["better by B", found.losses, "side-b"]], "Samples");
    const line = (name, number, words_) => make("li", name, make("b", "", number.toLocaleString("en")), ` ${words_}`, make("small", "", all ? ` ${((100 * number) / all).toFixed(0)} %` : ""));
    return card(
      "Sample by sample",
      `${plain(board.scorers[board.headline].label)} on ${count(all, "sample")} that both have.`,
      bar,
      share("Sample by sample", () => [["samples", "count"], ["better by A", `${found.wins}`], ["equal", `${found.ties}`], ["better by B", `${found.losses}`]]),
      make("ul", "duel", line("side-a", found.wins, "better by A"), line("even", found.ties, "equal"), line("side-b", found.losses, "better by B")),
    );
  }

  moved(a, b, page) {
    const { board } = this.app;
    const scorer = board.scorers[board.headline];
    this.samples.replaceChildren(
      ...page.rows.map((one) => {
        const [x, y] = one.scores;
        const gap = isNumber(x) && isNumber(y) ? y - x : null;
        const element = button("", () => this.open(one.id, a, b, true), "sample");
        element.dataset.id = one.id;
        const sign = gap === null ? "" : gap > 0 ? "side-b" : gap < 0 ? "side-a" : "even";
        const size = make("i", sign);
        size.style.width = `${gap === null ? 0 : (50 * Math.abs(gap)) / scorer.max}%`;
        if (gap !== null && gap < 0) size.style.right = "50%";
        element.append(foreign("span", "name", beginning(plain(one.id), 60)), make("span", "gap", size), make("span", "num", gap === null ? "–" : `${gap >= 0 ? "+" : "−"}${Math.abs(gap).toFixed(scorer.digits)}`));
        return element;
      }),
    );
    const line = page.total > MOST_ROWS ? `The ${MOST_ROWS} of ${count(page.total, "sample")} with the largest difference; right is better by B.` : "The largest difference first; right is better by B.";
    return card("Where they differ", line, this.samples);
  }

  async open(id, a, b, wanted) {
    const asked = this.asked;
    const clip = await this.app.source.clip(id);
    if (asked !== this.asked || clip === null) return;
    if (wanted) this.app.state.set({ clip: id }, { quiet: true });
    for (const one of this.samples.children) one.setAttribute("aria-current", String(one.dataset.id === id));
    this.detail.show(clip, { search: "", measure: this.app.board.headline, shown: [a, b] });
  }
}

// The chosen sample, and what only one of the two models says of it.
class DuelView extends ClipView {
  header(clip) {
    const link = make("a", "", "Open in the explorer");
    link.href = this.app.state.address({ clip: clip.id }, "explore");
    return make("header", "", foreign("h2", "", plain(clip.id)), make("p", "soft", link));
  }

  answers(clip) {
    const { shown } = this.query;
    const only = differing(...shown.map((model) => clip.answers[model].text));
    const cards = shown.map((model, side) => this.card(model, clip.answers[model], { ranges: only[side], missing: [] }, "ab"[side]));
    return make("div", "", make("p", "soft", "Words that only one of the two says are ", make("mark", "only", "marked"), "."), make("div", "cards", ...cards));
  }
}
