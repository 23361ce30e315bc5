"""SPICE by its jar: what is said when something is missing, and that nothing is left behind."""

import tempfile
from pathlib import Path

import numpy as np
import pytest

from audiocapbench.errors import MetricError
from audiocapbench.metrics.java import spice
from needs import needs, needs_program

SCRIPT = """#!/bin/sh
if [ "$1" = "-version" ]; then echo 'openjdk version "17.0.1"' >&2; exit 0; fi
{action}
"""


@pytest.fixture
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A pycocoevalcap whose jars are empty, and a place for a Java that only pretends."""
    lib = tmp_path / "site" / "pycocoevalcap" / "spice" / "lib"
    lib.mkdir(parents=True)
    (lib.parent / "spice-1.0.jar").touch()
    for name in ("stanford-corenlp-3.6.0.jar", "stanford-corenlp-3.6.0-models.jar"):
        (lib / name).touch()
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    return tmp_path


def _java_does(folder: Path, action: str) -> None:
    java = folder / "bin" / "java"
    java.write_text(SCRIPT.format(action=action))
    java.chmod(0o755)


def test_missing_models_are_named_with_their_place() -> None:
    pycocoevalcap = needs("pycocoevalcap")
    needs_program("java")
    lib = Path(pycocoevalcap.__path__[0], "spice", "lib")
    if (lib / "stanford-corenlp-3.6.0-models.jar").exists():
        pytest.skip("the models are installed")
    with pytest.raises(MetricError, match=r"spice needs stanford-corenlp-3\.6\.0\.jar and .*lib"):
        spice(["a dog"], [["a dog barks"]])


def test_a_sample_without_references_is_named() -> None:
    with pytest.raises(MetricError, match="sample 0 has no reference"):
        spice(["a"], [[]])


def test_predictions_without_words_score_zero_and_start_nothing() -> None:
    assert spice(["", "...", "\x00"], [["a dog"]] * 3).samples.tolist() == [0.0, 0.0, 0.0]


def test_answers_are_read_by_sample_and_no_file_stays(stand_in: Path) -> None:
    answer = (
        '[{"image_id": 2, "scores": {"All": {"f": 0.5}}},'
        ' {"image_id": 0, "scores": {"All": {"f": NaN}}}]'
    )
    _java_does(
        stand_in,
        f"""while [ "$1" != "-jar" ]; do shift; done
cp "$3" '{stand_in}/asked.json'
cat > "$5" <<'END'
{answer}
END""",
    )
    result = spice(["a\ndog |||", "", "rain"], [["x"], ["y"], ["z", "..."]])
    assert result.samples.tolist() == [0.0, 0.0, 0.5]
    assert np.isfinite(result.score)
    asked = (stand_in / "asked.json").read_text()
    assert '"test": "a dog | | |"' in asked
    assert '"refs": ["z"]' in asked
    assert list((stand_in / "temporary").iterdir()) == []


def test_a_failure_is_one_sentence_and_no_file_stays(stand_in: Path) -> None:
    _java_does(stand_in, "echo 'Exception: no heap' >&2; exit 3")
    with pytest.raises(MetricError, match=r"SPICE failed with exit code 3; .* no heap"):
        spice(["a dog"], [["a dog"]])
    assert list((stand_in / "temporary").iterdir()) == []


def test_a_program_that_takes_too_long_is_stopped(stand_in: Path) -> None:
    _java_does(stand_in, "exec sleep 60")
    with pytest.raises(MetricError, match="SPICE took more than 1 seconds"):
        spice(["a dog"], [["a dog"]], timeout=1)
    assert list((stand_in / "temporary").iterdir()) == []
