// The views beside the samples: scorers on trial, and how it was made.

class TrialsView extends View {
  render(box) {
    const tables = this.app.board.trials ?? [];
    if (tables.length) box.replaceChildren(...tables.map((one) => make("section", "card", ...shownTable(one))));
    else box.replaceChildren(card("No scorer was on trial here", "With a judge and a metric on the same answers this view shows how far they agree; 'audiocapbench judges check' adds how reliable a judge is, 'audiocapbench meta' how far scorers agree with people."));
  }
}

class MadeView extends View {
  render(box) {
    const { board } = this.app;
    const settings = this.app.runs().map((model) => {
      const one = board.models[model];
      return row(make("td", "num", String(one.run)), rowHead(plain(one.label)), one.begun, make("td", "words", foreign("span", "", plain(one.parameters) || "–")), make("td", "words", foreign("span", "", plain(one.audio))), foreign("td", "", plain(one.made)));
    });
    const way = `How each number was made, by AudioCapBench ${board.version}. Intervals: ${board.method}, over clips; none for fewer than ${board.fewest} samples.`;
    const missing = board.missing_clips ? `${count(board.missing_clips, "clip")} of the benchmark ${board.missing_clips === 1 ? "is" : "are"} not in the folder.` : "";
    box.replaceChildren(
      card("Signatures", way, make("ul", "signatures", ...board.signatures.map((one) => make("li", "", foreign("code", "", plain(one)))))),
      card("Settings of the runs", missing, table("Settings of the runs, table", [make("th", "num", "run"), "model", "begun", "parameters", "audio", "made by"], settings, "board")),
    );
  }
}
