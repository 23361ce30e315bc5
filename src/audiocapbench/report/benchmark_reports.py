"""Benchmarks examined: what they are made of, a map of it, and what metrics make of controls."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations, compress

import anyio
import numpy as np
from numpy.typing import NDArray

from audiocapbench.benchmarks import Benchmark, Selection
from audiocapbench.benchmarks.corpora import compute_by_corpus
from audiocapbench.data import Sample
from audiocapbench.data.outcome import SCORED, Reply
from audiocapbench.errors import ReportError
from audiocapbench.metrics.encoders import load
from audiocapbench.metrics.names import parse_name
from audiocapbench.metrics.ptb.tokenizer import tokenize
from audiocapbench.metrics.result import FloatArray
from audiocapbench.models.controls import ControlModel
from audiocapbench.models.model import Question
from audiocapbench.plugins import require_packages
from audiocapbench.report.page.drawing import draw_curves, draw_map
from audiocapbench.report.page.plots import draw_sheet
from audiocapbench.report.ratings import effect_of, mean_of
from audiocapbench.signature import Signature
from audiocapbench.stats.correlation import auc
from audiocapbench.table import Column, Findings, Row, Table, ValueWithInterval, signature_notes

_FEWEST, _SEED = 5, 0
KINDS = ("right", "safe", "wrong", "blind", "echo")
_ORDER = [*combinations(KINDS[:3], 2), ("right", "blind"), ("right", "echo")]
"""Of each two, the first has to be above the second, or the scores mean nothing."""
_FORMS = {"share": "%", "minutes": ".3f", "words_a_caption": ".3f"}
_WORDS = "Words are lower-case tokens of the COCO captions tools, without punctuation."
_SAME = "Held to the same references, without the one that the right answer was taken from."
_LEFT_IN = "A right answer is the only reference itself, left in: it scores as high as can be."

Groups = Mapping[str, Sequence[Sample]]


def grouped(benchmarks: Sequence[Benchmark], by: str, draw: int | None = None) -> Groups:
    """Samples, or a draw of each benchmark, by ``category``, ``benchmark`` or a common detail."""
    found: dict[str, list[Sample]] = {}
    for benchmark in benchmarks:
        for one in Selection(sample=draw).of(benchmark):
            own = {**one.details, "category": one.category, "benchmark": benchmark.name}
            if own.get(by) is None:
                known = ", ".join(sorted(own))
                raise ReportError(f"{benchmark.name}: {one.id} has no {by!r}; it has {known}")
            found.setdefault(str(own[by]), []).append(one)
    return dict(sorted(found.items()))


def corpus_report(title: str, groups: Groups, by: str) -> Findings:
    every = list(chain.from_iterable(groups.values()))
    clips = len({one.clip.sha256 for one in every})
    rows: list[Row] = []
    for name, own in [("all", every), *groups.items()]:
        seconds = {one.clip.sha256: one.clip.duration_s for one in own}
        words = [tokenize(text) for one in own for text in one.references]
        row: Row = {by: name, "clips": len(seconds)}
        row["share"] = ValueWithInterval(len(seconds) / clips)
        row["minutes"] = ValueWithInterval(sum(seconds.values()) / 60 or None)
        row["captions"] = len(words)
        row["words_a_caption"] = ValueWithInterval(float(np.mean([len(one) for one in words])))
        rows.append(row | {"vocabulary": len({word for one in words for word in one})})
    columns = [Column(name, form=_FORMS.get(name, "")) for name in rows[0]]
    table = Table(title, rows, columns, [_WORDS], name="groups")
    return Findings([table], {"title": title, "by": by, "notes": [_WORDS]})


def corpus_map(groups: Groups, encoder: str) -> tuple[str, str]:
    """A map on which what is alike lies close together, as SVG, and how it was made."""
    samples = list(chain.from_iterable(groups.values()))
    if len(samples) < _FEWEST:
        raise ReportError(f"a map needs {_FEWEST} samples, and there are {len(samples)}")
    if encoder.partition("[")[0] == "clap":
        from audiocapbench.metrics.clap.scoring import clip_vectors

        vectors = clip_vectors([one.clip for one in samples], **parse_name(encoder).options)
        made = f"audio by {encoder}"
    else:
        found = load(encoder)
        vectors = found.encode([one.references[0] for one in samples])
        made = f"first captions by {found.name}"
    ends = np.cumsum([len(own) for own in groups.values()])[:-1]
    require_packages(ReportError, "a map", "plots", "sklearn")
    from sklearn.manifold import TSNE

    near = min(30.0, (len(vectors) - 1) / 3)
    projection = TSNE(2, perplexity=near, init="pca", metric="cosine", random_state=_SEED)
    points = np.split(np.asarray(projection.fit_transform(vectors)), ends)
    label = f"{len(samples):,} samples, {made}, t-SNE"
    drawn = draw_map(dict(zip(groups, points, strict=True)))
    return draw_sheet([[("", drawn)]], 1, list(groups), label), label


@dataclass(frozen=True, slots=True)
class ControlScores:
    """Scores by metric and kind of answer on the same samples; NaN where a metric says nothing.

    ``left_out`` samples lack a kind of answer; ``left_in``: a right answer is the reference itself.
    """

    benchmark: str
    categories: NDArray[np.str_]
    values: Mapping[str, Mapping[str, FloatArray]]
    signatures: tuple[Signature, ...]
    left_out: int
    left_in: bool

    @property
    def known(self) -> dict[str, dict[str, FloatArray]]:
        return {
            metric: {kind: values[~np.isnan(values)] for kind, values in own.items()}
            for metric, own in self.values.items()
        }


def score_controls(
    benchmark: Benchmark, metrics: Sequence[str], selection: Selection | None = None
) -> ControlScores:
    aggregation = benchmark.traits.aggregation
    chosen = (selection or Selection()).of(benchmark)
    kinds = KINDS if any(one.instruction for one in chosen) else KINDS[:-1]
    answers = {kind: anyio.run(_answer, benchmark, kind, chosen) for kind in kinds}
    together = zip(*answers.values(), strict=True)
    there = [all(one.status in SCORED for one in replies) for replies in together]
    if not any(there):
        why = next(reply.error for replies in answers.values() for reply in replies if reply.error)
        raise ReportError(f"no sample has a right, a safe and a wrong answer: {why}")
    samples = list(compress(chosen, there))
    right = compress(answers["right"], there)
    references = [reply.held_to(one.references) for reply, one in zip(right, samples, strict=True)]
    values: dict[str, dict[str, FloatArray]] = {metric: {} for metric in metrics}
    signatures: dict[str, list[Signature]] = {metric: [] for metric in metrics}
    clips = None if samples[0].clip.is_absent else [one.clip for one in samples]
    for kind, replies in answers.items():
        texts = [reply.text for reply in compress(replies, there)]
        asked_for = (aggregation, metrics, samples, texts, references)
        made, _ = compute_by_corpus(*asked_for, clips=clips)
        for _, rows, result in made:
            if result.name in values:
                own = values[result.name].setdefault(kind, np.full(len(texts), np.nan))
                own[rows] = result.samples
                signatures[result.name].append(result.signature)
    for metric, scored in values.items():
        if len(scored) < len(kinds):
            raise ReportError(f"{metric} has no score of any answer; give it more samples")
    categories = np.array([one.category for one in samples])
    signed = tuple(map(Signature.join, signatures.values()))
    left = len(chosen) - len(samples), benchmark.traits.controls.right_is == "reference"
    return ControlScores(benchmark.name, categories, values, signed, *left)


def _median(values: FloatArray) -> float:
    return float(np.median(values))


def control_report(scores: ControlScores) -> Findings:
    rows: list[Row] = []
    apart: list[Row] = []
    effects = {"medians_apart": lambda one, two: _median(one) - _median(two), "auc": auc}
    for metric, own in scores.known.items():
        for kind, values in own.items():
            low, high = np.quantile(values, [0.25, 0.75]).tolist()
            row: Row = {"metric": metric, "answers": kind, "n": len(values)}
            row |= {"mean": mean_of(values), "median": effect_of(_median, values)}
            ends = {"quartile_1": ValueWithInterval(low), "quartile_3": ValueWithInterval(high)}
            rows.append(row | ends)
        for first, second in ((one, two) for one, two in _ORDER if two in own):
            apart.append({"metric": metric, "first": first, "second": second})
            for name, effect in effects.items():
                apart[-1][name] = effect_of(effect, own[first], own[second])
    categories = np.unique(scores.categories).tolist()
    by_category: list[Row] = []
    for metric, kinds in scores.values.items():
        for category in categories if len(categories) > 1 else ():
            here = scores.categories == category
            known = {kind: values[here & ~np.isnan(values)] for kind, values in kinds.items()}
            row = {"metric": metric, "category": category, "n": int(here.sum())}
            medians = ((kind, _median(own) if len(own) else None) for kind, own in known.items())
            row |= {kind: ValueWithInterval(median) for kind, median in medians}
            row["unusable"] = ", ".join(
                f"{first} is not above {second}"
                for first, second in _ORDER
                if second in known and (auc(known[first], known[second]) or 0) <= 0.5
            )
            by_category.append(row)
    notes = [_LEFT_IN if scores.left_in else _SAME]
    if scores.left_out:
        notes.append(f"{scores.left_out:,} samples lack an answer of some kind and are left out.")
    notes += [
        f"{one['metric']} does not put {one['first']} above {one['second']}."
        for one in apart
        if (one["auc"].value or 0) <= 0.5
    ]
    unusable = [one for one in by_category if one["unusable"]]
    notes += map("{metric} is unusable in {category}: {unusable}.".format_map, unusable)
    title = f"{scores.benchmark}: scores of answers of known quality"
    how_far = "How far they are apart: medians, and how often the first is above"
    signed = signature_notes(scores.signatures)
    tables = [
        Table(title, rows, notes=[*notes, *signed], name="kinds"),
        Table(how_far, apart, name="differences"),
        Table("Medians by category", by_category, name="by_category"),
    ]
    facts = {"benchmark": scores.benchmark, "left_out": scores.left_out, "notes": notes}
    return Findings(tables, facts | {"signatures": list(map(str, scores.signatures))})


def control_sheet(scores: ControlScores) -> str:
    """Cumulative distributions, a panel a metric: the farther apart the curves, the better."""
    drawn = [[(metric, draw_curves(own))] for metric, own in scores.known.items()]
    label = f"{scores.benchmark}: share of answers at or below a score"
    return draw_sheet(drawn, min(len(drawn), 2), [*next(iter(scores.known.values()))], label)


async def _answer(benchmark: Benchmark, kind: str, samples: Sequence[Sample]) -> list[Reply]:
    control = ControlModel(kind)
    control.follow_rules(benchmark.traits.controls)
    control.prepare(benchmark.samples)
    return [await control.answer(Question(one.id, one.instruction, None)) for one in samples]
