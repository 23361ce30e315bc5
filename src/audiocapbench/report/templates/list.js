// The list of clips: only the rows in sight exist. To assistive technology it is a listbox.

const ROW = 78;
const AHEAD = 4;

function make(tag, name, text) {
  const element = document.createElement(tag);
  if (name) element.className = name;
  if (text !== undefined) element.textContent = text;
  return element;
}

// Text from a dataset or a model: whichever way it runs, it stays in its own box.
function foreign(tag, name, text) {
  const element = make(tag, name, text);
  element.dir = "auto";
  return element;
}

function beginning(text, length) {
  return text.length > length ? `${Array.from(text.slice(0, 2 * length)).slice(0, length).join("")}…` : text;
}

class ClipList {
  constructor(report, box, spacer, open) {
    this.report = report;
    this.box = box;
    this.spacer = spacer;
    this.open = open;
    this.clips = [];
    this.active = 0;
    this.opened = null;
    this.rows = new Map();
    this.waiting = false;
    box.addEventListener("scroll", () => this.soon(), { passive: true });
    box.addEventListener("keydown", (event) => this.key(event));
    spacer.addEventListener("click", (event) => {
      const row = event.target.closest(".row");
      if (row) this.choose(Number(row.dataset.place));
    });
    new ResizeObserver(() => this.soon()).observe(box);
  }

  show(clips, wish) {
    const before = this.clips[this.active];
    this.clips = clips;
    this.wish = wish;
    this.active = Math.max(0, clips.indexOf(before));
    this.spacer.style.height = `${clips.length * ROW}px`;
    this.clear();
    this.reveal();
    this.draw();
  }

  clear() {
    for (const row of this.rows.values()) row.remove();
    this.rows.clear();
  }

  soon() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      this.draw();
    });
  }

  draw() {
    const first = Math.max(0, Math.floor(this.box.scrollTop / ROW) - AHEAD);
    const last = Math.min(this.clips.length, Math.ceil((this.box.scrollTop + this.box.clientHeight) / ROW) + AHEAD);
    for (const [place, row] of this.rows) {
      if (place < first || place >= last) {
        row.remove();
        this.rows.delete(place);
      }
    }
    for (let place = first; place < last; place++) {
      if (this.rows.has(place)) continue;
      const row = this.row(place);
      this.rows.set(place, row);
      const next = this.rows.get(place + 1);
      this.spacer.insertBefore(row, next ?? null);
    }
    this.mark();
  }

  row(place) {
    const { report, wish } = this;
    const clip = this.clips[place];
    const row = make("div", "row");
    row.id = `row-${place}`;
    row.dataset.place = place;
    row.setAttribute("role", "option");
    row.setAttribute("aria-setsize", this.clips.length);
    row.setAttribute("aria-posinset", place + 1);
    row.style.top = `${place * ROW}px`;
    const top = make("div");
    top.append(foreign("span", "name", beginning(report.id(clip), 80)));
    const facts = `${beginning(report.category(clip), 24)} · ${report.columns.seconds[clip].toFixed(1)} s`;
    top.append(foreign("span", "fact", facts));
    const line = foreign("span", "line", beginning(report.references(clip)[0] ?? "", 160));
    const bottom = make("div");
    bottom.append(this.bars(clip));
    const measure = report.measures[wish.measure];
    const value = chosenScore(report, wish, clip);
    const words = wish.model === ANY && wish.shown.length > 1 ? "mean " : "";
    bottom.append(make("span", "fact", Number.isNaN(value) ? "no score" : words + value.toFixed(measure.digits)));
    row.append(top, line, bottom);
    return row;
  }

  bars(clip) {
    const { report, wish } = this;
    const bars = make("span", "bars");
    bars.setAttribute("aria-hidden", "true");
    for (const model of wish.shown) {
      const value = report.score(wish.measure, model, clip);
      const bar = make("i", Number.isNaN(value) ? "no" : "");
      bar.title = report.models[model];
      if (!Number.isNaN(value)) bar.style.height = `${Math.min(1, value / report.measures[wish.measure].highest) * 20}px`;
      bars.append(bar);
    }
    return bars;
  }

  mark() {
    for (const [place, row] of this.rows) {
      row.classList.toggle("active", place === this.active);
      row.setAttribute("aria-selected", String(this.clips[place] === this.opened));
    }
    if (this.clips.length && this.rows.has(this.active)) this.box.setAttribute("aria-activedescendant", `row-${this.active}`);
    else this.box.removeAttribute("aria-activedescendant");
  }

  reveal() {
    const top = this.active * ROW;
    const bottom = top + ROW - this.box.clientHeight;
    if (this.box.scrollTop > top) this.box.scrollTop = top;
    else if (this.box.scrollTop < bottom) this.box.scrollTop = bottom;
  }

  move(place) {
    this.active = Math.max(0, Math.min(this.clips.length - 1, place));
    this.reveal();
    this.draw();
  }

  choose(place) {
    if (place < 0 || place >= this.clips.length) return;
    this.move(place);
    this.open(this.clips[place]);
  }

  // The clip was opened by whatever means; show where it stands, if it is listed.
  follow(clip) {
    this.opened = clip;
    const place = this.clips.indexOf(clip);
    if (place >= 0) this.move(place);
    else this.mark();
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const page = Math.max(1, Math.floor(this.box.clientHeight / ROW) - 1);
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity };
    if (event.key in steps) this.move(this.active + steps[event.key]);
    else if (event.key === "Enter" || event.key === " ") this.choose(this.active);
    else return;
    event.preventDefault();
  }
}
