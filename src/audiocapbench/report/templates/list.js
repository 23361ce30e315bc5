// The list of samples: only the rows in sight exist, and pages are asked for before they come into sight.
// To assistive technology it is a listbox.

const AHEAD = 6;
const PAGE = 60;

class ClipList {
  constructor(source, box, spacer, open, tall = 78) {
    this.source = source;
    this.tall = tall; // As the style sheet has it.
    this.box = box;
    this.spacer = spacer;
    this.open = open;
    this.total = 0;
    this.active = 0;
    this.opened = null;
    this.rows = new Map();
    this.pages = new Map();
    this.asked = 0; // Counts queries: what comes late for an older one is not shown.
    this.waiting = false;
    box.addEventListener("scroll", () => this.soon(), { passive: true });
    box.addEventListener("keydown", (event) => this.key(event));
    spacer.addEventListener("click", (event) => {
      const row = event.target.closest(".row");
      if (row) this.choose(Number(row.dataset.place));
    });
    new ResizeObserver(() => this.soon()).observe(box);
  }

  // Show what a query finds; the sample that is open stays in sight where it is among it.
  async show(query) {
    this.query = query;
    const asked = ++this.asked;
    const [page, place] = await Promise.all([this.source.page(query, 0, PAGE), this.opened === null ? -1 : this.source.find(query, this.opened)]);
    if (asked !== this.asked) return null;
    this.pages = new Map([[0, page.rows]]);
    this.total = page.total;
    this.active = Math.max(0, place);
    this.spacer.style.height = `${page.total * this.tall}px`;
    this.clear();
    this.reveal();
    this.draw();
    return page;
  }

  at(place) {
    return this.pages.get(Math.floor(place / PAGE))?.[place % PAGE];
  }

  // Ask for the pages around what is in sight.
  need(first, last) {
    const [from, to] = [Math.floor(Math.max(0, first - PAGE / 2) / PAGE), Math.floor(Math.min(this.total - 1, last + PAGE) / PAGE)];
    for (let number = from; number <= to; number++) {
      if (this.pages.has(number)) continue;
      this.pages.set(number, undefined);
      const asked = this.asked;
      this.source.page(this.query, number * PAGE, (number + 1) * PAGE).then(
        (page) => {
          if (asked !== this.asked) return;
          this.pages.set(number, page.rows);
          for (const [place, row] of this.rows) if (Math.floor(place / PAGE) === number) this.fill(row, place);
          this.mark();
        },
        () => this.pages.delete(number),
      );
    }
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
    const first = Math.max(0, Math.floor(this.box.scrollTop / this.tall) - AHEAD);
    const last = Math.min(this.total, Math.ceil((this.box.scrollTop + this.box.clientHeight) / this.tall) + AHEAD);
    if (last > first) this.need(first, last);
    for (const [place, row] of this.rows) {
      if (place < first || place >= last) {
        row.remove();
        this.rows.delete(place);
      }
    }
    for (let place = first; place < last; place++) {
      if (this.rows.has(place)) continue;
      const row = make("div", { className: "row", id: `${this.box.id}-${place}`, role: "option", ariaSetSize: this.total, ariaPosInSet: place + 1 });
      row.dataset.place = place;
      row.style.top = `${place * this.tall}px`;
      this.fill(row, place);
      this.rows.set(place, row);
      this.spacer.insertBefore(row, this.rows.get(place + 1) ?? null);
    }
    this.mark();
  }

  fill(row, place) {
    const one = this.at(place);
    if (one) this.line(row, one);
    else row.replaceChildren(make("span", "soft", "…"));
  }

  line(row, one) {
    const { query } = this;
    const scorer = query.scorer;
    const id = beginning(plain(one.id), 80);
    const line = beginning(one.line, 160);
    const top = make("div", "", foreign("span", "name", ...marked(id, hits(id, query.search))), foreign("span", "fact", [beginning(plain(one.category), 24), one.seconds ? `${one.seconds.toFixed(1)} s` : ""].filter(Boolean).join(" · ")));
    const value = isNumber(one.value) ? `${query.model === ANY && query.shown.length > 1 ? "mean " : ""}${one.value.toFixed(scorer.digits)}` : "no score";
    const bottom = make("div", "", this.bars(one, scorer), make("span", "fact", value));
    row.replaceChildren(top, foreign("span", "line", ...marked(line, hits(line, query.search))), bottom);
  }

  bars(one, scorer) {
    const bars = make("span", { className: "bars", ariaHidden: "true" });
    one.scores.forEach((value, place) => {
      const bar = make("i", { className: isNumber(value) ? "" : "no", title: plain(this.query.names[place]) });
      if (isNumber(value)) bar.style.height = `${Math.min(1, value / scorer.max_value) * 18}px`;
      bars.append(bar);
    });
    return bars;
  }

  mark() {
    for (const [place, row] of this.rows) {
      row.classList.toggle("active", place === this.active);
      row.setAttribute("aria-selected", String(this.opened !== null && this.at(place)?.id === this.opened));
    }
    if (this.total && this.rows.has(this.active)) this.box.setAttribute("aria-activedescendant", `${this.box.id}-${this.active}`);
    else this.box.removeAttribute("aria-activedescendant");
  }

  reveal() {
    const top = this.active * this.tall;
    const bottom = top + this.tall - this.box.clientHeight;
    if (this.box.scrollTop > top) this.box.scrollTop = top;
    else if (this.box.scrollTop < bottom) this.box.scrollTop = bottom;
  }

  move(place) {
    this.active = Math.max(0, Math.min(this.total - 1, place));
    this.reveal();
    this.draw();
  }

  async choose(place) {
    if (place < 0 || place >= this.total) return;
    this.move(place);
    let one = this.at(place);
    if (!one) one = (await this.source.page(this.query, place, place + 1)).rows[0];
    if (one) this.open(one.id);
  }

  // The sample was opened by whatever means; show where it stands, if it is listed.
  async follow(id) {
    this.opened = id;
    if (this.at(this.active)?.id !== id) {
      const asked = this.asked;
      const place = await this.source.find(this.query, id);
      if (asked !== this.asked || this.opened !== id) return;
      if (place >= 0) this.move(place);
    }
    this.mark();
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const page = Math.max(1, Math.floor(this.box.clientHeight / this.tall) - 1);
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity };
    if (event.key in steps) this.move(this.active + steps[event.key]);
    else if (event.key === "Enter" || event.key === " ") this.choose(this.active);
    else return;
    event.preventDefault();
  }
}
