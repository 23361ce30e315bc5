"""Whether AudioCapBench's printed tables agree with each other and with what its text says of them.

A table row that does not fit is a misprint or a rounding; a claim that does not fit is the text's.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from audiocapbench.benchmarks.captioning import PublishedResults, PublishedRow
from audiocapbench.stats.correlation import rank_correlation

ROUNDING = 0.01
"""Half a last digit of the printed mean, and half a last digit of what it is the mean of."""

WEAK = 0.5
"""A rank correlation below this is commonly called weak."""

_EXACT = 1e-9
_DIMENSIONS = ("accuracy", "completeness", "hallucination")
_GEMINI, _REALTIME = "gemini", "openai-realtime"

# Each Realtime model beside the Chat Completions model of the same size and generation.
_COUNTERPARTS = {
    "openai-realtime/gpt-4o-realtime-preview": "openai/gpt-4o-audio-preview",
    "openai-realtime/gpt-realtime": "openai/gpt-audio",
    "openai-realtime/gpt-realtime-mini": "openai/gpt-audio-mini",
}


class Misfit(NamedTuple):
    """A printed statement that does not follow from the printed numbers.

    Attributes:
        check: What was checked.
        row: The model, or the metric, that does not fit.
        said: What the paper says.
        found: What its numbers give.
    """

    check: str
    row: str
    said: str
    found: str


Check = Callable[[PublishedResults], Iterator[Misfit]]


def published_misfits(results: PublishedResults) -> list[Misfit]:
    """Every row that does not fit, in the order of the checks."""
    return [misfit for check in CHECKS for misfit in check(results)]


def mean_of_dimensions(results: PublishedResults) -> Iterator[Misfit]:
    """Overall is the mean of accuracy, completeness and hallucination, within rounding."""
    for row in results.rows:
        mean = sum(row.judged[name] for name in _DIMENSIONS) / len(_DIMENSIONS)
        if abs(mean - row.judged["overall"]) > ROUNDING + _EXACT:
            yield _misfit("overall is the mean of the dimensions", row, mean)


def mean_of_categories(results: PublishedResults) -> Iterator[Misfit]:
    """Overall is the mean of the categories by their samples, within rounding."""
    for row in results.rows:
        parts = (row.by_category[name] * count for name, count in results.counts.items())
        mean = sum(parts) / results.total
        if abs(mean - row.judged["overall"]) > ROUNDING + _EXACT:
            yield _misfit("overall is the weighted mean of the categories", row, mean)


def order_of_rows(results: PublishedResults) -> Iterator[Misfit]:
    """The printed places follow the printed overall scores."""
    by_score = sorted(results.rows, key=lambda row: -row.judged["overall"])
    for place, row in enumerate(by_score, 1):
        if row.rank != place:
            yield Misfit("places follow the scores", row.model, f"{row.rank}", f"{place}")


def top_three(results: PublishedResults) -> Iterator[Misfit]:
    """Section 3.1: Gemini models hold the first three places."""
    for row in results.rows:
        if row.rank <= 3 and _provider(row) != _GEMINI:
            yield Misfit("the first three are Gemini", row.model, _GEMINI, _provider(row))


def extremes(results: PublishedResults) -> Iterator[Misfit]:
    """Sections 3.1 to 3.3: the models that are named as highest or lowest of a column."""
    for column, pick, model, value in (
        ("overall", max, "gemini/gemini-3-pro-preview", 6.00),
        ("speech", max, "gemini/gemini-2.5-flash", 6.63),
        ("music", max, "gemini/gemini-3-pro-preview", 5.68),
        ("sound", max, "gemini/gemini-3-pro-preview", 6.40),
        ("sound", min, "openai/gpt-audio-mini", 3.65),
        ("hallucination", max, "openai/gpt-4o-mini-audio-preview", 7.90),
        ("accuracy", min, "openai/gpt-4o-mini-audio-preview", 1.63),
        ("completeness", min, "openai/gpt-4o-mini-audio-preview", 1.41),
        ("meteor", max, "gemini/gemini-3-flash-preview", 0.240),
        ("bleu_4", max, "gemini/gemini-3-flash-preview", 0.041),
    ):
        values = {row.model: _column(row, column) for row in results.rows}
        extreme = pick(values.values())
        if (values[model], extreme) != (value, value):
            word = "highest" if pick is max else "lowest"
            yield Misfit(f"{word} {column}", model, f"{value:g}", f"{values[model]:g}")


def place_of_gemini_3_flash(results: PublishedResults) -> Iterator[Misfit]:
    """Section 3.3: the best of METEOR and BLEU-4 is fifth overall."""
    row = _row(results, "gemini/gemini-3-flash-preview")
    if row.rank != 5:
        yield Misfit("fifth overall", row.model, "5", f"{row.rank}")


def realtime_below_chat(results: PublishedResults) -> Iterator[Misfit]:
    """Section 3.3: Realtime models score lower than their Chat Completions counterparts."""
    for realtime, chat in _COUNTERPARTS.items():
        one, other = (_row(results, name).judged["overall"] for name in (realtime, chat))
        if one >= other:
            found = f"{one:.2f} against {other:.2f} of {chat}"
            yield Misfit("Realtime is below Chat Completions", realtime, "lower", found)


def gemini_more_complete(results: PublishedResults) -> Iterator[Misfit]:
    """Section 3.3: Gemini models consistently outperform OpenAI's on completeness."""
    others = [row for row in results.rows if _provider(row) != _GEMINI]
    best = max(others, key=lambda row: row.judged["completeness"])
    for row in results.rows:
        if _provider(row) == _GEMINI and row.judged["completeness"] <= best.judged["completeness"]:
            found = f"{row.judged['completeness']:.2f} against "
            found += f"{best.judged['completeness']:.2f} of {best.model}"
            yield Misfit("Gemini is more complete than OpenAI", row.model, "higher", found)


def speech_is_best(results: PublishedResults) -> Iterator[Misfit]:
    """Abstract: all models are best on speech."""
    for row in results.rows:
        best = max(row.by_category, key=lambda name: row.by_category[name])
        if best != "speech":
            yield Misfit("best on speech", row.model, "speech", best)


def music_is_worst(results: PublishedResults) -> Iterator[Misfit]:
    """Abstract and conclusion: all models are worst on music."""
    for row in results.rows:
        worst = min(row.by_category, key=lambda name: row.by_category[name])
        if worst != "music":
            yield Misfit("worst on music", row.model, "music", worst)


def widest_on_sound(results: PublishedResults) -> Iterator[Misfit]:
    """Figure 3: the gaps between models are largest on sound."""
    ranges = {
        name: max(row.by_category[name] for row in results.rows)
        - min(row.by_category[name] for row in results.rows)
        for name in results.counts
    }
    widest = max(ranges, key=lambda name: ranges[name])
    if widest != "sound":
        found = f"{ranges['sound']:.2f} against {ranges[widest]:.2f} of {widest}"
        yield Misfit("gaps are largest on sound", "sound", "largest", found)


def chat_before_realtime(results: PublishedResults) -> Iterator[Misfit]:
    """Figure 2: Chat Completions models stand above the Realtime ones."""
    best = max(row.judged["overall"] for row in results.rows if _provider(row) == _REALTIME)
    for row in results.rows:
        if _provider(row) == "openai" and row.judged["overall"] < best:
            found = f"{row.judged['overall']:.2f} against {best:.2f} of the best Realtime"
            yield Misfit("Chat Completions before Realtime", row.model, "before", found)


def openai_hallucinates_less(results: PublishedResults) -> Iterator[Misfit]:
    """Abstract: OpenAI's models hallucinate less; by the mean of Gemini's."""
    gemini = [row.judged["hallucination"] for row in results.rows if _provider(row) == _GEMINI]
    mean = sum(gemini) / len(gemini)
    for row in results.rows:
        if _provider(row) != _GEMINI and row.judged["hallucination"] < mean:
            found = f"{row.judged['hallucination']:.2f} against {mean:.2f}, Gemini's mean"
            yield Misfit("OpenAI hallucinates less", row.model, "less", found)


def mini_in_the_upper_left(results: PublishedResults) -> Iterator[Misfit]:
    """Figure 4: OpenAI's mini models are conservative but empty: above and left of the means."""
    means = {
        name: sum(row.judged[name] for row in results.rows) / len(results.rows)
        for name in ("accuracy", "hallucination")
    }
    for row in results.rows:
        judged = row.judged
        left, upper = (judged[name] - mean for name, mean in means.items())
        if "-mini" in row.model and not left < 0 < upper:
            found = f"{judged['accuracy']:.2f} and {judged['hallucination']:.2f}"
            yield Misfit("mini models in the upper left", row.model, "upper left", found)


def underlined_second_best(results: PublishedResults) -> Iterator[Misfit]:
    """Table 1: the second best of a column is underlined, where any is."""
    for column, model in (
        ("accuracy", "gemini/gemini-2.5-pro"),
        ("completeness", "gemini/gemini-2.5-pro"),
        ("hallucination", "openai/gpt-4o-audio-preview"),
        ("overall", "gemini/gemini-2.5-pro"),
        ("bleu_4", "gemini/gemini-3-pro-preview"),
        ("rouge_l", "openai-realtime/gpt-4o-realtime-preview"),
    ):
        order = sorted(results.rows, key=lambda row: -_column(row, column))
        place = [row.model for row in order].index(model) + 1
        if place != 2:
            value = _column(_row(results, model), column)
            yield Misfit(f"second best {column}", model, "2", f"{place} with {value:.2f}")
    second = sorted(results.rows, key=lambda row: -row.metrics["meteor"])[1]
    found = f"2 with {second.metrics['meteor']:.3f}"
    yield Misfit("second best meteor", second.model, "not underlined", found)


def metrics_hardly_follow(results: PublishedResults) -> Iterator[Misfit]:
    """Section 3.3: traditional metrics correlate weakly with the judge; here over models."""
    judged = np.array([row.judged["overall"] for row in results.rows])
    for metric in results.rows[0].metrics:
        found = rank_correlation(np.array([row.metrics[metric] for row in results.rows]), judged)
        if found is not None and abs(found) >= WEAK:
            yield Misfit("weak correlation with the judge", metric, "weak", f"{found:.2f}")


CHECKS: tuple[Check, ...] = (
    mean_of_dimensions,
    mean_of_categories,
    order_of_rows,
    top_three,
    extremes,
    place_of_gemini_3_flash,
    realtime_below_chat,
    gemini_more_complete,
    speech_is_best,
    music_is_worst,
    widest_on_sound,
    chat_before_realtime,
    openai_hallucinates_less,
    mini_in_the_upper_left,
    underlined_second_best,
    metrics_hardly_follow,
)


def _column(row: PublishedRow, name: str) -> float:
    return {**row.judged, **row.metrics, **row.by_category}[name]


def _misfit(check: str, row: PublishedRow, mean: float) -> Misfit:
    return Misfit(check, row.model, f"{row.judged['overall']:.2f}", f"{mean:.4f}")


def _row(results: PublishedResults, model: str) -> PublishedRow:
    return next(row for row in results.rows if row.model == model)


def _provider(row: PublishedRow) -> str:
    return row.model.partition("/")[0]
