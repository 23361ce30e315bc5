"""What is put on trial, anything that chooses between two captions: its settings and its clips."""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import partial
from itertools import combinations, product
from pathlib import Path, PurePosixPath, PureWindowsPath
from pkgutil import resolve_name
from typing import Any, NamedTuple, cast

import numpy as np

from audiocapbench.asking import TrialOptions
from audiocapbench.data import Clip
from audiocapbench.data.folder import read_clip, why_outside
from audiocapbench.data.records import JSON_LINES
from audiocapbench.engine import Preview
from audiocapbench.engine.runner import AskContext
from audiocapbench.errors import TrialError, check_known
from audiocapbench.files import digest
from audiocapbench.meta.pairs import Pairs, TrialProtocol, captions, references
from audiocapbench.metrics import compute, find_metric
from audiocapbench.metrics.fluency.likelihood import load_ngrams
from audiocapbench.metrics.preference.blend import Heard
from audiocapbench.metrics.registry import refuse_without_audio
from audiocapbench.metrics.result import FloatArray
from audiocapbench.metrics.text import plain
from audiocapbench.signature import Signature, sign

WITHOUT_CLIPS = "/no-audio"  # ends the name of a run that was asked without the clips

_FOLDERS = ("", "audio", "clips")
_SUFFIXES = ("", ".wav", ".flac", ".mp3", ".ogg", ".opus", ".m4a", ".mp4", ".webm")

Measure = Callable[[Sequence["Choice"]], float]  # the published measure of a list of choices


class Choice(Enum):
    FIRST = 0
    SECOND = 1
    TIE = "tie"
    UNKNOWN = "unknown"

    @property
    def swapped(self) -> "Choice":
        return _SWAPPED.get(self, self)


_SWAPPED = {Choice.FIRST: Choice.SECOND, Choice.SECOND: Choice.FIRST}
_CHOICES = tuple(Choice)


@dataclass(frozen=True)
class TrialSettings(TrialOptions, AskContext):
    """How scorers are made and asked; all of them share one store and one budget."""

    data: Path | None = None  # the folder of the clips
    follow_links: bool = False
    protocol: TrialProtocol = "plain"  # how metrics are held to references

    def folder(self, name: str, hint: str = "") -> Path:
        if self.data is None:
            where = "say with `data` in which folder they are"
            raise TrialError(f"{name} hears the clips: {where}{hint}")
        if not self.data.is_dir():
            raise TrialError(f"{self.data}: no such folder; `data` names the folder with the clips")
        return self.data


class Diagnostics(NamedTuple):
    """What a scorer says beyond its choices, and how many captions, clips or questions failed."""

    notes: tuple[str, ...] = ()
    data: Mapping[str, Any] | None = None
    failed: int = 0
    columns: Mapping[str, Sequence[Any]] = {}  # what it says of every pair


class PairScorer(ABC):
    name: str
    signature: Signature
    needs_corpus = False  # is also shown pairs without an answer, which belong to its corpus
    sees_both = False  # at once, and can be asked in both orders
    latest = Diagnostics()  # of its latest choosing

    @abstractmethod
    def choose(self, pairs: Pairs) -> Sequence[Choice]:
        """Choose for all pairs at once, with the captions in their own order."""

    def choose_swapped(self, pairs: Pairs) -> Sequence[Choice]:
        """Its choices when the captions change places, for the pairs as they stand."""
        return [one.swapped for one in self.choose([pair.swapped() for pair in pairs])]

    def preview(self, _pairs: Pairs) -> list[Preview]:
        """What choosing of these pairs will ask and likely cost, as far as it is not known."""
        return []

    def diagnostics(self, _pairs: Pairs, _headline: str, _measure: Measure) -> Diagnostics:
        """For pairs that it has chosen of, with the name and the making of a measure."""
        return self.latest

    def how_to_settle(self, _pairs: Pairs) -> str:
        """What would tell its choices without reading words, and what that costs."""
        return "a column choice of a, b and tie"


class PointwiseScorer(PairScorer):
    """Scores each caption alone; the higher one wins, and equal ones are a tie."""

    exact = False  # else a difference beyond single precision is none

    def no_references(self) -> TrialError:
        return TrialError(
            f"{self.name} needs references, and no pair has one that is neither of its captions; "
            "add such a column reference, or use a control:, clap: or model: scorer"
        )

    @abstractmethod
    def score(self, pairs: Pairs) -> tuple[FloatArray, FloatArray]:
        """Scores of the first captions and of the second; NaN where there is none."""

    def choose(self, pairs: Pairs) -> Sequence[Choice]:
        if not pairs:
            return []
        first, second = self.score(pairs)
        columns = {"score_a": first, "score_b": second, "margin": first - second}
        listed = {name: one.tolist() for name, one in columns.items()}
        self.latest = self.latest._replace(columns=listed)
        return higher(first, second, exact=self.exact)


def higher(first: FloatArray, second: FloatArray, *, exact: bool = False) -> list[Choice]:
    """Compare scores; NaN stands for a caption that was not scored."""
    # A difference beyond single precision is the noise of sums taken in another order.
    form = np.dtype(np.float64 if exact else np.float32)
    left, right = (one.astype(form).astype(np.float64) for one in (first, second))
    unknown = np.isnan(left) | np.isnan(right)
    places = np.select([unknown, left == right, left > right], [3, 2, 0], 1)
    return [_CHOICES[place] for place in places.tolist()]


class MetricScorer(PointwiseScorer):
    """Scores captions with a metric; word weights come from all pairs together.

    ``fense`` does as the published figures were made: first and second captions apart, pairs of
    machines apart from the others, and for these the mean over all sets of references with one left
    out, so that every n-gram metric is held to as many references everywhere.
    """

    needs_corpus = True

    def __init__(self, name: str, settings: TrialSettings) -> None:
        self._metric, parsed = find_metric(name)
        named = [
            (key, own) for key, own in parsed.options.items() if key in self._metric.hears_with
        ]
        refuse_without_audio(self._metric, audio=bool(named))
        self._ears = {key: _ear(key, own, settings) for key, own in named}
        self._written, self._fense = str(parsed), settings.protocol == "fense"
        self.name = f"metric:{parsed}"
        self.signature = sign(self.name)

    def score(self, pairs: Pairs) -> tuple[FloatArray, FloatArray]:
        held_to = [pair.references_first and pair.references_second for pair in pairs]
        known = [n for n, own in enumerate(held_to) if own or not self._metric.reads_references]
        if not known:
            raise self.no_references()
        first, second = np.full((2, len(pairs)), np.nan)
        first[known], second[known] = self._scores([pairs[place] for place in known])
        if self._ears:
            notes = tuple(note for ear in self._ears.values() for note in ear.latest.notes)
            failed = int((np.isnan(first) | np.isnan(second)).sum())
            self.latest = Diagnostics(notes, failed=failed)
        return first, second

    def _heard(self, pairs: Pairs) -> dict[str, Heard]:
        """What each ear heard of the first captions, then of the second ones."""
        found = {}
        for key, ear in self._ears.items():
            scores = np.concatenate(ear.score(self._shown(ear, pairs)))
            found[key] = Heard.by(ear.signature, scores)
        return found

    def _shown(self, ear: PointwiseScorer, pairs: Pairs) -> Pairs:
        """Pairs as an ear is asked about them; files know captions as they were written."""
        if not self._metric.plain or ear.signature.get("file"):
            return pairs
        return [replace(one, first=plain(one.first), second=plain(one.second)) for one in pairs]

    def preview(self, pairs: Pairs) -> list[Preview]:
        return [one for ear in self._ears.values() for one in ear.preview(self._shown(ear, pairs))]

    def _scores(self, pairs: Pairs) -> tuple[FloatArray, FloatArray]:
        metric, heard = self._metric, self._heard(pairs)
        places: list[int] = []
        rows: list[tuple[str, str, tuple[str, ...]]] = []
        sides = zip(captions(pairs), references(pairs), [*pairs, *pairs], strict=True)
        for place, (text, held_to, pair) in enumerate(sides):
            machines = pair.type == "MM"
            # A metric that does not weigh words scores a caption alike in any corpus.
            apart = self._fense and metric.of_corpus
            corpus = f"{place // len(pairs)} {machines}" if apart else ""
            leaves_one_out = self._fense and machines and metric.counts_words and len(held_to) > 1
            sets = list(combinations(held_to, len(held_to) - 1))[::-1] if leaves_one_out else []
            rows += [(corpus, text, own) for own in sets or [held_to]]
            places += [place] * max(1, len(sets))
        scores = np.zeros(len(rows))
        for corpus in dict.fromkeys(name for name, _, _ in rows):
            chosen = [number for number, row in enumerate(rows) if row[0] == corpus]
            asked = [rows[number] for number in chosen]
            # Where captions are no corpus, the same one is scored once.
            each = metric.of_corpus or bool(heard)  # the same words are heard in other clips
            distinct = asked if each else list(dict.fromkeys(asked))
            held, at = [own for _, _, own in distinct], [places[number] for number in chosen]
            own_heard = {key: Heard(one.name, one.scores[at]) for key, one in heard.items()}
            texts = [text for _, text, _ in distinct]
            result = compute([self._written], texts, held, heard=own_heard or None)[0]
            way = "fense" if self._fense else "one-corpus"
            self.signature = result.signature.with_fields(trial=way, compare="float32")
            known = dict(zip(distinct, result.samples.tolist(), strict=True))
            scores[chosen] = result.samples if each else [known[row] for row in asked]
        means: FloatArray = np.bincount(places, weights=scores) / np.bincount(places)
        return means[: len(pairs)], means[len(pairs) :]


def _ear(option: str, value: str, settings: TrialSettings) -> PointwiseScorer:
    """What hears for a metric: a file of scores, a model that rates, or CLAP's encoder."""
    path = Path(value)
    if path.is_file():
        name = f"scores:{value}"
    elif option == "caf" or path.suffix.lower() in (*JSON_LINES, ".json", ".csv", ".tsv"):
        raise TrialError(f"{option}={value}: there is no such file of scores; see scores:FILE")
    else:
        is_folder = option == "clap" and path.is_dir()
        name = f"clap:laion[path={value}]" if is_folder else f"{option}:{value}"
    return cast(PointwiseScorer, create_scorer(name, settings))


_Rule = Callable[[Pairs], list[Choice]]


class ControlScorer(PairScorer):
    """A rule that never hears the clip and knows nothing: what any other scorer must beat."""

    sees_both = True

    def __init__(self, name: str, settings: TrialSettings) -> None:
        check_known("control", name, CONTROLS, TrialError)
        self.name = f"control:{name}"
        self.signature = sign(f"control-{name}")
        self._rule = CONTROLS[name]
        if name == "random":
            self._rule = partial(_random, seed=settings.seed)
            self.signature = self.signature.with_fields(seed=settings.seed)
        elif name == "likelier":
            self.signature = self.signature.with_fields(model=load_ngrams().name)

    def choose(self, pairs: Pairs) -> Sequence[Choice]:
        return self._rule(pairs)


def _longer(pairs: Pairs, sign: int = 1) -> list[Choice]:
    """The longer caption, or the shorter one for -1; the second where both are as long."""
    gaps = [sign * (len(pair.first) - len(pair.second)) for pair in pairs]
    return [Choice.FIRST if gap > 0 else Choice.SECOND for gap in gaps]


def _random(pairs: Pairs, seed: int = 0) -> list[Choice]:
    """Depends on the seed and the pair alone, so that a part of a set is drawn as the whole is."""
    drawn = [int(digest(seed, pair.id, pair.first)[:2], 16) for pair in pairs]
    return [(Choice.FIRST, Choice.SECOND)[one & 1] for one in drawn]


def _rarer_noun(pairs: Pairs) -> list[Choice]:
    """Rarity is counted in these very pairs; nouns are sources, as for the elements judge."""
    from audiocapbench.metrics.elements.splitting import ElementKind, split
    from audiocapbench.metrics.porter import stem

    texts = {*captions(pairs), *(one for own in references(pairs) for one in own)}
    nouns = {
        text: {stem(one.word) for one in split(text).elements if one.kind is ElementKind.SOURCE}
        for text in texts
    }
    frequency = Counter(noun for own in nouns.values() for noun in own)
    rarest = [
        min((frequency[one] for one in nouns[text]), default=np.inf) for text in captions(pairs)
    ]
    return higher(*np.split(-np.array(rarest), 2))


CONTROLS: Mapping[str, _Rule] = {
    "always-0": lambda pairs: [Choice.FIRST] * len(pairs),
    "always-1": lambda pairs: [Choice.SECOND] * len(pairs),
    "longer": _longer,
    "shorter": partial(_longer, sign=-1),
    # The one whose words follow one another as captions' words do.
    "likelier": lambda pairs: higher(
        *np.split(load_ngrams().mean_log_probabilities(captions(pairs)), 2)
    ),
    "rarer-noun": _rarer_noun,
    "random": _random,
}

KINDS: Mapping[str, str] = {
    "metric": "scorer:MetricScorer",
    "judge": "judge:JudgeScorer",
    "rate": "judge:RateScorer",
    "clap": "clap:ClapScorer",
    "control": "scorer:ControlScorer",
    "model": "pairwise:PairwiseScorer",
    "choices": "from_file:ChoicesFile",
    "scores": "from_file:ScoresFile",
}
"""What may stand before the colon of a scorer's name; each is imported when it is asked for."""


def create_scorer(text: str, settings: TrialSettings | None = None) -> PairScorer:
    """Make the scorer that ``KIND:NAME`` stands for, such as ``metric:cider_d``."""
    kind, _, name = (part.strip() for part in text.partition(":"))
    if kind not in KINDS or not name:
        kinds = (
            f"{one}:{'FILE' if place.endswith('File') else 'NAME'}" for one, place in KINDS.items()
        )
        raise TrialError(f"{text!r} is not a scorer; write one of {', '.join(kinds)}")
    create: Callable[[str, TrialSettings], PairScorer]
    create = resolve_name(f"audiocapbench.meta.scorers.{KINDS[kind]}")
    return create(name, settings or TrialSettings())


def find_clip(folder: Path, name: str, *, follow_links: bool = False) -> Path | None:
    """The file of a clip, with or without its suffix, in the folder, ``audio`` or ``clips``."""
    if PurePosixPath(name).is_absolute() or PureWindowsPath(name).is_absolute() or "\0" in name:
        raise TrialError(f"the pairs name a clip {name[:80]!r} that is not a name within a folder")
    for place, suffix in product(_FOLDERS, _SUFFIXES):
        within = f"{PurePosixPath(place, f'{name}{suffix}')}"
        try:
            outside = why_outside(folder, within, follow_links=follow_links)
            found = (folder / within).is_file()
        except (OSError, RuntimeError):  # a link to itself, or a name that no disk takes
            continue
        if outside:
            raise TrialError(f"{folder}: the clip {name[:80]!r} {outside}")
        if found:
            return folder / within
    return None


def trial_clips(
    pairs: Pairs, settings: TrialSettings, name: str, *, hears: bool
) -> dict[str, Clip]:
    """The clips of pairs by their name there, at least one; stand-ins for who hears none."""
    if not hears:
        return {pair.clip: Clip.absent(pair.clip) for pair in pairs}
    folder, found = settings.folder(name), dict[str, Clip]()
    for pair in {pair.clip: pair for pair in reversed(pairs)}.values():
        path = find_clip(folder, pair.audio or pair.clip, follow_links=settings.follow_links)
        if path is not None:
            within = str(path.relative_to(folder))
            clip = read_clip(folder, within, follow_links=settings.follow_links)
            if isinstance(clip, str):
                raise TrialError(f"{path}: {clip}; mend or remove the file")
            found[pair.clip] = clip
    if pairs and not found:
        wanted = pairs[0].audio or pairs[0].clip
        raise TrialError(f"{folder}: has none of the clips, such as {wanted}; check `data`")
    return found
