// Two models side by side: their scores, the samples on which they differ most, and their answers word by word.

const signed = (value, digits) => (isNumber(value) ? `${Number(value.toFixed(digits)) < 0 ? "−" : "+"}${Math.abs(value).toFixed(digits)}` : "–");

class PairList extends MatrixList {
  apart([first, second]) {
    return signed(isNumber(first) && isNumber(second) ? second - first : null, this.query.scorer.digits);
  }
}

class CompareView extends View {
  models() {
    const { board, state } = this.app;
    const runs = this.app.runs();
    const order = [...runs].sort((one, other) => board.models[one].control - board.models[other].control);
    const find = (name, models) => models.find((model) => board.models[model].label === state.get(name)) ?? models[0];
    const a = find("a", order);
    return [a, find("b", order.filter((model) => model !== a))]; // None beside itself.
  }

  async render(box) {
    const { board, source, state } = this.app;
    if (this.app.runs().length < 2) {
      box.replaceChildren(card("Compare", "Two models are needed here; this page has one."));
      return;
    }
    const shown = this.models();
    const asked = (this.asked = {});
    const beside = make("section", { className: "card beside", ariaLabel: "The chosen sample" });
    this.detail?.close();
    this.detail = new DuelView(this.app, beside);
    const grid = matrixGrid("compare-list", `Samples by how far ${plain(board.scorers[board.headline].label)} differs`, board, shown, "B − A");
    this.list = new PairList(source, grid.lastChild, grid.lastChild.firstChild, (id) => this.open(id, shown, true), 27);
    this.list.opened = state.get("clip") || null;
    [this.verdict, this.every] = [make("p"), this.scores(...shown)];
    box.replaceChildren(this.chooser(...shown), this.verdict, this.every, make("div", "halves", card("Where they differ", "The largest difference first.", make("div", "scroll", grid)), beside));
    this.test(...shown, asked);
    const page = await this.list.show(matrixQuery(board, shown, "differ"));
    const first = page && this.list.at(this.list.active);
    if (first) await this.open(first.id, shown, false);
  }

  chooser(a, b) {
    const { board } = this.app;
    const models = (other) => this.app.runs().filter((model) => model !== other).map((model) => [plain(board.models[model].label), board.models[model].label]);
    const select = (name, chosen, other) => make("label", `side-${name}`, make("span", "", name.toUpperCase()), chooser(models(other), board.models[chosen].label, (value) => this.app.state.set({ [name]: value })));
    const swap = button("⇄", () => this.app.state.set({ a: board.models[b].label, b: board.models[a].label }), "", "Swap the two models");
    return make("div", "card chooser", select("a", a, b), swap, select("b", b, a));
  }

  // Scores of both, and what the tests say of them when that is known.
  async test(a, b, asked) {
    const pair = await this.app.source.compared(a, b);
    if (asked !== this.asked) return;
    this.verdict.replaceWith(verdict(pair?.verdict));
    this.every.replaceWith(this.scores(a, b, pair));
  }

  scores(a, b, pair) {
    const { board } = this.app;
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
    const untested = pair === undefined ? "The differences are being tested." : `Not tested on this page: “audiocapbench compare ${runs}” does.`;
    const line = pair ? "B − A is over the samples that are settled in both, with a 95 % interval of its own; p is corrected: not for the score of the verdict, for the others over their rows." : untested;
    return card("Every score", line, table("Scores of both models, table", heads, rows.filter(Boolean), "board"));
  }

  async open(id, shown, wanted) {
    const { asked } = this;
    const clip = await this.app.source.clip(id);
    if (asked !== this.asked || clip === null) return;
    if (wanted) this.app.state.set({ clip: id }, { quiet: true });
    this.detail.show(clip, { search: "", measure: this.app.board.headline, shown });
    await this.list.follow(id);
  }
}

// The chosen sample, and what only one of the two models says of it.
class DuelView extends ClipView {
  header(clip) {
    const link = make("a", { href: this.app.state.address({ clip: clip.id }, "explore") }, "Open in the explorer");
    return make("header", "", foreign("h2", "", plain(clip.id)), make("p", "soft", link));
  }

  answers(clip) {
    const { shown } = this.query;
    const only = differing(...shown.map((model) => clip.answers[model].text));
    const cards = shown.map((model, side) => this.card(model, clip.answers[model], { ranges: only[side], missing: [] }, "ab"[side]));
    return make("div", "", make("p", "soft", "Words that only one of the two says are ", make("mark", "only", "marked"), "."), make("div", "cards", ...cards));
  }
}
