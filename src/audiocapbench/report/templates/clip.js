// One clip in full: its audio and waveform, its references, and the models side by side.

const SVG = "http://www.w3.org/2000/svg";

class ClipView {
  constructor(report, box, actions) {
    this.report = report;
    this.box = box;
    this.actions = actions;
    this.hint = box.firstElementChild;
    this.clip = null;
    this.audio = null;
    this.address = null;
  }

  close() {
    this.silence();
    this.clip = null;
    this.box.replaceChildren(this.hint);
  }

  silence() {
    if (this.audio) this.audio.pause();
    this.audio = null;
    if (this.address) URL.revokeObjectURL(this.address);
    this.address = null;
  }

  show(clip, wish) {
    if (clip !== this.clip) {
      this.silence();
      this.clip = clip;
      this.sound = this.player(clip);
    }
    const { report } = this;
    const parts = [this.header(clip), this.facts(clip), this.sound];
    parts.push(make("h4", "", "References"));
    const references = make("ul");
    for (const text of report.references(clip)) {
      const item = make("li");
      item.append(foreign("div", "text", text));
      references.append(item);
    }
    parts.push(references);
    const asked = make("p", "soft", "Asked: ");
    asked.append(foreign("span", "text", report.text("instruction", clip)));
    parts.push(asked);
    const details = report.text("details", clip);
    if (details) parts.push(foreign("p", "soft text", details));
    parts.push(make("h4", "", "Answers"));
    const cards = make("div", "cards");
    for (const model of wish.shown) cards.append(this.card(model, clip, wish));
    if (!wish.shown.length) cards.append(make("p", "soft", "No model is chosen."));
    parts.push(cards);
    this.box.replaceChildren(...parts);
  }

  header(clip) {
    const header = make("header");
    const title = foreign("h3", "", this.report.id(clip));
    title.tabIndex = -1;
    const buttons = make("nav");
    buttons.setAttribute("aria-label", "Between samples");
    for (const [words, action] of [["← Previous", "previous"], ["Next →", "next"], ["Back to the list", "back"]]) {
      const button = make("button", "", words);
      button.type = "button";
      button.addEventListener("click", () => this.actions[action]());
      buttons.append(button);
    }
    header.append(title, buttons);
    return header;
  }

  facts(clip) {
    const { report } = this;
    const line = make("p", "soft");
    const facts = [report.category(clip), `${report.columns.seconds[clip].toFixed(1)} s`, `${report.columns.rate[clip].toLocaleString("en")} Hz`, report.text("file", clip)];
    line.append(foreign("bdi", "", `${facts.join(" · ")} · `));
    const link = make("a", "", "Link to this sample");
    link.href = `#clip=${encodeURIComponent(report.id(clip).toWellFormed())}`;
    line.append(link);
    return line;
  }

  player(clip) {
    const { report } = this;
    const sound = report.sound(clip);
    if (!sound) return make("p", "soft", "This report was made without audio; --audio link or embed adds it.");
    if (sound.missing) return foreign("p", "warning", `No audio: ${sound.missing}.`);
    const box = make("div", "sound");
    this.audio = make("audio");
    this.audio.controls = true;
    this.audio.setAttribute("aria-label", `Play ${report.id(clip)}`);
    if (sound.link) {
      this.audio.preload = "none";
      this.audio.src = sound.link;
    } else {
      const content = bytesOf(document.getElementById(`sound-${sound.number}`));
      this.address = URL.createObjectURL(new Blob([content], { type: sound.kind }));
      this.audio.src = this.address;
    }
    const audio = this.audio;
    box.append(audio, this.wave(sound.peaks, audio, report.columns.seconds[clip]));
    audio.addEventListener("error", () => this.unheard(box, sound));
    return box;
  }

  // The element says no more than that it failed; a file that is gone and one of an odd format look alike.
  unheard(box, sound) {
    if (box.querySelector(".warning")) return;
    const words = sound.link
      ? `The file is not at ${beginning(sound.link, 300)}; was the page moved? If it is there, this browser cannot play it.`
      : "This browser cannot play the file.";
    const line = foreign("p", "warning text", words);
    line.setAttribute("role", "alert");
    box.append(line);
  }

  wave(peaks, audio, seconds) {
    const count = peaks.length / 2;
    const svg = document.createElementNS(SVG, "svg");
    svg.setAttribute("class", "wave");
    svg.setAttribute("viewBox", `0 0 ${count} 256`);
    svg.setAttribute("preserveAspectRatio", "none");
    svg.setAttribute("aria-hidden", "true");
    const upper = [];
    const lower = [];
    for (let i = 0; i < count; i++) {
      // A hair of height keeps silence visible as a line.
      upper.push(`${i},${Math.min(254 - peaks[count + i], 126)}`);
      lower.push(`${i},${Math.max(256 - peaks[i], 130)}`);
    }
    const path = document.createElementNS(SVG, "path");
    path.setAttribute("d", `M${upper.join(" ")} L${lower.reverse().join(" ")}Z`);
    const now = document.createElementNS(SVG, "line");
    const place = () => {
      const x = (audio.currentTime / (Number.isFinite(audio.duration) ? audio.duration : seconds)) * count;
      for (const [name, value] of [["x1", x], ["x2", x], ["y1", 0], ["y2", 256]]) now.setAttribute(name, value);
    };
    place();
    audio.addEventListener("timeupdate", place);
    audio.addEventListener("seeked", place);
    svg.addEventListener("click", (event) => {
      const frame = svg.getBoundingClientRect();
      audio.currentTime = ((event.clientX - frame.left) / frame.width) * (Number.isFinite(audio.duration) ? audio.duration : seconds);
    });
    svg.append(path, now);
    return svg;
  }

  play() {
    if (!this.audio) return;
    if (this.audio.paused) this.audio.play().catch(() => {});
    else this.audio.pause();
  }

  card(model, clip, wish) {
    const { report } = this;
    const answer = report.answer(model, clip);
    const card = make("section", "card");
    const title = make("h4");
    title.append(foreign("span", "", report.models[model]));
    title.append(make("span", answer.status === "ok" ? "badge" : "badge bad", answer.status));
    card.append(title);
    if (answer.text) card.append(foreign("p", "text", answer.text));
    if (answer.note) card.append(make("p", "soft", `(${answer.note})`));
    if (answer.error) card.append(foreign("p", "warning text", answer.error));
    card.append(this.scores(model, clip, wish));
    for (let judge = 0; judge < report.judges.length; judge++) {
      const words = report.verdict(judge, model, clip);
      if (!words) continue;
      const said = make("div", "said");
      said.append(make("b", "", `${report.judges[judge]}: `), foreign("span", "text", words));
      card.append(said);
    }
    const spent = [];
    if (!Number.isNaN(answer.latency)) spent.push(`${answer.latency.toFixed(2)} s`);
    if (!Number.isNaN(answer.cost)) spent.push(`$${answer.cost.toFixed(5)}`);
    if (spent.length) card.append(make("p", "soft", spent.join(" · ")));
    return card;
  }

  scores(model, clip, wish) {
    const list = make("dl");
    this.report.measures.forEach((measure, number) => {
      const value = this.report.score(number, model, clip);
      if (Number.isNaN(value)) return;
      const now = number === wish.measure ? "now" : "";
      list.append(make("dt", now, measure.label), make("dd", now, value.toFixed(measure.digits)));
    });
    return list;
  }
}
