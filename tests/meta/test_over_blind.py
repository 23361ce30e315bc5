"""From blind to people: where a model's score stands between the two."""

import csv
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from audiocapbench.benchmarks.traits import Aggregation
from audiocapbench.data import Clip, Sample
from audiocapbench.errors import AudioCapBenchError, TrialError
from audiocapbench.meta.over_blind import (
    ABOVE,
    BLIND,
    OVER,
    PERSON,
    blind_warnings,
    over_blind,
    put_over_blind,
)
from audiocapbench.scores.estimate import Scorer
from audiocapbench.scores.summary import score_groups
from audiocapbench.scores.table import ScoreTable
from command import run_command

THINGS = ("dog", "cat", "bell", "horn", "train", "engine", "crowd", "bird", "baby", "clock")
DOES = ("barks", "meows", "rings", "honks", "passes", "idles", "cheers", "sings", "cries", "ticks")
REFERENCES = [
    (
        f"A {one} {does} {how}.",
        f"The {one} {does} {how} nearby.",
        f"One {one} {does} {how} outside.",
    )
    for one, does in zip(THINGS, DOES, strict=True)
    for how in ("loudly", "softly", "twice")
]
HEARS = [own[0].replace("A ", "Some ") for own in REFERENCES]
DEAF = ["Something happens."] * len(REFERENCES)
METEOR = Scorer("meteor")


def table_of(
    texts: Sequence[str],
    metric: str = "meteor",
    references: Sequence[tuple[str, ...]] = REFERENCES,
    weights: Mapping[str, float] | None = None,
) -> ScoreTable:
    names = list(weights or [""])
    samples = [
        Sample(f"s{n}", Clip.absent(f"c{n}"), "", own, names[n % len(names)], n)
        for n, own in enumerate(references)
    ]
    answers = {one.id: text for one, text in zip(samples, texts, strict=True)}
    together = Aggregation("total", weights) if weights else None
    return score_groups(together, [metric], samples, answers).table


def test_who_hears_stands_between_blind_and_people() -> None:
    table = table_of(HEARS)
    put_over_blind(table, METEOR, evaluations=60)
    found = over_blind(table, METEOR)
    blind, person, above, over = (found[key].value or 0.0 for key in (BLIND, PERSON, ABOVE, OVER))
    assert blind < blind + above
    assert over == pytest.approx(above / (person - blind))
    assert over > 0
    interval = found[OVER].interval
    assert interval is not None
    assert interval.low < over < interval.high
    assert interval.low > 0
    assert found[OVER].signature.get("scale") == "blind"
    assert found[OVER].n == len(REFERENCES)
    assert blind_warnings("a", table, METEOR) == []


def test_who_says_the_same_of_every_clip_is_not_above_blind() -> None:
    table = table_of(DEAF)
    put_over_blind(table, METEOR, evaluations=60)
    found = over_blind(table, METEOR)
    assert (found[OVER].value or 0.0) <= 0.05
    [warning] = blind_warnings("deaf", table, METEOR)
    assert warning.startswith("deaf is not surely above the 0.")


def test_a_scorer_without_a_difference_has_no_scale() -> None:
    table, scorer = table_of(HEARS, "fluency"), Scorer("fluency")
    put_over_blind(table, scorer, evaluations=40)
    found = over_blind(table, scorer)
    assert (found[OVER].value, found[OVER].interval) == (None, None)
    assert found[BLIND].value is not None
    assert "people, with 0." in blind_warnings("a", table, scorer)[0]


def test_the_same_table_has_the_same_scale() -> None:
    first, again = table_of(HEARS), table_of(HEARS)
    for one in (first, again):
        put_over_blind(one, METEOR, evaluations=30)
    assert over_blind(first, METEOR) == over_blind(again, METEOR)
    assert over_blind(table_of(HEARS), METEOR) == {}


def test_corpora_are_searched_apart_and_add_up() -> None:
    table = table_of(HEARS, weights={"a": 0.75, "b": 0.25})
    put_over_blind(table, METEOR, evaluations=30)
    found = over_blind(table, METEOR)
    blind, person = (found[key].value or 0.0 for key in (BLIND, PERSON))
    assert person > blind


def test_single_references_are_refused() -> None:
    single = [own[:1] for own in REFERENCES]
    with pytest.raises(TrialError, match="0 answered samples have two references"):
        put_over_blind(table_of(HEARS, references=single), METEOR)
    few = [*REFERENCES[:9], *single[9:]]
    with pytest.raises(TrialError, match="5 answered samples of a have two"):
        put_over_blind(table_of(HEARS, references=few, weights={"a": 0.5, "b": 0.5}), METEOR)
    with pytest.raises(AudioCapBenchError, match="hears the clips"):
        put_over_blind(table_of(HEARS), Scorer("clap"))


def test_a_judge_that_asks_a_model_is_refused_before_it_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    words = ("score", "1", "--judge", "openai/gpt-4.1", "--scale", "blind", "--yes")
    done = run_command(*words, cwd=tmp_path)
    assert done.returncode == 2
    assert "tens of thousands of questions" in done.stderr


@pytest.mark.slow
def test_a_run_keeps_its_scale_and_the_leaderboard_shows_it(tmp_path: Path) -> None:
    for name, texts in (("hears", HEARS), ("deaf", DEAF)):
        rows = [
            {"id": f"s{n}", "prediction": text, "references": own}
            for n, (text, own) in enumerate(zip(texts, REFERENCES, strict=True))
        ]
        file = tmp_path / f"{name}.jsonl"
        file.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    by = ("--metrics", "rouge_l", "--scale", "blind")
    files = ("--predictions", "hears.jsonl", "--references", "hears.jsonl")
    scored = run_command("score", *files, *by, "--json", cwd=tmp_path)
    assert scored.returncode == 0, scored.stderr
    document = json.loads(scored.stdout)
    assert document["over_blind"]["rouge_l"]["over blind"]["ci"][0] > 0
    assert document["metrics"]["rouge_l"]["score"] > 0
    given = ("--references", "deaf.jsonl", "--model", "deaf")
    run_command("import", "deaf.jsonl", *given, cwd=tmp_path)
    done = run_command("score", "1", *by, cwd=tmp_path)
    assert "From blind (0)" in done.stdout, done.stderr
    assert "Warning: deaf is not surely above" in done.stderr
    shown = run_command("leaderboard", "--metric", "rouge_l", "--json", cwd=tmp_path)
    [board] = json.loads(shown.stdout)["boards"]
    assert board["runs"][0]["over_blind"]["score"] < 0
    table = run_command("leaderboard", "--metric", "rouge_l", "--format", "csv", cwd=tmp_path)
    [row] = csv.DictReader(table.stdout.splitlines())
    assert float(row["over_blind_low"]) < float(row["over_blind"]) < 0
    assert any(note.startswith("Warning: deaf is not surely above") for note in board["notes"])


def test_a_run_and_a_benchmark_are_corpora_of_a_search(tmp_path: Path) -> None:
    rows = [
        {"id": f"s{n}", "prediction": text, "references": own}
        for n, (text, own) in enumerate(zip(HEARS, REFERENCES, strict=True))
    ]
    file = tmp_path / "a.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    given = ("--references", "a.jsonl", "--model", "mine")
    run_command("import", "a.jsonl", *given, cwd=tmp_path)
    words = ("meta", "cheat", "--search", "--evaluations", "20", "--scorer", "metric:rouge_l")
    done = run_command(*words, "--captions", "1", cwd=tmp_path)
    assert "a model's" in done.stdout, done.stderr
    done = run_command(*words, "--captions", "demo", cwd=tmp_path)
    assert "best sentence" in done.stdout, done.stderr
    done = run_command(*words, "--captions", "absent.csv", cwd=tmp_path)
    assert done.returncode == 2
    assert "absent.csv" in done.stderr
    assert run_command(*words, "--captions", "demmo", cwd=tmp_path).returncode == 2
