"""AudioCapBench's printed tables: as they are, and where the text says something else."""

from dataclasses import replace

import pytest

from audiocapbench.benchmarks.benchmark_file import published_results
from audiocapbench.benchmarks.captioning import PublishedResults
from audiocapbench.models import list_models
from audiocapbench.models.model import PAPER
from published_checks import Misfit, published_misfits


@pytest.fixture
def results() -> PublishedResults:
    found = published_results("audiocapbench")
    assert found is not None
    return found


def test_the_thirteen_models_of_the_paper_are_there_in_order(results: PublishedResults) -> None:
    assert [row.rank for row in results.rows] == list(range(1, 14))
    in_paper = {model.name for model in list_models() if model.description == PAPER}
    assert {row.model for row in results.rows} == in_paper
    assert (results.total, results.judge) == (1000, "GPT-4.1")
    assert "tables 1, 2 and 3" in results.source


def test_column_sums_are_those_of_the_first_transcription(results: PublishedResults) -> None:
    """A guard against later slips: the sums of the figures as they were first transcribed."""
    columns: dict[str, float] = {}
    for row in results.rows:
        for name, value in {**row.judged, **row.metrics, **row.by_category}.items():
            columns[name] = columns.get(name, 0.0) + value
    assert columns == pytest.approx(
        {
            "accuracy": 61.11,
            "completeness": 58.78,
            "hallucination": 75.51,
            "overall": 65.14,
            "meteor": 2.535,
            "bleu_4": 0.284,
            "rouge_l": 1.925,
            "sound": 64.90,
            "music": 57.89,
            "speech": 72.65,
        },
        abs=1e-9,
    )


def test_only_these_statements_of_the_paper_do_not_fit_its_numbers(
    results: PublishedResults,
) -> None:
    misfits = published_misfits(results)
    assert misfits == [
        Misfit(
            "Realtime is below Chat Completions",
            "openai-realtime/gpt-realtime-mini",
            "lower",
            "4.40 against 3.93 of openai/gpt-audio-mini",
        ),
        Misfit(
            "Gemini is more complete than OpenAI",
            "gemini/gemini-2.0-flash",
            "higher",
            "4.43 against 5.12 of openai/gpt-4o-audio-preview",
        ),
        Misfit(
            "Gemini is more complete than OpenAI",
            "gemini/gemini-2.5-flash-lite",
            "higher",
            "4.03 against 5.12 of openai/gpt-4o-audio-preview",
        ),
        Misfit("best on speech", "gemini/gemini-3-pro-preview", "speech", "sound"),
        Misfit("best on speech", "openai/gpt-audio", "speech", "sound"),
        Misfit("best on speech", "openai/gpt-4o-mini-audio-preview", "speech", "sound"),
        Misfit("worst on music", "gemini/gemini-2.0-flash", "music", "sound"),
        Misfit("worst on music", "openai/gpt-audio", "music", "speech"),
        Misfit("gaps are largest on sound", "sound", "largest", "2.75 against 3.05 of speech"),
        *(
            Misfit(
                "Chat Completions before Realtime",
                f"openai/{name}",
                "before",
                f"{score} against 4.73 of the best Realtime",
            )
            for name, score in (("gpt-audio-mini", "3.93"), ("gpt-4o-mini-audio-preview", "3.65"))
        ),
        *(
            Misfit(
                "OpenAI hallucinates less",
                f"openai-realtime/{name}",
                "less",
                f"{score} against 5.49, Gemini's mean",
            )
            for name, score in (
                ("gpt-4o-realtime-preview", "5.25"),
                ("gpt-realtime", "4.90"),
                ("gpt-realtime-mini", "5.01"),
            )
        ),
        Misfit(
            "mini models in the upper left",
            "openai-realtime/gpt-realtime-mini",
            "upper left",
            "4.29 and 5.01",
        ),
        Misfit("second best hallucination", "openai/gpt-4o-audio-preview", "2", "5 with 6.30"),
        Misfit(
            "second best meteor", "gemini/gemini-3-pro-preview", "not underlined", "2 with 0.234"
        ),
        Misfit("weak correlation with the judge", "meteor", "weak", "0.83"),
        Misfit("weak correlation with the judge", "bleu_4", "weak", "0.71"),
    ]
    assert [misfit._asdict() for misfit in misfits] == list(results.misfits), "as the data says"


def test_the_tables_fit_each_other_to_the_last_digit(results: PublishedResults) -> None:
    """The specification's own bounds: .0034 for the dimensions, .006 for the categories."""
    for row in results.rows:
        judged = row.judged
        mean = (judged["accuracy"] + judged["completeness"] + judged["hallucination"]) / 3
        assert judged["overall"] == pytest.approx(mean, abs=0.0034)
        parts = sum(row.by_category[name] * count for name, count in results.counts.items())
        assert judged["overall"] == pytest.approx(parts / 1000, abs=0.0061)


def test_a_slip_of_the_pen_is_found(results: PublishedResults) -> None:
    first, *others = results.rows
    wrong = replace(first, judged={**first.judged, "overall": 5.60})
    found = published_misfits(replace(results, rows=(wrong, *others)))
    checks = {misfit.check for misfit in found if misfit.row == first.model}
    assert {
        "overall is the mean of the dimensions",
        "overall is the weighted mean of the categories",
        "places follow the scores",
        "highest overall",
    } <= checks


def test_other_benchmarks_have_no_published_results_here() -> None:
    assert published_results("demo") is None
    assert published_results(None) is None
