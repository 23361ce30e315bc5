// Words of captions: which of an answer's are in the references, which are not, and what it leaves out.

const COMMON = new Set(
  `a an the and or but nor so yet of in on at to from by with without for into onto over under up down off out as is are was were be been being am
  has have had do does did can could will would may might this that these those it its they them their there here he his him she her hers you your i
  we our us then than while when where which who whose what some any each all both other another one not no very quite rather also just such own same
  near again followed before after during through between among about like sound sounds hear heard audio clip recording background`.split(/\s+/),
);
const WORD = /[\p{L}\p{N}]+(?:['’][\p{L}]+)*/gu;

// A rough stem: enough that barks, barked and barking are one word.
function stem(word) {
  let text = word.toLowerCase().replace(/['’]s?$/, "");
  if (text.length > 4 && text.endsWith("ies")) text = `${text.slice(0, -3)}y`;
  else if (text.length > 3 && /[^s]s$/.test(text)) text = text.slice(0, -1);
  if (text.length > 5 && text.endsWith("ing")) text = text.slice(0, -3);
  else if (text.length > 4 && text.endsWith("ed")) text = text.slice(0, -2);
  if (text.length > 3 && /([^aeiouls])\1$/.test(text)) text = text.slice(0, -1);
  return text.length > 3 && text.endsWith("e") ? text.slice(0, -1) : text;
}

// Every word of a text: where it stands, its stem, and whether it says anything by itself.
function wordsOf(text) {
  return Array.from(text.matchAll(WORD), (found) => {
    const small = found[0].toLowerCase();
    return { start: found.index, end: found.index + found[0].length, text: found[0], stem: stem(small), plain: COMMON.has(small) };
  });
}

const MOST_MARKED = 20000; // Letters; a longer answer is not looked at word by word.

class References {
  constructor(texts) {
    this.known = new Set();
    const spread = new Map();
    for (const text of texts) {
      const own = new Map();
      for (const word of wordsOf(text.slice(0, MOST_MARKED))) if (!word.plain) own.set(word.stem, word.text.toLowerCase());
      for (const [one, words] of own) {
        this.known.add(one);
        spread.set(one, { words, times: (spread.get(one)?.times ?? 0) + 1 });
      }
    }
    // What at least half of the people wrote belongs into a caption.
    this.expected = [...spread].filter(([, one]) => 2 * one.times >= texts.length);
  }

  // Ranges of an answer, and the words that it leaves out.
  read(answer) {
    const words = wordsOf(answer.slice(0, MOST_MARKED));
    const said = new Set(words.map((word) => word.stem));
    const ranges = words.filter((word) => !word.plain).map((word) => ({ ...word, name: this.known.has(word.stem) ? "match" : "extra" }));
    return { ranges, missing: this.expected.filter(([one]) => !said.has(one)).map(([, one]) => one.words) };
  }
}

// The words of a search, as ranges of a text.
function hits(text, search) {
  const found = [];
  const small = text.toLowerCase();
  if (small.length !== text.length) return found; // Letters that grow when made small: places would not fit.
  for (const word of search.toLowerCase().split(/\s+/).filter(Boolean)) {
    for (let place = small.indexOf(word); place >= 0 && found.length < 500; place = small.indexOf(word, place + word.length)) {
      found.push({ start: place, end: place + word.length, name: "hit" });
    }
  }
  return found;
}

// A text with marks on ranges, which may overlap.
function marked(text, ranges) {
  if (!ranges.length) return [text];
  const edges = [...new Set([0, text.length, ...ranges.flatMap((one) => [one.start, one.end])])].sort((a, b) => a - b);
  const pieces = [];
  const open = [...ranges].sort((a, b) => a.start - b.start);
  let [next, held] = [0, []];
  for (let i = 0; i + 1 < edges.length; i++) {
    while (next < open.length && open[next].start <= edges[i]) held.push(open[next++]);
    held = held.filter((one) => one.end > edges[i]);
    const names = held.map((one) => one.name);
    const piece = text.slice(edges[i], edges[i + 1]);
    pieces.push(names.length ? make("mark", [...new Set(names)].join(" "), piece) : piece);
  }
  return pieces;
}

// Two answers word by word: what only one of them says, by the longest common sequence.
function differing(first, second) {
  const [a, b] = [wordsOf(first.slice(0, 4000)), wordsOf(second.slice(0, 4000))];
  const lengths = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      lengths[i][j] = a[i].stem === b[j].stem ? lengths[i + 1][j + 1] + 1 : Math.max(lengths[i + 1][j], lengths[i][j + 1]);
    }
  }
  const only = [[], []];
  let [i, j] = [0, 0];
  while (i < a.length && j < b.length) {
    if (a[i].stem === b[j].stem) [i, j] = [i + 1, j + 1];
    else if (lengths[i + 1][j] >= lengths[i][j + 1]) only[0].push({ ...a[i++], name: "only" });
    else only[1].push({ ...b[j++], name: "only" });
  }
  while (i < a.length) only[0].push({ ...a[i++], name: "only" });
  while (j < b.length) only[1].push({ ...b[j++], name: "only" });
  return only;
}
