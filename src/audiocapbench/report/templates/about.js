// The views beside the samples: scorers on trial, what it cost and what failed, and how it was made.

class TrialsView extends View {
  render(box) {
    const { board } = this.app;
    const cards = [];
    if (board.correlations?.length) cards.push(this.correlations());
    if (board.checks?.length) cards.push(this.checks());
    if (this.app.source.trialRuns?.length) cards.push(trialRuns(this.app.source.trialRuns));
    if (!cards.length) cards.push(card("No scorer was on trial here", "With a judge and a metric on the same answers this view shows how far they agree; 'audiocapbench judges check' adds how reliable a judge is, 'audiocapbench meta' how far scorers agree with people."));
    box.replaceChildren(...cards);
  }

  correlations() {
    const shown = (value) => (isNumber(value) ? (Math.round(100 * value) / 100 + 0).toFixed(2) : "–");
    const cell = ([spearman, kendall]) => {
      const bar = make("div", "corr");
      const fill = make("i", spearman < 0 ? "below" : "");
      if (isNumber(spearman)) fill.style.width = `${50 * Math.abs(spearman)}%`;
      if (spearman < 0) fill.style.right = "50%";
      bar.append(fill);
      return make("td", "num", shown(spearman), isNumber(kendall) ? make("small", "", `τ ${shown(kendall)}`) : null, isNumber(spearman) ? bar : null);
    };
    const { correlations } = this.app.board;
    const several = new Set(correlations.map((one) => one.judge)).size > 1;
    const rows = correlations.map((one) => row(rowHead(plain(one.metric)), ...(several ? [plain(one.judge)] : []), cell(one.answers), cell(one.within), cell(one.models), make("td", "num", one.pairs.toLocaleString("en"))));
    const heads = ["metric", ...(several ? ["judge"] : []), ...["all answers", "within models", "models", "answers with both"].map((one) => make("th", "num", one))];
    return card(
      several ? "Do the metrics agree with the judges?" : foreign("span", "", `Do the metrics agree with ${plain(correlations[0].judge)}?`),
      "Spearman's rank correlation between a metric and a judge's overall score, and below it Kendall's τ-b: over all answers; over each model's own answers, so that differences between models do not count; and over the models' scores, for four models or more.",
      table("Correlations, table", heads, rows, "board"),
    );
  }

  checks() {
    const rows = this.app.board.checks.map((one) => row(rowHead(plain(one.judge)), plain(one.benchmark), one.checked ? "yes" : "no", make("td", one.warning ? "warning words" : "words", one.warning ? plain(one.warning) : one.checked ? "nothing to warn of" : "'audiocapbench judges check' does it")));
    return card("How reliable are the judges?", "What their own checks found, on this benchmark or on another.", table("Checks of judges, table", ["judge", "benchmark", "checked", "found"], rows, "board"));
  }
}

// What served trials, checks of judges and annotation.
function trialRuns(runs) {
  const rows = runs.map((one) => row(rowHead(plain(one.label)), plain(one.benchmark), make("td", "num", `${one.asked.toLocaleString("en")}/${one.total.toLocaleString("en")}`), make("td", "words", Object.entries(one.statuses).map(([name, number]) => `${number.toLocaleString("en")} ${name}`).join(", ")), make("td", "num", dollars(one.cost)), one.begun));
  return card("Runs for trials, checks and annotation", "What was asked for something else than a benchmark's captions.", table("Runs of trials, table", ["model", "trial", make("th", "num", "asked"), "statuses", make("th", "num", "cost"), "begun"], rows, "board"));
}

const STATUS_ORDER = ["ok", "empty", "refused", "filtered", "truncated", "unparsed", "failed", "skipped"];

// The board again, with how answers ended, three policies for failures, and what it took.
class CostsView extends LeaderboardView {
  render(box) {
    this.whole = this.app.whole;
    this.body = box;
    this.fill();
  }

  fill() {
    const { board } = this.app;
    const runs = board.rows.map((model) => board.models[model]).filter((one) => one.run !== null);
    const sum = (name) => runs.reduce((total, one) => (isNumber(one[name]) ? (total ?? 0) + one[name] : total), null);
    const failed = runs.reduce((total, one) => total + Object.entries(one.statuses).reduce((all, [name, number]) => all + (name === "ok" || name === "empty" ? 0 : number), 0), 0);
    const tiles = make("div", "tiles", tile(dollars(sum("cost"), runs.some((one) => one.cost_estimated)), "for answers"), tile(dollars(sum("judging")), "for judging"), tile(failed.toLocaleString("en"), failed === 1 ? "failure" : "failures"), tile((sum("asked") ?? 0).toLocaleString("en"), "asked"));
    const policies = `${plain(board.scorers[board.headline].label)} under three policies: over what was answered, as published; with every failure as 0; and between the worst and the best that the failures could have been.`;
    const shown = this.table();
    this.body.replaceChildren(tiles, make("div", "tools", make("p", "soft", policies), shown.querySelector(".share")), shown);
  }

  shownColumns() {
    const { ranked, by_zero: byZero, uneven } = this.app.board.ranking;
    const zero = ranked && byZero && !uneven ? [] : ["zero"]; // It stands beside the score where it ranks.
    const wanted = ["statuses", ...zero, "bounds", "spent cost", "spent judging", "cost", "time"];
    return this.columns().filter((one) => wanted.includes(one.key));
  }
}

function tile(number, words_) {
  return make("div", "tile", make("b", "", number), make("span", "", words_));
}

class MadeView extends View {
  render(box) {
    const { board } = this.app;
    const settings = this.app.runs().map((model) => {
      const one = board.models[model];
      return row(make("td", "num", String(one.run)), rowHead(plain(one.label)), one.begun, make("td", "words", foreign("span", "", plain(one.parameters) || "–")), make("td", "words", foreign("span", "", plain(one.audio))), foreign("td", "", plain(one.made)));
    });
    const facts = [
      ["Benchmark", plain(board.benchmark)],
      ["Samples", `${board.samples.toLocaleString("en")} of ${count(board.clips, "clip")}${board.missing_clips ? `; ${count(board.missing_clips, "clip")} of the benchmark are missing from the folder` : ""}`],
      ["Data", board.datasets.join(", ")],
      ["Asked", board.asked],
      ["Intervals", `95 % over clips: ${board.method}; none for fewer than ${board.fewest} samples`],
      ["Made by", `AudioCapBench ${board.version}`],
    ];
    const sheet = make("dl", "facts", ...facts.flatMap(([name, value]) => [make("dt", "", name), foreign("dd", "", value)]));
    const notes = board.notes.length ? card("Notes", "What a reader must know of the ranks and numbers.", list(board.notes.map(plain), "notes")) : null;
    box.replaceChildren(
      make("div", "two even", card("Facts", "", sheet), card("Signatures", "How each number was made.", make("ul", "signatures", ...board.signatures.map((one) => make("li", "", foreign("code", "", plain(one))))))),
      card("Settings of the runs", "", table("Settings of the runs, table", [make("th", "num", "run"), "model", "begun", "parameters", "audio", "made by"], settings, "board")),
      ...(notes ? [notes] : []),
    );
  }
}
