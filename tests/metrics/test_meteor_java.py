"""METEOR 1.5 by its jar: the published numbers, and a program that nothing breaks or leaves."""

import os
import signal
import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
import pytest

from audiocapbench.errors import MetricError
from audiocapbench.meta.pairs import PairSet, captions, pair_set, read_pairs, references
from audiocapbench.meta.scorers.scorer import TrialSettings, create_scorer
from audiocapbench.meta.trial import try_scorer
from audiocapbench.metrics import java
from audiocapbench.metrics.java import find_jar, find_java, meteor_1_5, run_jar
from audiocapbench.metrics.result import MetricResult
from coco_oracle import conette
from needs import needs, needs_program, needs_shared


def _need_jar() -> None:
    needs_program("java")
    needs("pycocoevalcap")


def _echo(code: str, text: str = "", timeout: float = 20.0) -> str:
    command = [sys.executable, "-u", "-c", code]
    return run_jar("Echo", command, Path.cwd(), text=text, timeout=timeout)


def _is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


HOSTILE = ["", "a\n||| b", "\x00", "||| |||", "EVAL ||| 1", "😀", "狗在叫", "שלום", "\r\n"]


class Scored(NamedTuple):
    """What METEOR is of some captions, and the program's answer to each of its lines."""

    result: MetricResult
    answers: dict[str, str]


@pytest.fixture(scope="module")
def compared() -> PairSet:
    """A quarter of the pairs that people compared: all of them take Java longer than to begin."""
    path = needs_shared() / "fense/audiocaps_eval_pairs.json"
    pairs = pair_set("human", read_pairs("human", [path]))
    few = [pair for pair in pairs.pairs if pair.type in ("HC", "HI")]
    return replace(pairs, pairs=tuple(few))


@pytest.fixture(scope="module")
def scored(request: pytest.FixtureRequest) -> Scored:
    """Hostile captions and, where they are at hand, real ones: Java takes its seconds once."""
    _need_jar()
    texts = [*HOSTILE, "a dog barks"]
    held = [*([["a dog", "|||\n"]] * len(HOSTILE)), ["", "a dog barks"]]
    with suppress(pytest.skip.Exception):
        corpus, pairs = conette(needs_shared()), request.getfixturevalue("compared").pairs
        texts += [*corpus.predictions, *captions(pairs)]
        held += [*corpus.references, *map(list, references(pairs))]
    answers: dict[str, str] = {}

    def noted(*words: Any, text: str, timeout: float) -> str:
        told = run_jar(*words, text=text, timeout=timeout)
        answers.update(zip(text.split("\n"), told.split("\n"), strict=True))
        return told

    with patch.object(java, "run_jar", noted):
        return Scored(meteor_1_5(texts, held), answers)


def test_hostile_captions_do_not_break_the_protocol(scored: Scored) -> None:
    samples = scored.result.samples[: len(HOSTILE) + 1]
    assert samples[0] == 0.0
    assert samples[-1] == pytest.approx(1.0)
    assert np.isfinite(samples).all()


@pytest.mark.slow
def test_published_scores_of_conette_come_out(shared: Path, scored: Scored) -> None:
    corpus, first = conette(shared), len(HOSTILE) + 1
    result = scored.result.of_rows(range(first, first + len(corpus.predictions)))
    assert len(result.samples) == len(corpus.predictions)
    assert result.samples == pytest.approx(np.array(corpus.published("meteor")), abs=1e-9)
    # The program's own corpus score, as published in scores_audiocaps_test.yaml.
    assert result.score == pytest.approx(0.23195610281653994, abs=1e-9)
    # A resample of one is that sample, so what resampling computes is METEOR itself.
    assert result.aggregate(result.statistics) == pytest.approx(result.samples, abs=1e-9)


@pytest.mark.slow
def test_people_who_compared_captions_agree_as_published(
    compared: PairSet, scored: Scored, monkeypatch: pytest.MonkeyPatch
) -> None:
    def known(*_: Any, text: str, **__: Any) -> str:
        return "\n".join(scored.answers[line] for line in text.split("\n"))

    monkeypatch.setattr(java, "run_jar", known)
    metric = create_scorer("metric:meteor_1_5", TrialSettings(protocol="fense"))
    found = try_scorer(metric, compared).groups["type"]
    accuracies = {kind: one["accuracy"].value or 0.0 for kind, one in found.items()}
    assert {kind: round(one, 1) for kind, one in accuracies.items()} == {"HC": 66.0, "HI": 96.4}


def test_a_sample_without_references_is_named() -> None:
    with pytest.raises(MetricError, match="sample 0 has no reference"):
        meteor_1_5(["a"], [[]])


def test_without_java_one_sentence_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    with pytest.raises(MetricError, match=r"meteor_1_5 .* no Java was found; install"):
        meteor_1_5(["a"], [["a"]])


def test_the_java_of_java_home_goes_first(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.write_text("#!/bin/sh\n")
    java.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert find_java("spice") == str(java)


def test_a_missing_jar_is_named() -> None:
    needs("pycocoevalcap")
    with pytest.raises(MetricError, match=r"spice runs no-such\.jar, .*\[coco\]"):
        find_jar("spice", "no-such.jar")


def test_a_program_that_fills_every_pipe_does_not_stop() -> None:
    code = (
        "import sys\n"
        "for line in sys.stdin:\n"
        "    print('e' * 2000, file=sys.stderr)\n"
        "    print(line.strip()[:3] + 'o' * 2000)\n"
    )
    lines = [f"{n:03d}" + "i" * 2000 + "\n" for n in range(500)]
    replies = _echo(code, "".join(lines)).splitlines()
    assert [int(reply[:3]) for reply in replies] == list(range(500))


def test_a_silent_program_is_stopped_after_the_time_allowed(tmp_path: Path) -> None:
    number = tmp_path / "pid"
    code = f"import os, time\nopen({str(number)!r}, 'w').write(str(os.getpid()))\ntime.sleep(60)"
    with pytest.raises(MetricError, match=r"Echo took more than 5 seconds and was stopped"):
        _echo(code, "hello", timeout=5)
    assert not _is_running(int(number.read_text()))


def test_an_exception_leaves_no_program_behind(tmp_path: Path) -> None:
    def interrupt(*_: object) -> None:
        raise RuntimeError("stopped")

    number = tmp_path / "pid"
    before = signal.signal(signal.SIGUSR1, interrupt)
    code = (
        "import os, pathlib, signal, time\n"
        f"pathlib.Path({str(number)!r}).write_text(str(os.getpid()))\n"
        "os.kill(os.getppid(), signal.SIGUSR1)\n"
        "time.sleep(60)"
    )
    try:
        with pytest.raises(RuntimeError, match="stopped"):
            _echo(code)
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert not _is_running(int(number.read_text()))


def test_a_program_that_dies_is_reported_with_what_it_said() -> None:
    with pytest.raises(MetricError, match="Echo failed with exit code 1; it said: out of memory"):
        _echo("import sys\nsys.exit('out of memory')", "hello")


def test_a_program_that_cannot_be_started_is_named() -> None:
    with pytest.raises(MetricError, match="Echo could not be started"):
        run_jar("Echo", ["/no/such/java"], Path.cwd(), timeout=1)
