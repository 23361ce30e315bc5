// Which clips are listed, and in which order.

const ANY = -1;

// The chosen score of a clip: one model's, or the mean over those that are shown.
function chosenScore(report, wish, clip) {
  if (wish.model !== ANY) return report.score(wish.measure, wish.model, clip);
  let sum = 0;
  let count = 0;
  for (const model of wish.shown) {
    const value = report.score(wish.measure, model, clip);
    if (!Number.isNaN(value)) {
      sum += value;
      count += 1;
    }
  }
  return count ? sum / count : NaN;
}

function difference(report, wish, clip) {
  let low = Infinity;
  let high = -Infinity;
  for (const model of wish.shown) {
    const value = report.score(wish.measure, model, clip);
    if (Number.isNaN(value)) continue;
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  return high > low ? high - low : high === low ? 0 : NaN;
}

function inRange(report, wish, clip) {
  if (wish.low === null && wish.high === null) return true;
  const models = wish.model === ANY ? wish.shown : [wish.model];
  return models.some((model) => {
    const value = report.score(wish.measure, model, clip);
    return value >= (wish.low ?? -Infinity) && value <= (wish.high ?? Infinity);
  });
}

function hasStatus(report, wish, clip) {
  if (wish.status === ANY) return true;
  const models = wish.model === ANY ? wish.shown : [wish.model];
  return models.some((model) => report.status(model, clip) === wish.status);
}

const SORTS = {
  "benchmark's order": null,
  "score, lowest first": { key: chosenScore, sign: 1 },
  "score, highest first": { key: chosenScore, sign: -1 },
  "models differ most": { key: difference, sign: -1 },
  "shortest clip": { key: (report, _wish, clip) => report.columns.seconds[clip], sign: 1 },
  "longest clip": { key: (report, _wish, clip) => report.columns.seconds[clip], sign: -1 },
};

function chosenClips(report, wish) {
  const words = wish.search.toLowerCase().split(/\s+/).filter(Boolean);
  const found = [];
  for (let clip = 0; clip < report.clips; clip++) {
    if (wish.category !== ANY && report.columns.category[clip] !== wish.category) continue;
    if (!hasStatus(report, wish, clip) || !inRange(report, wish, clip)) continue;
    if (words.length && !words.every((word) => report.haystack(clip).includes(word))) continue;
    found.push(clip);
  }
  const sort = SORTS[wish.sort];
  if (!sort) return found;
  const keys = new Map(found.map((clip) => [clip, sort.key(report, wish, clip)]));
  // Clips without the score come last, whichever way.
  return found.sort((a, b) => {
    const [x, y] = [keys.get(a), keys.get(b)];
    if (Number.isNaN(x) || Number.isNaN(y)) return Number.isNaN(x) - Number.isNaN(y) || a - b;
    return sort.sign * (x - y) || a - b;
  });
}
