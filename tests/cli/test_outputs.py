"""Files that commands write: never one that they read, and whole or not at all."""

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from audiocapbench.cli.options import Outputs, refuse_overwriting, store_file
from audiocapbench.errors import AudioCapBenchError, ReportError
from audiocapbench.files import write_file
from audiocapbench.table.forms import parquet_content
from command import run_command
from needs import needs


@contextmanager
def small_disk(limit: int) -> Iterator[None]:
    """No file may grow longer than so many bytes, as on a disk that is nearly full."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_file_that_is_read_is_refused_under_any_name(tmp_path: Path) -> None:
    read = tmp_path / "read.csv"
    read.write_text("id\n")
    (tmp_path / "link.csv").symlink_to(read)
    (tmp_path / "twin.csv").hardlink_to(read)
    for name in ("read.csv", "link.csv", "twin.csv", "../" + tmp_path.name + "/read.csv"):
        with pytest.raises(AudioCapBenchError, match="would be overwritten; name another file"):
            refuse_overwriting(tmp_path / name, [tmp_path / "none", read])


def test_other_files_are_not_refused(tmp_path: Path) -> None:
    read, old = tmp_path / "read.csv", tmp_path / "old.csv"
    for path in (read, old):
        path.write_text("id\n")
    for out in (None, old, tmp_path / "new.csv", tmp_path / "none" / "new.csv"):
        refuse_overwriting(out, [read, tmp_path / "missing.csv", tmp_path])


def test_the_files_of_a_folder_and_of_a_store_are_known(tmp_path: Path) -> None:
    (tmp_path / "caption_test").mkdir()
    inside = tmp_path / "caption_test" / "00A.jsonl"
    inside.write_text("{}\n")
    for place in (tmp_path, inside):
        with pytest.raises(AudioCapBenchError, match="would be overwritten"):
            refuse_overwriting(inside, [place])
    assert store_file("sqlite:////srv/runs.db") == Path("/srv/runs.db")
    assert not store_file("postgresql+psycopg://host/runs").exists()


@pytest.mark.parametrize("name", ["samples.xlsx", "samples.json", "samples.PARQUET"])
def test_samples_are_not_written_as_csv_under_another_name(name: str) -> None:
    with pytest.raises(AudioCapBenchError, match=r"writes CSV, TSV and JSONL, and no \."):
        Outputs(Path(name), None, json=False)
    for known in ("a.csv", "a.TSV", "a.jsonl", "/dev/stdout"):
        Outputs(Path(known), None, json=False)


def test_score_never_overwrites_what_it_reads(tmp_path: Path) -> None:
    contents = {"p.csv": "id,prediction\n1,a dog\n", "r.csv": "id,reference\n1,a dog\n"}
    for name, text in contents.items():
        (tmp_path / name).write_text(text)
    given = ["--predictions", str(tmp_path / "p.csv"), "--references", str(tmp_path / "r.csv")]
    for name in contents:
        done = run_command("score", *given, "--per-sample", str(tmp_path / name))
        assert done.returncode == 2
        assert "is read by this command" in done.stderr
    assert {name: (tmp_path / name).read_text() for name in contents} == contents


def test_score_of_mecat_never_overwrites_what_it_reads(tmp_path: Path) -> None:
    contents = {"long.csv": "id,prediction\n1,a\n", "references/00A.jsonl": "{}\n"}
    (tmp_path / "references").mkdir()
    for name, text in contents.items():
        (tmp_path / name).write_text(text)
    given = ["--predictions", f"long={tmp_path / 'long.csv'}", "--references"]
    words = ["score", "--benchmark", "mecat-caption", *given, str(tmp_path / "references")]
    for name in contents:
        done = run_command(*words, "--per-sample", str(tmp_path / name))
        assert done.returncode == 2
        assert "is read by this command" in done.stderr
    assert {name: (tmp_path / name).read_text() for name in contents} == contents


def test_an_analysis_of_mecat_never_overwrites_what_it_reads(tmp_path: Path) -> None:
    read = tmp_path / "scores.csv"
    read.write_text("id,group,date\n")
    words = ["mecat", "silence", str(read), "--format", "csv", "--out", str(read)]
    done = run_command(*words, "--references", str(tmp_path))
    assert done.returncode == 2
    assert "is read by this command" in done.stderr
    assert read.read_text() == "id,group,date\n"


def test_a_full_disk_leaves_no_file_and_spoils_none(tmp_path: Path) -> None:
    new, old = tmp_path / "new.csv", tmp_path / "old.csv"
    old.write_text("kept\n")
    with small_disk(100):
        for path in (new, old):
            with pytest.raises(ReportError, match=f"{path.name}: cannot be written"):
                write_file(path, "x" * 10_000)
    assert old.read_text() == "kept\n"
    assert [path.name for path in tmp_path.iterdir()] == ["old.csv"]


def test_a_full_disk_leaves_no_parquet_file(tmp_path: Path) -> None:
    needs("pyarrow")
    rows = [{"id": f"{number}" * 40} for number in range(1_000)]
    with small_disk(100), pytest.raises(ReportError, match="cannot be written"):
        write_file(tmp_path / "new.parquet", parquet_content(rows))
    assert not list(tmp_path.iterdir())


def test_links_stay_links_and_modes_stay_as_they_are(tmp_path: Path) -> None:
    read, link = tmp_path / "kept.csv", tmp_path / "link.csv"
    read.write_text("old\n")
    read.chmod(0o600)
    link.symlink_to(read)
    write_file(link, "new\n")
    assert link.is_symlink()
    assert read.read_text() == "new\n"
    assert read.stat().st_mode & 0o777 == 0o600
    write_file(Path("/dev/null"), "gone\n")
    assert Path("/dev/null").is_char_device()
