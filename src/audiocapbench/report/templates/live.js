// What goes on in the store right now: a chip in the header, a card above every view, and a fresh board.

const [LOOK_MS, REST_MS] = [1000, 3000];

class Live {
  constructor(app, source) {
    this.app = app;
    this.source = source;
    this.seen = null;
    this.isAway = false;
    this.card = make("section", { className: "card live", ariaLabel: "What goes on", hidden: true });
    at("main").prepend(this.card);
    this.boards();
    addEventListener("unhandledrejection", (event) => {
      if (!(event.reason instanceof Unanswered)) return;
      event.preventDefault();
      at("trouble").textContent = `${plain(event.reason.message)}.`;
      at("trouble").hidden = false;
    });
    this.look();
  }

  async look() {
    const now = await fetch("api/live").then((reply) => (reply.ok ? reply.text() : "")).catch(() => "");
    setTimeout(() => this.look(), LOOK_MS);
    const isNew = now !== this.last;
    this.last = now;
    if (!now) this.lost();
    else if (isNew) this.told(JSON.parse(now));
  }

  // Other benchmarks of the store, where there are any.
  boards() {
    const names = this.source.benchmarks ?? [];
    const shown = this.source.board?.benchmark ?? "";
    if (names.length < (shown ? 2 : 1)) return;
    const choice = [...(shown ? [] : [["choose a benchmark", ""]]), ...names.map((name) => [plain(name), name])];
    at("chips").before(chooser(choice, shown, (name) => location.assign(`?benchmark=${encodeURIComponent(name)}`), "Benchmark"));
  }

  lost(words = "not connected; trying again") {
    this.isAway = true;
    at("live").hidden = false;
    at("live").className = "lost";
    at("live").textContent = words;
  }

  // What failed meanwhile is shown after all.
  found() {
    this.isAway = false;
    at("trouble").hidden = true;
    this.app?.changed();
  }

  told(now) {
    this.source.away = now.away ?? "";
    if (now.away) return this.lost("the store cannot be read; trying again");
    if (this.isAway) this.found();
    const { tasks } = now;
    const done = tasks.reduce((sum, one) => sum + one.done, 0);
    const total = tasks.reduce((sum, one) => sum + one.total, 0);
    const spent = tasks.reduce((sum, one) => sum + (one.cost ?? 0), 0);
    const computing = this.source.partial && !this.source.error && this.source.board !== null;
    at("live").className = "";
    at("live").hidden = !tasks.length && !computing;
    at("live").textContent = tasks.length ? `${count(tasks.length, "task")} going on · ${done.toLocaleString("en")} / ${total.toLocaleString("en")} · ${dollars(spent)}` : "ranks and intervals are being computed";
    this.card.hidden = !tasks.length && this.source.board !== null && !this.source.error;
    this.fill(now);
    // The board is asked for anew when it has become better, and now and then while answers come.
    const better = this.seen !== null && now.version !== this.source.version;
    const changed = this.seen !== null && now.revision !== this.seen;
    this.seen = now.revision;
    if (better || changed || this.source.partial) this.soon();
  }

  fill(now) {
    const parts = [make("h2", "", now.tasks.length ? "Going on now" : "Nothing to show yet")];
    if (this.source.error) parts.push(foreign("p", "warning", plain(this.source.error)));
    else if (!now.tasks.length) parts.push(make("p", "soft", "The store has no scored run. This page fills itself as soon as there is one, such as by “audiocapbench run demo --model listener” on the same store; “audiocapbench runs --trials” lists those of trials and annotation."));
    const tasks = make("div", "tasks");
    parts.push(tasks);
    for (const one of now.tasks) {
      const bar = stacked([["done", one.done - one.failed, "status-ok"], ["failed", one.failed, "status-failed"], ["to do", Math.max(0, one.total - one.done), "status-none"]], plain(one.model));
      const facts = [`${one.done.toLocaleString("en")} / ${one.total.toLocaleString("en")}`, one.rate ? `${one.rate.toFixed(1)} a second` : "", isNumber(one.left_s) ? `${duration(one.left_s)} left` : "", one.failed ? count(one.failed, "failure") : "", isNumber(one.cost) ? dollars(one.cost) : ""].filter(Boolean);
      const model = plain(one.model);
      const name = one.judge ? `${plain(one.judge)} judges ${model}` : one.stage ? `annotate: ${plain(one.stage)}` : `${model}${one.trial ? " on trial" : ""}`;
      tasks.append(make("div", "task", foreign("b", "", name), foreign("span", "soft", one.stage ? model : plain(one.benchmark)), bar, make("span", "soft", facts.join(" · "))));
    }
    if (now.newest.length) {
      parts.push(make("h3", "", "Newest answers"));
      parts.push(make("ol", "newest", ...now.newest.map((one) => make("li", "", make("time", "", one.at), " ", foreign("b", "", plain(one.model)), " ", foreign("span", "soft", beginning(plain(one.sample), 40)), one.status === "ok" ? null : make("span", "badge bad", one.status), foreign("span", "text", one.text)))));
    }
    this.card.replaceChildren(...parts);
  }

  soon() {
    if (this.waiting) return;
    this.waiting = setTimeout(async () => {
      this.waiting = null;
      const [before, partial] = [JSON.stringify(this.source.board), this.source.partial];
      try {
        await this.source.refresh();
      } catch {
        return; // The next look tries again.
      }
      if (partial !== this.source.partial) at("live").hidden = true;
      if (JSON.stringify(this.source.board) === before) return;
      if (this.app === null) location.reload(); // The first scores have come.
      else await this.app.changed();
    }, REST_MS);
  }
}

function duration(seconds) {
  if (seconds < 90) return `${Math.max(1, Math.round(seconds))} s`;
  return seconds < 5400 ? `${Math.round(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`;
}
