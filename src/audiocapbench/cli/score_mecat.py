"""``audiocapbench score --benchmark``: answers to MECAT from files, scored group by group."""

from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from audiocapbench.cli.app import SOME_FAILED
from audiocapbench.cli.console import SHOWN, print_json, say, some
from audiocapbench.cli.outputs import reference_files, refuse_overwriting

if TYPE_CHECKING:
    from audiocapbench.benchmarks.mecat.predictions import Answers
    from audiocapbench.data import Problem


def score_mecat(
    benchmark: str,
    predictions: Sequence[str],
    references: Path,
    metrics: Sequence[str],
    per_sample: Path | None,
    *,
    json: bool,
) -> None:
    """Score prediction files and print the groups, or one JSON document.

    Raises:
        AudioCapBenchError: The benchmark, a file or a metric is not what it should be.
    """
    from audiocapbench.benchmarks.corpora import check_metrics
    from audiocapbench.benchmarks.instructions import caption_prompt
    from audiocapbench.benchmarks.mecat.groups import SUBTASKS
    from audiocapbench.benchmarks.mecat.items import read_items
    from audiocapbench.benchmarks.mecat.predictions import looks_like, read_answers, source_of
    from audiocapbench.benchmarks.mecat.traits import TRAITS, asks_for_captions, base_name
    from audiocapbench.benchmarks.registry import options_of
    from audiocapbench.cli.results import print_groups
    from audiocapbench.errors import BenchmarkError, DatasetError
    from audiocapbench.report.samples import write_scores
    from audiocapbench.scores.file_scores import score_groups

    traits = TRAITS.get(base_name(benchmark))
    if traits is None or traits.aggregation is None:
        raise BenchmarkError(f"{benchmark}: only mecat-caption and mecat-qa are scored from files")
    caption_prompt(SUBTASKS[0], **options_of(benchmark))
    aggregation = traits.aggregation
    check_metrics(aggregation, metrics)
    sources = [source_of(benchmark, text) for text in predictions]
    given = (source.path for source in sources)
    refuse_overwriting(per_sample, chain(given, reference_files(references)))
    items = read_items(benchmark, references)
    answers = read_answers(benchmark, sources, items)
    if not answers.texts:
        _say_what_does_not_fit(answers)
        other = looks_like(benchmark, answers, items)
        hint = f"; this looks like {other}" if other else ""
        raise DatasetError(
            f"no prediction belongs to any of the references; nothing was scored{hint}"
        )
    scores = score_groups(aggregation, metrics, items, answers.texts)
    if per_sample is not None:
        write_scores(per_sample, scores.table)
    if json:
        print_json({"benchmark": benchmark, **_facts(answers), **scores.to_dict()})
    else:
        title = f"{benchmark}: {len(scores.ids):,} answers, with 95 % intervals"
        print_groups(scores.table, metrics, metrics, title)
        say(*(f"{one.corpus}: no {one.metric}. {one.reason}" for one in scores.unscored))
    for source in sources if asks_for_captions(benchmark) else ():
        what = source.subtask or "all sub-tasks"
        say(f"{source.path.name}: read as answers to {what}, but for lines that name their own.")
    _say_what_does_not_fit(answers)
    if answers.bad or answers.missing:
        raise typer.Exit(SOME_FAILED)


def _facts(answers: "Answers") -> dict[str, object]:
    return {
        "missing": len(answers.missing),
        "missing_ids": answers.missing,
        "missing_outside": answers.missing_outside,
        "absent_subtasks": answers.absent,
        "surplus": len(answers.surplus),
        "surplus_ids": answers.surplus,
        "bad_lines": [str(problem) for problem in answers.bad],
    }


def _say_what_does_not_fit(answers: "Answers") -> None:
    say(*map(str, answers.bad[:SHOWN]))
    if len(answers.bad) > SHOWN:
        say(f"… {len(answers.bad):,} lines were left out: {_line_numbers(answers.bad)}")
    if answers.absent:
        say(f"No file has answers to {', '.join(answers.absent)}.")
    for keys, words in (
        (answers.missing, "answers are missing"),
        (answers.surplus, "keys have no references"),
    ):
        if keys:
            say(f"{len(keys):,} {words}: {some(keys)}")


def _line_numbers(bad: "Sequence[Problem]") -> str:
    """Where the first bad lines of each file are; JSON lists them all."""
    by_file: dict[str, list[str]] = {}
    for problem in bad:
        name, line, number = problem.where.rpartition(" line ")
        file = name if line else problem.where.partition(" [")[0]
        by_file.setdefault(file, []).append(number if line else "")
    return "; ".join(
        f"{name} line {_first(list(dict.fromkeys(numbers)))}"
        if all(numbers)
        else f"{name} ({len(numbers):,})"
        for name, numbers in by_file.items()
    )


def _first(numbers: "Sequence[str]") -> str:
    more = f" and {len(numbers) - SHOWN:,} more" if len(numbers) > SHOWN else ""
    return f"{', '.join(numbers[:SHOWN])}{more}"
