// The data of a store, asked of its server: the same answers as those of embedded.js, a page at a time.

// The server or its store gave no answer: live.js says so on the page, and asks again when it is back.
class Unanswered extends Error {}

class Served {
  constructor(told, benchmark) {
    this.benchmark = benchmark;
    this.away = ""; // Why the store cannot be read just now.
    this.take(told);
    this.clips = new Map();
  }

  take(told) {
    this.board = told.board;
    this.benchmarks = told.benchmarks;
    this.categories = told.categories;
    this.present = told.present;
    this.partial = told.partial;
    this.error = told.error;
    this.version = told.version;
  }

  async ask(what, values) {
    const query = new URLSearchParams(Object.entries({ benchmark: this.benchmark, ...values }).filter(([, value]) => value !== null && value !== ""));
    if (this.away) throw new Unanswered(this.away);
    let reply, told;
    try {
      reply = await fetch(`api/${what}?${query}`);
      told = await reply.json();
    } catch {
      throw new Unanswered("The server cannot be reached");
    }
    if (!reply.ok) throw new Unanswered(told.error ?? reply.statusText);
    return told;
  }

  async refresh() {
    this.take(await this.ask("board", {}));
    this.clips.clear();
  }

  // A scorer by its name alone could be a judge or a metric of that name.
  name(measure) {
    const scorer = this.board.scorers[measure];
    return scorer.judge === null ? scorer.label : `${scorer.judge}\t${scorer.column}`;
  }

  run(model) {
    return model === ANY ? null : this.board.models[model].run;
  }

  fields(query) {
    const { search, category, status, low, high, sort } = query;
    const runs = query.shown.map((model) => this.run(model)).join(",");
    return { search, category, status, low, high, sort, score: this.name(query.measure), run: this.run(query.model), runs };
  }

  page(query, first, last) {
    return this.ask("list", { ...this.fields(query), first: String(first), last: String(last) });
  }

  async find(query, id) {
    return (await this.ask("find", { ...this.fields(query), id })).place;
  }

  async clip(id) {
    if (!this.clips.has(id)) {
      const scorers = this.board.scorers.map((_, measure) => this.name(measure)).join("\n");
      const told = await this.ask("clip", { id, scorers });
      if (told === null) return null;
      told.answers = this.board.models.map((one) => told.answers[one.run] ?? null);
      told.sound = told.absent ? { none: "Only references were given for this run: there is no sound." } : this.sound(id, told.kind);
      if (this.clips.size > 50) this.clips.clear();
      this.clips.set(id, told);
    }
    return this.clips.get(id);
  }

  sound(id, kind) {
    const query = new URLSearchParams({ benchmark: this.benchmark, id });
    return {
      kind,
      bytes: async () => {
        const reply = await fetch(`api/audio?${query}`);
        if (!reply.headers.get("content-type").startsWith("application/octet-stream")) return reply.json(); // Why there is none.
        return new Uint8Array(await reply.arrayBuffer());
      },
    };
  }

  compared(a, b) {
    return this.ask("compared", { a: this.run(a), b: this.run(b) });
  }
}

async function openSource() {
  const benchmark = new URLSearchParams(location.search).get("benchmark") ?? "";
  const source = new Served({ board: null }, benchmark);
  await source.refresh();
  return source;
}
