// One sample in full: its sound, its references, and the models side by side.

// What people wrote; or the options of a question, which its reference holds with the right one first.
function written(board, clip, marks = () => []) {
  const options = clip.references.length === 1 && board.scorers.some((one) => one.label === "choice") ? clip.references[0].split(" | ") : [];
  const isChoice = options.length > 1 && options.every((one) => /^[A-Z]\. \S/.test(one));
  const texts = isChoice ? [...options].sort() : clip.references;
  const lines = texts.map((text) => foreign("li", "text", ...marked(text, marks(text)), ...(isChoice && text === options[0] ? [" ", make("span", "badge", "right")] : [])));
  return { isChoice, element: make("div", "refs", make("h3", "", isChoice ? "Options" : "People wrote"), make("ul", "", ...lines)) };
}

class ClipView {
  constructor(app, box, actions) {
    this.app = app;
    this.box = box;
    this.actions = actions;
    this.clip = null;
    this.player = null;
  }

  get id() {
    return this.clip?.id ?? null;
  }

  close() {
    this.player?.close();
    this.player = null;
    this.clip = null;
    this.box.replaceChildren();
  }

  // A link to what is not here, such as a sample of another benchmark.
  missing(id, first) {
    this.close();
    const say = make("div", { role: "alert" }, make("h2", { tabIndex: -1 }, "No such sample"), make("p", "", "There is no sample ", foreign("b", "", beginning(plain(id), 80)), " here: the link may be of another benchmark, or of other runs."), button("Show the first sample", first));
    this.box.replaceChildren(say);
  }

  show(clip, query) {
    if (clip.id !== this.id) {
      this.player?.close();
      this.player = new Player(clip);
    }
    this.clip = clip;
    this.query = query;
    const references = written(this.app.board, clip, (text) => hits(text, query.search));
    const asked = fold("What was asked", foreign("p", "soft text", clip.instruction), clip.details ? foreign("p", "soft text", clip.details) : null);
    this.box.replaceChildren(this.header(clip), this.player.element, references.element, this.answers(clip, references.isChoice), asked);
  }

  header(clip) {
    const title = foreign("h2", "", ...marked(plain(clip.id), hits(plain(clip.id), this.query.search)));
    title.tabIndex = -1;
    const between = make("nav", { ariaLabel: "Between samples" }, button("←", () => this.actions.step(-1), "", "Previous sample"), button("→", () => this.actions.step(1), "", "Next sample"), button("Back to the list", () => this.actions.back(), "back"));
    const facts = [plain(clip.category), clip.seconds ? `${clip.seconds.toFixed(1)} s` : "", clip.rate ? `${(clip.rate / 1000).toLocaleString("en")} kHz` : "", plain(clip.file)].filter(Boolean);
    const link = make("a", { href: `#clip=${encodeURIComponent(clip.id.toWellFormed())}` }, "Link to this sample");
    return make("header", "", make("div", "", title, between), make("p", "soft", foreign("bdi", "", `${facts.join(" · ")} · `), link));
  }

  // Words are held to the references but the one that an answer is itself; an answer to a question, to none.
  answers(clip, isChoice) {
    const others = ({ note }) => clip.references.filter((_, place) => isChoice || !note.startsWith(`reference ${place + 1}, `));
    const cards = make("div", "cards", ...this.query.shown.map((model) => this.card(model, clip.answers[model], isChoice ? undefined : new References(others(clip.answers[model])).read(clip.answers[model].text))));
    if (!this.query.shown.length) cards.append(make("p", "soft", "No model is chosen."));
    const legend = make("p", "soft legend-words", make("mark", "match", "in the references"), " ", make("mark", "extra", "not in them"), " ", make("span", "miss", "left out"));
    return make("div", "", make("div", "answers-head", make("h3", "", "Models said"), isChoice ? null : legend), cards);
  }

  // What a model said, with `read.ranges` of it marked; `side` is of two that are compared.
  card(model, answer, read = { ranges: [], missing: [] }, side = "") {
    const { board } = this.app;
    const one = board.models[model];
    const box = make("section", `answer${one.control ? " control" : ""}${side && ` side-${side}`}`);
    const badge = side ? make("span", `badge side-${side}`, side.toUpperCase()) : null;
    const title = make("h4", "", badge, foreign("span", "", plain(one.label)), make("span", answer.status === "ok" ? "badge" : "badge bad", answer.status));
    box.append(title);
    if (answer.text) box.append(foreign("p", "text", ...marked(answer.text, [...read.ranges, ...hits(answer.text, this.query.search)])));
    if (answer.note) box.append(make("p", "soft", `(${answer.note})`));
    if (answer.error) box.append(foreign("p", "warning text", answer.error));
    if (answer.text && read.missing.length) box.append(make("p", "misses", make("span", "hidden", "Left out: "), ...read.missing.slice(0, 8).flatMap((word) => [foreign("span", "miss", beginning(word, 40)), " "])));
    box.append(...this.scores(answer));
    if (answer.verdicts.length) {
      const said = answer.verdicts.map(([judge, words_]) => make("div", "said", make("b", "", `${plain(judge)}: `), foreign("span", "text", ...marked(words_, hits(words_, this.query.search)))));
      box.append(...(answer.verdicts.length === 1 ? said : [fold(`What ${answer.verdicts.length} judges said`, ...said)]));
    }
    const spent = [];
    if (answer.latency > 0) spent.push(`${answer.latency.toFixed(2)} s`);
    if (isNumber(answer.cost)) spent.push(dollars(answer.cost));
    if (spent.length) box.append(make("p", "soft", spent.join(" · ")));
    return box;
  }

  // Three bars, of what the models are ranked by; every other score is a fold away.
  scores(answer) {
    const { board } = this.app;
    const judge = board.scorers[this.query.measure].judge;
    const known = board.scorers.map((_, number) => number).filter((number) => isNumber(answer.scores[number]));
    const own = known.filter((number) => board.scorers[number].judge === judge && number !== this.query.measure);
    const first = [this.query.measure, ...own].filter((number) => known.includes(number)).slice(0, judge === null ? 3 : 4);
    const rest = known.filter((number) => !first.includes(number));
    const line = (number) => {
      const scorer = board.scorers[number];
      const fill = make("i");
      fill.style.width = `${100 * Math.min(1, answer.scores[number] / scorer.max_value)}%`;
      return make("div", number === this.query.measure ? "dim now" : "dim", foreign("span", "", plain(judge !== null && scorer.judge === judge ? scorer.column : scorer.label)), make("b", "", fill), make("span", "num", answer.scores[number].toFixed(scorer.digits)));
    };
    const shown = [make("div", "dims", ...first.map(line))];
    if (rest.length) shown.push(fold(count(rest.length, "more score"), make("div", "dims", ...rest.map(line))));
    return first.length || rest.length ? shown : [];
  }
}
