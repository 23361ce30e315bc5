// Which samples of an embedded source are listed, and in which order; a server does the same for served ones.

const ANY = -1;

// The chosen score of a clip: one model's, or the mean over those that are shown.
function chosenScore(source, query, clip) {
  if (query.model !== ANY) return source.score(query.measure, query.model, clip);
  let sum = 0;
  let number = 0;
  for (const model of query.shown) {
    const value = source.score(query.measure, model, clip);
    if (Number.isNaN(value)) continue;
    sum += value;
    number += 1;
  }
  return number ? sum / number : NaN;
}

function difference(source, query, clip) {
  const values = query.shown.map((model) => source.score(query.measure, model, clip)).filter((value) => !Number.isNaN(value));
  return values.length ? Math.max(...values) - Math.min(...values) : NaN;
}

function inRange(source, query, clip) {
  if (query.low === null && query.high === null) return true;
  const models = query.model === ANY ? query.shown : [query.model];
  return models.some((model) => {
    const value = source.score(query.measure, model, clip);
    return value >= (query.low ?? -Infinity) && value <= (query.high ?? Infinity);
  });
}

function hasStatus(source, query, clip) {
  if (!query.status) return true;
  const models = query.model === ANY ? query.shown : [query.model];
  return models.some((model) => source.status(model, clip) === query.status);
}

// By name, as the address and the server know them; the words are the reader's.
const SORTS = {
  order: { words: "benchmark's order" },
  lowest: { words: "score, lowest first", key: chosenScore, sign: 1 },
  highest: { words: "score, highest first", key: chosenScore, sign: -1 },
  differ: { words: "models differ most", key: difference, sign: -1 },
  shortest: { words: "shortest clip", key: (source, _query, clip) => source.columns.seconds[clip], sign: 1 },
  longest: { words: "longest clip", key: (source, _query, clip) => source.columns.seconds[clip], sign: -1 },
};

function chosenClips(source, query) {
  const words = query.search.toLowerCase().split(/\s+/).filter(Boolean);
  const found = [];
  for (let clip = 0; clip < source.clips; clip++) {
    if (query.category && source.category(clip) !== query.category) continue;
    if (!hasStatus(source, query, clip) || !inRange(source, query, clip)) continue;
    if (words.length && !words.every((word) => source.haystack(clip).includes(word))) continue;
    found.push(clip);
  }
  const sort = SORTS[query.sort];
  if (!sort?.key) return found;
  const keys = new Map(found.map((clip) => [clip, sort.key(source, query, clip)]));
  // Clips without the score come last, whichever way.
  return found.sort((a, b) => {
    const [x, y] = [keys.get(a), keys.get(b)];
    if (Number.isNaN(x) || Number.isNaN(y)) return Number.isNaN(x) - Number.isNaN(y) || a - b;
    return sort.sign * (x - y) || a - b;
  });
}
