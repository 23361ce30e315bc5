// Which samples inside a page are listed, and in which order; a server does the same for served ones.

const ANY = -1;

const scoreOf = ({ measure }, clip, model) => clip.answers[model].scores[measure];
const whose = ({ model, shown }) => (model === ANY ? shown : [model]);
const scoresOf = (query, clip, models = whose(query)) => models.map((model) => scoreOf(query, clip, model)).filter(isNumber);

// The chosen score of a clip: one model's, or the mean over those that are shown.
function chosenScore(query, clip) {
  const values = scoresOf(query, clip);
  return values.length ? values.reduce((sum, value) => sum + value, 0) / values.length : null;
}

function difference(query, clip) {
  const values = scoresOf(query, clip, query.shown);
  return values.length ? Math.max(...values) - Math.min(...values) : null;
}

// All that a search looks through, in small letters; made when first needed.
function haystack(clip) {
  const said = ({ text, error, verdicts }) => [text, error, ...verdicts.map(([, words_]) => words_)];
  clip.haystack ??= [clip.id, clip.category, clip.file, clip.details, ...clip.references, ...clip.answers.flatMap(said)].join("\n").toLowerCase();
  return clip.haystack;
}

// By name, as the address and the server know them; the words are the reader's.
const SORTS = {
  order: { words: "benchmark's order" },
  lowest: { words: "score, lowest first", key: chosenScore, sign: 1 },
  highest: { words: "score, highest first", key: chosenScore, sign: -1 },
  differ: { words: "models differ most", key: difference, sign: -1 },
  shortest: { words: "shortest clip", key: (_query, clip) => clip.seconds, sign: 1 },
  longest: { words: "longest clip", key: (_query, clip) => clip.seconds, sign: -1 },
};

function chosenClips(clips, query) {
  const words = query.search.toLowerCase().split(/\s+/).filter(Boolean);
  const [low, high] = [query.low ?? -Infinity, query.high ?? Infinity];
  const everywhere = query.low === null && query.high === null;
  const found = clips.filter(
    (clip) =>
      (!query.category || clip.category === query.category) &&
      (!query.status || whose(query).some((model) => clip.answers[model].status === query.status)) &&
      (everywhere || scoresOf(query, clip).some((value) => value >= low && value <= high)) &&
      words.every((word) => haystack(clip).includes(word)),
  );
  const sort = SORTS[query.sort];
  if (!sort?.key) return found;
  // Clips without the score come last, whichever way; equal ones stay in the benchmark's order.
  const keyed = found.map((clip) => [clip, sort.key(query, clip)]);
  keyed.sort(([, x], [, y]) => (isNumber(x) && isNumber(y) ? sort.sign * (x - y) : isNumber(y) - isNumber(x)));
  return keyed.map(([clip]) => clip);
}
