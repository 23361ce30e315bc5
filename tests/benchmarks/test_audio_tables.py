"""Datasets with a column of audio are benchmarks: on the Hub, as parquet, and as saved."""

import hashlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest

from needs import needs

datasets = needs("datasets", "pyarrow", "huggingface_hub")

from audiocapbench import Benchmark, open_benchmark
from audiocapbench.data.build.ledger import JOURNAL
from audiocapbench.data.folder import METADATA
from audiocapbench.errors import AudioCapBenchError
from command import run_command
from fakes.faults import Fault, Plan
from fakes.http_server import Request, Response
from fakes.hub_repositories import tone
from fakes.hub_server import HubServer, Repository, parquet

NAME = "org/clips"
TABLE = "data/test-00000-of-00001.parquet"


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Our cache is not the user's."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("HF_TOKEN", raising=False)
    return tmp_path / "cache"


def rows(count: int = 4, **more: Any) -> list[dict[str, Any]]:
    return [
        {
            "audio": tone(number, kind="FLAC" if number % 2 else "WAV"),
            "caption": f"Sound {number}.",
            **{name: values[number] for name, values in more.items()},
        }
        for number in range(count)
    ]


def table(tmp_path: Path, given: list[dict[str, Any]], name: str = "clips.parquet") -> Path:
    (tmp_path / name).write_bytes(parquet(given, group=2))
    return tmp_path / name


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[HubServer]:
    repository = Repository({TABLE: parquet(rows()), "README.md": b"a card"})
    with HubServer({NAME: repository}) as server:
        monkeypatch.setenv("HF_ENDPOINT", server.url)
        yield server


def digests(benchmark: Benchmark) -> list[str]:
    return [one.clip.sha256 for one in benchmark.samples]


STORED = [hashlib.sha256(row["audio"]).hexdigest() for row in rows()]


def test_a_parquet_file_is_a_benchmark_of_clips_as_they_are_stored(tmp_path: Path) -> None:
    made = open_benchmark(str(table(tmp_path, rows(category=["sound", "music"] * 2))))
    assert made.name == "folder/clips"
    assert digests(made) == STORED
    assert [one.category for one in made.samples] == ["sound", "music"] * 2
    assert made.samples[3].references == ("Sound 3.",)
    assert "guessed: audio=audio, references=caption" in " ".join(made.notes)
    again = open_benchmark(str(tmp_path / "clips.parquet"))
    assert (again.fingerprint, again.root) == (made.fingerprint, made.root)


def test_who_opens_it_while_another_does_waits_and_both_have_it(
    tmp_path: Path, hub: HubServer
) -> None:
    """A lock holds between threads as it does between processes."""
    for name in (str(table(tmp_path, rows())), f"hf://datasets/{NAME}[download=yes]"):
        begin = Barrier(3)

        def opened(name: str = name, begin: Barrier = begin) -> list[str]:
            begin.wait(60)
            return digests(open_benchmark(name))

        with ThreadPoolExecutor(3) as pool:
            found = [pool.submit(opened) for _ in range(3)]
            assert [one.result() for one in found] == [STORED] * 3
    assert sum(one.method == "GET" and TABLE in one.path for one in hub.requests) == 1


def test_what_was_stopped_before_its_last_file_is_made_whole(tmp_path: Path) -> None:
    """Whoever looks between two files of the end sees no dataset yet."""
    name = str(table(tmp_path, rows()))
    root = open_benchmark(name).root
    assert root is not None
    (root / METADATA).unlink()
    (root / JOURNAL).touch()
    assert digests(open_benchmark(name)) == STORED
    assert not (root / JOURNAL).exists()


def test_what_datasets_saved_is_the_same_benchmark_split_by_split(tmp_path: Path) -> None:
    cells = [{"bytes": row["audio"], "path": f"{n}.wav"} for n, row in enumerate(rows())]
    given = {"sound": cells, "captions": [[f"Sound {n}.", "A sound."] for n in range(4)]}
    made = datasets.Dataset.from_dict(given).cast_column("sound", datasets.Audio(decode=False))
    datasets.DatasetDict({"dev": made, "held": made.select([1])}).save_to_disk(
        tmp_path / "saved.v1"
    )
    opened = open_benchmark(f"{tmp_path / 'saved.v1'}:dev")
    assert opened.name == "folder/saved.v1:dev"
    assert digests(opened) == STORED
    assert [one.id for one in opened.samples] == ["0.wav", "1.wav", "2.wav", "3.wav"]
    assert opened.samples[1].references == ("Sound 1.", "A sound.")
    assert len(open_benchmark(f"{tmp_path / 'saved.v1'}:held").samples) == 1
    for name, words in (("", "dev, held; say which"), (":test", "no split 'test'")):
        with pytest.raises(AudioCapBenchError, match=words):
            open_benchmark(f"{tmp_path / 'saved.v1'}{name}")
    made.save_to_disk(tmp_path / "alone")
    assert digests(open_benchmark(str(tmp_path / "alone"))) == STORED
    with pytest.raises(AudioCapBenchError, match="no split 'dev'; it has none"):
        open_benchmark(f"{tmp_path / 'alone'}:dev")
    (stored,) = (tmp_path / "alone").glob("*.arrow")
    stored.write_bytes(stored.read_bytes()[:500])
    with pytest.raises(AudioCapBenchError, match=r"cannot load it|no table that can be read"):
        open_benchmark(str(tmp_path / "alone"))


def test_lists_of_a_length_categories_and_names_with_dots_are_columns_like_others(
    tmp_path: Path,
) -> None:
    made = datasets.Dataset.from_list([row | {"clip.path": "e.wav"} for row in rows()])
    pairs = datasets.List(datasets.Value("string"), length=2)
    two = made.map(lambda row: {"caption": [row["caption"], "A sound."]})
    two.cast_column("caption", pairs).save_to_disk(tmp_path / "pairs")
    first = open_benchmark(str(tmp_path / "pairs")).samples[0]
    assert (first.references, first.details["clip.path"]) == (("Sound 0.", "A sound."), "e.wav")
    frame = made.to_pandas().astype({"caption": "category"})
    frame.to_parquet(tmp_path / "frame.parquet")
    assert open_benchmark(str(tmp_path / "frame.parquet")).samples[3].references == ("Sound 3.",)
    made.select([]).save_to_disk(tmp_path / "none")
    with pytest.raises(AudioCapBenchError, match="there are no rows"):
        open_benchmark(str(tmp_path / "none"))


def test_columns_are_named_in_brackets_and_what_is_unclear_is_refused(tmp_path: Path) -> None:
    given = rows(captions=["a.", "b.", "c.", "d."], key=[7, 8, 9, 10], text=["e."] * 4)
    place = str(table(tmp_path, given))
    with pytest.raises(AudioCapBenchError, match="its references may be 'caption' or 'captions'"):
        open_benchmark(place)
    made = open_benchmark(f"{place}[references=captions+text,id=key]")
    assert made.samples[0].id == "7"
    assert made.samples[0].references == ("a.", "e.")
    assert made.samples[0].details["caption"] == "Sound 0."
    for options, words in (
        ("references=caption,id=kye", r"no column 'kye' \(did you mean 'key'"),
        ("refs=caption", "has no option 'refs'"),
        ("audio=text", "'text' is no column of audio"),
    ):
        with pytest.raises(AudioCapBenchError, match=words):
            open_benchmark(f"{place}[{options}]")
    numbered = [{"audio": tone(1), "caption_1": "One.", "caption_2": "Two."}]
    made = open_benchmark(str(table(tmp_path, numbered, "numbered.parquet")))
    assert made.samples[0].references == ("One.", "Two.")
    with pytest.raises(AudioCapBenchError, match="which column is its audio"):
        open_benchmark(str(table(tmp_path, [{"caption": "No sound."}], "texts.parquet")))


def test_rows_of_one_id_are_captions_of_one_clip_and_never_of_two(tmp_path: Path) -> None:
    numbers = [{**row, "id": number} for number, row in enumerate(rows(2))]
    made = open_benchmark(str(table(tmp_path, numbers, "numbers.parquet")))
    assert [one.id for one in made.samples] == ["0", "1"]
    same = [{"id": "x", "audio": tone(1), "caption": f"Caption {n}."} for n in range(3)]
    made = open_benchmark(str(table(tmp_path, [*same, {**same[0], "id": "y"}])))
    assert [one.id for one in made.samples] == ["x", "y"]
    assert made.samples[0].references == ("Caption 0.", "Caption 1.", "Caption 2.")
    with pytest.raises(AudioCapBenchError, match="row 4 has another clip"):
        open_benchmark(str(table(tmp_path, [*same, {**same[0], "audio": tone(2)}], "two.parquet")))


def test_hostile_rows_are_missing_with_a_reason_and_write_nothing_elsewhere(
    tmp_path: Path, own_cache: Path
) -> None:
    import pyarrow as pa
    from pyarrow import parquet as pq

    good, outside = tone(1), tmp_path / "outside.wav"
    outside.write_bytes(tone(2))
    cells = [
        ({"bytes": good, "path": "../../../../escape.wav"}, ["Fine."]),
        ({"bytes": None, "path": str(outside)}, ["Only a path."]),
        (None, ["None at all."]),
        ({"bytes": good[:20], "path": "cut.wav"}, ["Cut."]),
        ({"bytes": b"\0" * 2000, "path": "zero.wav"}, ["Zeros."]),
        ({"bytes": good, "path": "a"}, []),
        ({"bytes": good, "path": "b"}, None),
        ({"bytes": good, "path": "c"}, ["nul \0 byte"]),
    ]
    struct = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
    columns = {
        "audio": pa.array([one for one, _ in cells], struct),
        "references": pa.array([texts for _, texts in cells], pa.list_(pa.string())),
        "id": pa.array([f"../{n}\0" if n == 7 else f"../{n}" for n in range(len(cells))]),
    }
    pq.write_table(pa.table(columns), tmp_path / "odd.parquet")
    made = open_benchmark(str(tmp_path / "odd.parquet"))
    assert [one.id for one in made.samples] == ["../0"]
    assert len(made.missing) == 7
    assert "NUL" in made.missing[-1].reason
    written = {one for one in tmp_path.rglob("*") if one.is_file()}
    assert all(
        one.is_relative_to(own_cache) for one in written - {outside, tmp_path / "odd.parquet"}
    )
    nested = pa.table({"audio": columns["audio"][:1], "references": pa.array([[["deep"]]])})
    pq.write_table(nested, tmp_path / "nested.parquet")
    with pytest.raises(AudioCapBenchError, match=r"no clip can be used.*not text"):
        open_benchmark(str(tmp_path / "nested.parquet"))
    (tmp_path / "torn.parquet").write_bytes((tmp_path / "odd.parquet").read_bytes()[:-30])
    with pytest.raises(AudioCapBenchError, match="is no table that can be read"):
        open_benchmark(str(tmp_path / "torn.parquet"))


def test_nothing_is_downloaded_unasked_and_what_was_is_pinned_to_its_commit(
    hub: HubServer, tmp_path: Path
) -> None:
    name = f"hf://datasets/{NAME}:test"
    with pytest.raises(
        AudioCapBenchError, match=r"write 'hf://datasets/org/clips:test\[download=y"
    ):
        open_benchmark(name)
    assert not hub.requests
    made = open_benchmark(f"{name}[download=yes]")
    assert made.name == "hf/org/clips:test"
    assert digests(made) == STORED
    pinned = hub.repositories[NAME].commit
    assert pinned in made.notes[0]
    hub.repositories[NAME].files[TABLE] = parquet(rows(2))
    asked = len(hub.requests)
    assert open_benchmark(name).fingerprint == made.fingerprint
    assert len(hub.requests) == asked
    newer = open_benchmark(f"hf://datasets/{NAME}@main:test[download=yes]")
    assert len(newer.samples) == 2
    with pytest.raises(AudioCapBenchError, match="has no revision 'v9'"):
        open_benchmark(f"hf://datasets/{NAME}@v9:test[download=yes]")
    with pytest.raises(AudioCapBenchError, match="no split 'train'"):
        open_benchmark(f"hf://datasets/{NAME}:train[download=yes]")
    with pytest.raises(AudioCapBenchError, match="is not hf://datasets/ORG/NAME"):
        open_benchmark("hf://models/org/clips")
    with pytest.raises(AudioCapBenchError, match="no name of a dataset at the Hub"):
        open_benchmark("hf://datasets/org/cl--ips[download=yes]")


def test_a_download_goes_on_after_faults_and_a_changed_file_is_refused(
    hub: HubServer, monkeypatch: pytest.MonkeyPatch, own_cache: Path
) -> None:
    monkeypatch.setattr("audiocapbench.data.build.hub.PAUSES_S", (0.0, 0.0))
    name = f"hf://datasets/{NAME}[download=yes]"
    honest, true = hub.repositories[NAME].files[TABLE], hub.respond
    changed = honest[:100] + bytes([honest[100] ^ 1]) + honest[101:]

    def spoilt(request: Request) -> Response:
        reply = true(request)
        return replace(reply, body=changed) if reply.body == honest else reply

    hub.respond = spoilt
    with pytest.raises(AudioCapBenchError, match="another SHA-256 than the Hub has; run again"):
        open_benchmark(name)
    hub.respond = true
    hub.plan = Plan([None, None, Fault("status", 503), None, Fault("half")])
    assert digests(open_benchmark(name)) == STORED
    assert not list(own_cache.rglob("*.parquet"))


def test_configurations_and_folders_of_clips_on_the_hub_are_read_too(hub: HubServer) -> None:
    listed = [
        {"config_name": one, "data_files": [{"split": "test", "path": f"{one}/*.parquet"}]}
        for one in ("en", "de")
    ]
    files = {"en/a.parquet": parquet(rows(2)), "de/a.parquet": parquet(rows(3))}
    hub.repositories["org/two"] = Repository(files, {"configs": listed})
    with pytest.raises(AudioCapBenchError, match="has the splits en/test, de/test; say which"):
        open_benchmark("hf://datasets/org/two[download=yes]")
    made = open_benchmark("hf://datasets/org/two:de/test[download=yes]")
    assert (made.name, len(made.samples)) == ("hf/org/two:de/test", 3)
    lines = b'{"file_name": "a.wav", "caption": "A."}\n{"file_name": "b.wav", "caption": "B."}\n'
    clips = {"a.wav": tone(1), "b.wav": tone(2), "metadata.jsonl": lines}
    hub.repositories["org/files"] = Repository(clips)
    made = open_benchmark("hf://datasets/org/files[download=yes]")
    assert [one.references for one in made.samples] == [("A.",), ("B.",)]
    assert [one.clip.path.read_bytes() for one in made.samples] == [tone(1), tone(2)]


def test_a_run_says_what_it_guessed_before_it_asks_and_goes_on_offline(
    hub: HubServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = [
        "run",
        f"hf://datasets/{NAME}[download=yes]",
        "--model",
        "control/safe",
        "--metrics",
        "rouge_l",
    ]
    monkeypatch.setattr("audiocapbench.data.build.hub.FIRST_PAUSES_S", (0.0,))
    first = run_command(*words, cwd=tmp_path)
    assert first.returncode == 0, first.stderr
    assert "guessed: audio=audio, references=caption" in " ".join(first.stderr.split())
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    again = run_command(*words, cwd=tmp_path)
    assert again.returncode == 0, again.stderr
    listed = run_command("runs", "--json", cwd=tmp_path).stdout
    assert listed.count('"benchmark"') == 1
    assert "hf/org/clips:test" in listed
    elsewhere = run_command("run", f"hf://datasets/{NAME}@main[download=yes]", *words[2:])
    assert elsewhere.returncode == 2
    assert "check the network" in elsewhere.stderr
