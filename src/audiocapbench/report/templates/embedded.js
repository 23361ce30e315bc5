// The data inside a page: unpacked once, then read by column. Texts are looked up by number, 0 is empty.
// What the other parts ask of a source is at the end of Embedded; served.js answers the same.

const NONE = 0xffffffff;

function bytesOf(element) {
  const text = element.textContent;
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const letters = atob(text);
  const bytes = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; i++) bytes[i] = letters.charCodeAt(i);
  return bytes;
}

// What the page has inside: a head, and numbers by column.
async function unpacked() {
  const element = at("data");
  const packed = new Blob([bytesOf(element)]).stream();
  const buffer = await new Response(packed.pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
  const size = new DataView(buffer).getUint32(0, true);
  const head = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, size)));
  const kinds = { uint8: Uint8Array, uint32: Uint32Array, float32: Float32Array };
  const columns = {};
  for (const [name, [kind, start, length]] of Object.entries(head.columns)) {
    columns[name] = new kinds[kind](buffer, 4 + size + start, length);
  }
  element.remove();
  return [head, columns];
}

async function openSource() {
  const [head, columns] = await unpacked();
  // A site has boards, whose models have pages of their own, and no samples.
  return head.boards ? { ...head, board: head.boards[0], tabs: ["leaderboard", "costs", "made"] } : new Embedded(head, columns);
}

class Embedded {
  constructor(head, columns) {
    Object.assign(this, head);
    this.columns = columns;
    this.clips = columns.id.length;
    this.places = new Map();
    for (let clip = 0; clip < this.clips; clip++) this.places.set(this.id(clip), clip);
    this.searchable = new Array(this.clips);
    const present = new Set(columns.status);
    this.present = this.statuses.filter((_, number) => present.has(number));
    this.last = { key: "", clips: [] };
  }

  text(name, place) {
    return this.texts[this.columns[name][place]];
  }

  id(clip) {
    return this.text("id", clip);
  }

  category(clip) {
    return this.categories[this.columns.category[clip]];
  }

  references(clip) {
    const ends = this.columns.references_end;
    const numbers = this.columns.references.subarray(clip ? ends[clip - 1] : 0, ends[clip]);
    return Array.from(numbers, (number) => this.texts[number]);
  }

  place(model, clip) {
    return model * this.clips + clip;
  }

  status(model, clip) {
    return this.statuses[this.columns.status[this.place(model, clip)]];
  }

  // NaN where there is none.
  score(measure, model, clip) {
    return this.columns.scores[measure * this.runs * this.clips + this.place(model, clip)];
  }

  verdict(judge, model, clip) {
    return this.text("verdicts", judge * this.runs * this.clips + this.place(model, clip));
  }

  // All that a search looks through, in small letters; made when first needed.
  haystack(clip) {
    if (this.searchable[clip] === undefined) {
      const parts = [this.id(clip), this.category(clip), this.text("file", clip), this.text("details", clip)];
      parts.push(...this.references(clip));
      for (let model = 0; model < this.runs; model++) {
        const place = this.place(model, clip);
        parts.push(this.text("text", place), this.text("error", place));
        for (let judge = 0; judge < this.judges.length; judge++) parts.push(this.verdict(judge, model, clip));
      }
      this.searchable[clip] = parts.join("\n").toLowerCase();
    }
    return this.searchable[clip];
  }

  chosen(query) {
    const key = JSON.stringify(query);
    if (this.last.key !== key) this.last = { key, clips: chosenClips(this, query) };
    return this.last.clips;
  }

  // What every source answers: pages of a list, where a sample stands in it, a sample, and a duel.

  async page(query, first, last) {
    const clips = this.chosen(query);
    const rows = clips.slice(first, last).map((clip) => ({
      id: this.id(clip),
      category: this.category(clip),
      seconds: this.columns.seconds[clip],
      line: this.references(clip)[0] ?? "",
      scores: query.shown.map((model) => this.score(query.measure, model, clip)),
      value: chosenScore(this, query, clip),
    }));
    return { total: clips.length, all: this.clips, rows };
  }

  async find(query, id) {
    return this.chosen(query).indexOf(this.places.get(id));
  }

  async clip(id) {
    const clip = this.places.get(id);
    if (clip === undefined) return null;
    return {
      id,
      category: this.category(clip),
      seconds: this.columns.seconds[clip],
      rate: this.columns.rate[clip],
      file: this.text("file", clip),
      instruction: this.text("instruction", clip),
      details: this.text("details", clip),
      references: this.references(clip),
      sound: this.sound(clip),
      answers: Array.from({ length: this.runs }, (_, model) => this.answer(model, clip)),
    };
  }

  answer(model, clip) {
    const place = this.place(model, clip);
    return {
      text: this.text("text", place),
      error: this.text("error", place),
      note: this.text("note", place),
      status: this.status(model, clip),
      latency: this.columns.latency[place],
      cost: this.columns.cost[place],
      scores: this.board.scorers.map((_, measure) => this.score(measure, model, clip)),
      verdicts: this.judges.map((judge, number) => [judge, this.verdict(number, model, clip)]).filter(([, words]) => words),
    };
  }

  sound(clip) {
    const number = this.columns.sound[clip];
    if (number === NONE) return { missing: "", none: "This report was made without sound; --audio embed or link adds it." };
    const size = 2 * this.points;
    const link = this.text("sound_link", number);
    return {
      kind: this.text("sound_kind", number),
      link,
      missing: this.text("sound_missing", number),
      peaks: this.columns.peaks.subarray(number * size, (number + 1) * size),
      // A page from a disk may play a file beside it, but not read it.
      bytes: link ? null : async () => bytesOf(at(`sound-${number}`)),
    };
  }

  // What `compare` says of two models; where the report was made without, what the board's own tests say of them.
  async compared(a, b) {
    const runs = [a, b].map((model) => this.board.models[model].run);
    const pair = this.board.pairs.find((one) => runs.every((run) => one.runs.includes(run)));
    if (!pair) return this.boardTests(a, b);
    if (pair.runs[0] === runs[0]) return pair;
    const turned = (value) => (isNumber(value) ? -value : null);
    return { ...pair, rows: pair.rows.map((one) => ({ ...one, zero: one.zero && [...one.zero].reverse(), difference: turned(one.difference), interval: one.interval?.map(turned).reverse() })) };
  }

  boardTests(a, b) {
    const rows = this.board.scorers.map(({ label }, number) => {
      const ranking = this.board.views[""].rankings[number];
      const test = ranking?.pairs.find((one) => [a, b].includes(one.first) && [a, b].includes(one.second));
      const zero = ranking?.by_zero ? [a, b].map((model) => ranking.places[model].score) : null;
      return test && { scorer: label, zero, difference: test.first === b ? test.difference : -test.difference, interval: null, p: test.p_adjusted };
    });
    return rows.some(Boolean) ? { verdict: "", rows: rows.filter(Boolean) } : null;
  }

  async duel(a, b, measure) {
    const found = { wins: 0, ties: 0, losses: 0 };
    for (let clip = 0; clip < this.clips; clip++) {
      const gap = this.score(measure, a, clip) - this.score(measure, b, clip);
      if (Number.isNaN(gap)) continue;
      found[gap > 0 ? "wins" : gap < 0 ? "losses" : "ties"] += 1;
    }
    return found;
  }
}
