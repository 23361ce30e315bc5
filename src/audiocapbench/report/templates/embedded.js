// The data inside a page, unpacked once. What the other parts ask of a source is here; served.js answers the same.

function bytesOf(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const letters = atob(text);
  const bytes = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; i++) bytes[i] = letters.charCodeAt(i);
  return bytes;
}

async function openSource() {
  const element = at("data");
  const packed = new Blob([bytesOf(element.textContent)]).stream();
  const inside = await new Response(packed.pipeThrough(new DecompressionStream("gzip"))).json();
  element.remove();
  // A site has boards, whose models have pages of their own, and no samples.
  return inside.boards ? { ...inside, board: inside.boards[0], tabs: ["leaderboard", "made"] } : new Embedded(inside);
}

class Embedded {
  constructor(inside) {
    Object.assign(this, inside);
    this.places = new Map(this.clips.map((clip, place) => [clip.id, place]));
    this.last = { key: "", clips: [] };
  }

  chosen(query) {
    const key = JSON.stringify(query);
    if (this.last.key !== key) this.last = { key, clips: chosenClips(this.clips, query) };
    return this.last.clips;
  }

  async page(query, first, last) {
    const clips = this.chosen(query);
    const rows = clips.slice(first, last).map((clip) => ({
      id: clip.id,
      category: clip.category,
      seconds: clip.seconds,
      line: clip.references[0] ?? "",
      scores: query.shown.map((model) => scoreOf(query, clip, model)),
      value: chosenScore(query, clip),
    }));
    return { total: clips.length, all: this.clips.length, rows };
  }

  async find(query, id) {
    return this.chosen(query).indexOf(this.clips[this.places.get(id)]);
  }

  async clip(id) {
    const clip = this.clips[this.places.get(id)];
    return clip ? { ...clip, sound: this.sound(clip.sound) } : null;
  }

  sound(number) {
    if (number === null) return { none: this.board.home ? "This site has no sound of the clip: its licence does not allow it, or is not known." : "This report was made without sound; --audio embed or link adds it." };
    const sound = this.sounds[number];
    // A page from a disk may play a file beside it, but not read it.
    return { ...sound, peaks: bytesOf(sound.peaks), bytes: sound.link ? null : async () => bytesOf(at(`sound-${number}`).textContent) };
  }

  // What `compare` says of two models; null where the report was made without.
  async compared(a, b) {
    const runs = [a, b].map((model) => this.board.models[model].run);
    const pair = this.board.pairs.find((one) => runs.every((run) => one.runs.includes(run)));
    if (!pair || pair.runs[0] === runs[0]) return pair ?? null;
    const turned = (value) => (isNumber(value) ? -value : null);
    return { ...pair, rows: pair.rows.map((one) => ({ ...one, zero: one.zero && [...one.zero].reverse(), difference: turned(one.difference), interval: one.interval?.map(turned).reverse() })) };
  }
}
