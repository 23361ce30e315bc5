// The report's data: unpacked once, then read by column. Texts are looked up by number, 0 is empty.

const NONE = 0xffffffff;

function bytesOf(element) {
  const text = element.textContent;
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const letters = atob(text);
  const bytes = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; i++) bytes[i] = letters.charCodeAt(i);
  return bytes;
}

async function unpack(element) {
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
  return new Report(head, columns);
}

class Report {
  constructor(head, columns) {
    Object.assign(this, head);
    this.columns = columns;
    this.clips = columns.id.length;
    this.places = new Map();
    for (let clip = 0; clip < this.clips; clip++) this.places.set(this.id(clip), clip);
    this.searchable = new Array(this.clips);
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

  answer(model, clip) {
    const place = model * this.clips + clip;
    return {
      text: this.text("text", place),
      error: this.text("error", place),
      note: this.text("note", place),
      status: this.statuses[this.columns.status[place]],
      latency: this.columns.latency[place],
      cost: this.columns.cost[place],
    };
  }

  status(model, clip) {
    return this.columns.status[model * this.clips + clip];
  }

  // NaN where there is none.
  score(measure, model, clip) {
    return this.columns.scores[(measure * this.models.length + model) * this.clips + clip];
  }

  verdict(judge, model, clip) {
    return this.text("verdicts", (judge * this.models.length + model) * this.clips + clip);
  }

  sound(clip) {
    const number = this.columns.sound[clip];
    if (number === NONE) return null;
    const size = 2 * this.points;
    return {
      number,
      kind: this.text("sound_kind", number),
      link: this.text("sound_link", number),
      missing: this.text("sound_missing", number),
      peaks: this.columns.peaks.subarray(number * size, (number + 1) * size),
    };
  }

  // All that a search looks through, in small letters; made when first needed.
  haystack(clip) {
    if (this.searchable[clip] === undefined) {
      const parts = [this.id(clip), this.category(clip), this.text("file", clip), this.text("details", clip)];
      parts.push(...this.references(clip));
      for (let model = 0; model < this.models.length; model++) {
        const place = model * this.clips + clip;
        parts.push(this.text("text", place), this.text("error", place));
        for (let judge = 0; judge < this.judges.length; judge++) parts.push(this.verdict(judge, model, clip));
      }
      this.searchable[clip] = parts.join("\n").toLowerCase();
    }
    return this.searchable[clip];
  }
}
