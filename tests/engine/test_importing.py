"""Predictions that were made elsewhere become runs like any other."""

import csv
import json
import re
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from audiocapbench.benchmarks.registry import file_benchmark
from audiocapbench.data.outcome import Status
from audiocapbench.data.predictions import read_predictions
from audiocapbench.engine.importing import import_run, read_files
from audiocapbench.errors import DatasetError
from audiocapbench.store import Store
from command import run_command
from mecat_data import clips, write_references
from needs import needs

CAPTIONS = {
    "a.wav": "A dog barks.",
    "b.wav": "Rain falls on a roof.",
    "c.wav": "=cmd() a choir sings",
    "d.wav": "Ein Hund – “laut” 🐕",
}

PLAIN = ("--metrics", "rouge_l")
ABOUT = ("--references", "refs.csv", *PLAIN)


def call(place: Path, *words: str) -> CompletedProcess[str]:
    return run_command(*words, cwd=place)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    rows = [
        "id,reference,category,transcript",
        "a.wav,A dog is barking.,sound,",
        "a.wav,Barks of a dog.,sound,",
        "b.wav,It rains.,sound,",
        "c.wav,A choir.,music,",
        "d.wav,A man speaks.,speech,hello there",
    ]
    (tmp_path / "refs.csv").write_text("\n".join(rows))
    return tmp_path


def write_parquet(path: Path) -> None:
    parquet = needs("pyarrow.parquet")
    import pyarrow

    audio = [{"bytes": b"\xff\xfe" * 50, "path": f"clips/{key}"} for key in CAPTIONS]
    table = pyarrow.table({"audio": audio, "prediction": list(CAPTIONS.values())})
    parquet.write_table(table, path)


def write_form(place: Path, form: str) -> str:
    """The captions in one of the forms that people have; returns the file's name."""
    path = place / f"preds.{form.partition(' ')[0]}"
    rows = [{"id": key, "prediction": text} for key, text in CAPTIONS.items()]
    if form == "csv":
        with path.open("w", newline="", encoding="utf-8") as stream:
            csv.writer(stream).writerows([("file_name", "caption"), *CAPTIONS.items()])
    elif form == "tsv stems":
        lines = [f"{Path(key).stem}\t{text}" for key, text in CAPTIONS.items()]
        path.write_text("\n".join(["fname\tcaption_predicted", *lines]))
    elif form == "jsonl":
        path.write_text("\n".join(json.dumps(row) for row in rows))
    elif form == "json list":
        path.write_text(json.dumps(rows))
    elif form == "json by id":
        path.write_text(json.dumps(CAPTIONS))
    elif form == "json audio":
        own = [
            {"audio": {"path": f"/x/{key}", "bytes": None}, "answer": text}
            for key, text in CAPTIONS.items()
        ]
        path.write_text(json.dumps({"data": own}))
    else:
        write_parquet(path)
    return path.name


@pytest.mark.parametrize(
    "form", ["csv", "tsv stems", "jsonl", "json list", "json by id", "json audio", "parquet"]
)
def test_captions_in_any_form_are_the_same_run_of_answers(place: Path, form: str) -> None:
    words = ("--references", "refs.csv", "--model", "mine", "--metrics", "rouge_l", "--json")
    done = call(place, "import", write_form(place, form), *words)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert (document["benchmark"], document["model"]) == ("file/refs", "mine")
    assert (document["n"], document["answered"], document["new"]) == (4, 4, True)
    with Store.open(str(place / "audiocapbench.db")) as store:
        run = store.run(1)
        texts = {key: one.reply.text for key, one in store.outcomes(1).items()}
        samples = {one.id: one for one in store.dataset(run.dataset).samples}
    assert run.kind == "imported"
    assert texts == CAPTIONS
    assert samples["d.wav"].details == {"transcript": "hello there"}
    assert samples["a.wav"].references == ("A dog is barking.", "Barks of a dog.")
    assert all(one.clip.is_absent for one in samples.values())


def test_the_same_file_is_the_same_run_and_a_changed_one_another(place: Path) -> None:
    words = ("--references", "refs.csv", "--model", "mine", "--metrics", "bleu_1", "--json")
    first = json.loads(call(place, "import", write_form(place, "csv"), *words).stdout)
    (place / "preds.csv").rename(place / "moved.csv")
    again = json.loads(call(place, "import", "moved.csv", *words).stdout)
    assert (again["run"], again["new"]) == (first["run"], False)
    (place / "moved.csv").write_text((place / "moved.csv").read_text() + "\n")
    other = json.loads(call(place, "import", "moved.csv", *words).stdout)
    assert (other["run"], other["new"]) == (2, True)


def test_an_import_says_how_far_it_is(place: Path) -> None:
    words = ("import", write_form(place, "csv"), "--references", "refs.csv", "--model", "m")
    assert re.search(r"steps of the import .* 4/4 ", call(place, *words).stderr)


def test_an_import_that_broke_off_is_completed(place: Path) -> None:
    name = write_form(place, "jsonl")
    benchmark = file_benchmark(place / "refs.csv")
    given = read_files([str(place / name)], benchmark)
    store = Store.open(str(place / "s.db"))
    end = import_run(store, benchmark, given, "mine")
    whole = store.outcomes(end.run.id)
    store.catalog.delete([end.run.id])
    empty = import_run(store, benchmark, given, "mine")
    assert store.outcomes(empty.run.id) == whole


def test_what_is_missing_is_skipped_and_what_is_too_much_is_said(place: Path) -> None:
    rows = ["id,prediction,status,error", "a.wav,A dog.,ok,", "b.wav,,refused,I cannot"]
    (place / "p.csv").write_text("\n".join([*rows, "x.wav,Nothing.,,", "a.wav,A cat.,,"]))
    done = call(place, "import", "p.csv", *ABOUT, "--model", "m", "--json")
    assert done.returncode == 1
    document = json.loads(done.stdout)
    assert document["statuses"] == {"ok": 1, "refused": 1, "skipped": 2}
    assert document["missing_ids"] == ["c.wav", "d.wav"]
    assert document["surplus_ids"] == ["x.wav"]
    assert document["bad_lines"] == ["p.csv line 5: id: 'a.wav' has another prediction above"]
    assert "2 samples without a prediction, counted as skipped: c.wav, d.wav" in done.stderr
    assert "1 prediction about no sample, left out: x.wav" in done.stderr
    with Store.open(str(place / "audiocapbench.db")) as store:
        assert store.outcomes(1)["b.wav"].reply.error == "I cannot"


@pytest.mark.parametrize(
    ("name", "content", "words", "said"),
    [
        ("p.csv", b"id,prediction\na.wav,x\0y\n", ["--model", "m"], "holds a NUL"),
        ("p.json", b'{"a.wav": "\\ud800"}', ["--model", "m"], "half of a surrogate pair"),
        ("p.json", b'{"a.wav": "x", "a.wav": "y"}', ["--model", "m"], "stands twice"),
        ("p.jsonl", b"", ["--model", "m"], "holds no prediction"),
        ("p.csv", b"id,prediction\nzzz,x\n", ["--model", "m"], "no prediction has references"),
        ("p.csv", b"id,prediction\na.wav,x\n", [], "give --model NAME"),
        ("p.csv", b"id,prediction\na.wav,x\n", ["--model", "\x1b[31m"], "is no name for a model"),
        ("p.json", b'{"store": "s", "runs": [{"by_group": {}}]}', ["--model", "m"], "--per-sample"),
        (
            "p.json",
            b'{"results": [], "provider": 1e999}',
            ["--model", "m"],
            "1e999 is not a JSON number",
        ),
        (
            "p.jsonl",
            b'{"id": "a.wav", "prediction": "x", "d": ' + b"[" * 900 + b"]" * 900 + b"}",
            ["--model", "m"],
            "nested too deeply",
        ),
        ("p.parquet", b"PAR1 and more", ["--model", "m"], "is no table that can be read"),
        ("p.docx", b"PK", ["--model", "m"], "is neither .csv"),
    ],
)
def test_what_cannot_be_imported_says_why(
    place: Path, name: str, content: bytes, words: list[str], said: str
) -> None:
    if name.endswith(".parquet"):
        needs("pyarrow")
    (place / name).write_bytes(content)
    done = call(place, "import", name, "--references", "refs.csv", *words)
    assert done.returncode == 2, done.stdout
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_references_that_no_database_keeps_are_refused(place: Path) -> None:
    (place / "refs.jsonl").write_text('{"id": "a", "references": ["x"], "note": "a\\u0000b"}')
    (place / "p.json").write_text('{"a": "x"}')
    done = call(place, "import", "p.json", "--references", "refs.jsonl", "--model", "m")
    assert done.returncode == 2
    assert "holds a NUL character" in done.stderr


def test_a_benchmark_is_met_by_the_names_of_its_clips_and_plays_them(place: Path) -> None:
    from audiocapbench.benchmarks import open_benchmark

    demo = open_benchmark("demo")
    rows = [f"{one.clip.file_name}\tA sound." for one in demo.samples]
    (place / "p.tsv").write_text("\n".join(["file_name\tprediction", *rows]))
    done = call(place, "import", "p.tsv", "--benchmark", "demo", "--model", "m", *PLAIN, "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert (document["benchmark"], document["answered"]) == ("demo", 30)
    call(place, "run", "demo", "--model", "control/safe", "--metrics", "rouge_l")
    assert "control/safe" in call(place, "compare", "1", "2", "--metrics", "rouge_l").stdout
    assert call(place, "report", "1", "2", "--out", "r.html").returncode == 0


def test_a_run_without_audio_is_judged_shown_and_ranked(place: Path) -> None:
    name = write_form(place, "jsonl")
    words = ("--predictions", name, "--references", "refs.csv", "--judge", "elements")
    done = call(place, "score", *words, "--per-sample", "s.jsonl")
    assert done.returncode == 0, done.stderr
    assert "The predictions are kept as run 1 in audiocapbench.db." in done.stderr
    assert "preds" in done.stdout
    rows = [json.loads(line) for line in (place / "s.jsonl").read_text().splitlines()]
    assert rows[0]["references"] == ["A dog is barking.", "Barks of a dog."]
    assert rows[3]["elements: reasoning"]
    assert {"elements: accuracy", "elements: overall", "meteor", "status", "category"} <= set(
        rows[0]
    )
    assert call(place, "leaderboard").returncode == 0
    shown = call(place, "report", "1", "--out", "r.html", "--audio", "link")
    assert "4 clips cannot be played" in shown.stderr + shown.stdout
    assert call(place, "figures", "1", "--out", "figs", "--format", "svg").returncode == 0
    heard = call(place, "judges", "check", "elements", "--data", "file/refs")
    assert "Traceback" not in heard.stderr


def test_single_samples_are_read_back_as_they_were_written(place: Path) -> None:
    name = write_form(place, "csv")
    done = call(
        place, "score", "--predictions", name, "--references", "refs.csv", "--per-sample", "s.csv"
    )
    assert done.returncode == 0, done.stderr
    assert "'=cmd() a choir sings" in (place / "s.csv").read_text()
    assert read_predictions(place / "s.csv").texts == CAPTIONS
    again = call(
        place, "import", "s.csv", "--references", "s.csv", "--model", "m", *PLAIN, "--json"
    )
    assert again.returncode == 0, again.stderr
    assert json.loads(again.stdout)["answered"] == 4


def result_file() -> dict[str, Any]:
    """A result as the published tool writes it: an answer, a failure, and a judge that failed."""

    def one(key: str, category: str, text: str, **more: Any) -> dict[str, Any]:
        return {
            "id": key,
            "category": category,
            "audio_file": f"{category}/{key} .wav",
            "instruction": "Describe what you hear in this audio.",
            "prediction": text,
            "reference_captions": ["A dog barks &amp; runs", "Gebell “laut” 🐕"],
            "inference_time": 1.25,
            **more,
        }

    def judged(*scores: float) -> dict[str, Any]:
        names = ("accuracy", "completeness", "hallucination", "overall")
        return dict(zip(names, scores, strict=True)) | {"reasoning": "“so”\n\u2028und"}

    return {
        "corpus_scores": {"meteor": 0.1234567890123456, "llm_overall": 7.33},
        "per_category_scores": {"sound": {"meteor": 1e-05, "llm_overall": 7.33}},
        "results": [
            one(
                "clotho_0",
                "sound",
                "Ein Hund 🐕",
                metrics={"meteor": 0.3},
                llm_judge=judged(8, 7, 7.0, 7.33),
            ),
            one("speech_1", "speech", "", error="429: quota\nexceeded", transcript="hallo"),
            one(
                "musiccaps_2",
                "music",
                "a song",
                metrics={"meteor": 0},
                llm_judge=judged(-1, -1, -1, -1),
            ),
            one("clotho_3", "sound", "", metrics={"meteor": 0.0}, llm_judge=judged(0, 0, 0, 0)),
        ],
        "provider": "openai",
        "model_id": "gpt-4o-audio-preview",
        "total_samples": 4,
        "successful": 3,
        "failed": 1,
    }


def test_a_published_result_comes_out_as_it_went_in_byte_for_byte(tmp_path: Path) -> None:
    content = json.dumps(result_file(), indent=2, ensure_ascii=False)
    (tmp_path / "r.json").write_text(content)
    done = call(tmp_path, "import", "r.json", "--json")
    assert done.returncode == 1, done.stderr
    document = json.loads(done.stdout)
    assert document["model"] == "openai/gpt-4o-audio-preview"
    assert document["statuses"] == {"ok": 2, "failed": 1, "empty": 1}
    judge = document["judges"]["unnamed-judge"]
    assert (judge["judged"], judge["failed"]) == (2, 1)
    made = "imported|judge:unnamed-judge|made:not said|overall:rounded|protocol:1"
    assert judge["signature"] == made
    assert "its judge is 'unnamed-judge'; --judge names it" in done.stderr
    with Store.open(str(tmp_path / "audiocapbench.db")) as store:
        failed = store.outcomes(1)["speech_1"]
    assert (failed.reply.status, failed.reply.error) == (Status.FAILED, "429: quota\nexceeded")
    assert failed.latency_s == 1.25
    call(tmp_path, "score", "1", "--judge", "elements", "--metrics", "rouge_l")
    done = call(tmp_path, "export", "1", "--to", "published", "--out", "o.json")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "o.json").read_text() == content


def test_a_chosen_judge_or_metric_is_exported_in_the_place_of_the_files_own(tmp_path: Path) -> None:
    (tmp_path / "r.json").write_text(json.dumps(result_file()))
    call(tmp_path, "import", "r.json", "--metrics", "rouge_l")
    call(tmp_path, "score", "1", "--judge", "elements", "--metrics", "rouge_l")
    words = ("export", "1", "--to", "published", "--out", "o.json")
    several = call(tmp_path, *words, "--metrics", "rouge_l")
    assert "choose it with --judge: there are" in several.stderr
    done = call(tmp_path, *words, "--judge", "elements")
    assert done.returncode == 0, done.stderr
    document = json.loads((tmp_path / "o.json").read_text())
    assert (document["provider"], document["model_id"]) == ("openai", "gpt-4o-audio-preview")
    assert [one["success"] for one in document["results"]] == [True, False, True, True]
    assert document["results"][0]["audio_file"] == "sound/clotho_0 .wav"
    assert document["results"][1]["transcript"] == "hallo"
    assert set(document["results"][0]["metrics"]) == {"rouge_l"}
    assert document["judge"] == "elements"


def test_an_exported_run_of_ours_is_imported_with_its_scores(tmp_path: Path) -> None:
    words = ("--metrics", "rouge_l", "--judge", "elements", "--limit", "4")
    assert call(tmp_path, "run", "demo", "--model", "control/safe", *words).returncode == 0
    assert call(tmp_path, "export", "1", "--to", "published", "--out", "o.json").returncode == 0
    done = call(
        tmp_path, "import", "o.json", "--benchmark", "demo", "--model", "theirs", *PLAIN, "--json"
    )
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert (document["n"], document["model"]) == (4, "theirs")
    made = document["judges"]["elements"]["signature"]
    assert made.startswith("imported|judge:elements|made:")
    own = json.loads(call(tmp_path, "score", "1", "--judge", "elements", *PLAIN, "--json").stdout)
    theirs, ours = (one["judges"]["elements"]["scores"] for one in (document, own))
    assert {key: theirs[key]["score"] for key in theirs} == pytest.approx(
        {key: ours[key]["score"] for key in ours}
    )
    boards = call(tmp_path, "leaderboard", "--judge", "elements", "--json").stdout
    assert [len(one["runs"]) for one in json.loads(boards)["boards"]] == [1, 1]


def test_results_in_which_something_does_not_fit_are_exported_by_their_scores(
    tmp_path: Path,
) -> None:
    document = result_file()
    document["results"].append(document["results"][0] | {"prediction": "another"})
    (tmp_path / "r.json").write_text(json.dumps(document))
    done = call(tmp_path, "import", "r.json", "--references", "r2.json")
    assert done.returncode == 2
    document["results"][-1]["id"] = "stranger_9"
    (tmp_path / "refs.json").write_text(json.dumps(result_file()))
    (tmp_path / "r.json").write_text(json.dumps(document))
    done = call(tmp_path, "import", "r.json", "--references", "refs.json")
    assert "about no sample, left out: stranger_9" in done.stderr
    call(tmp_path, "export", "1", "--to", "published", "--out", "o.json")
    made = json.loads((tmp_path / "o.json").read_text())
    assert (made["total_samples"], len(made["results"])) == (4, 4)


@pytest.mark.slow
def test_real_captions_of_clotho_are_imported_from_their_own_files(
    tmp_path: Path, shared: Path
) -> None:
    captions = shared / "aces/2023-baseline-evaluation-preds.csv"
    references = shared / "clotho/evaluation_captions.csv"
    words = ("--references", str(references), "--model", "baseline", "--metrics", "rouge_l")
    done = call(tmp_path, "import", str(captions), *words, "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["n"] == 1045
    assert document["metrics"]["rouge_l"]["score"] == pytest.approx(0.40269, abs=1e-5)


def test_files_of_several_models_are_not_taken_for_one(place: Path) -> None:
    (place / "r.json").write_text(json.dumps(result_file()))
    benchmark = file_benchmark(place / "r.json")
    with pytest.raises(DatasetError, match="import it alone"):
        read_files([str(place / "r.json"), str(place / "r.json")], benchmark)


def test_a_result_that_stands_twice_is_not_counted_as_one(tmp_path: Path) -> None:
    document = result_file()
    document["results"].append(document["results"][0])
    (tmp_path / "r.json").write_text(json.dumps(document))
    (tmp_path / "refs.json").write_text(json.dumps(result_file()))
    done = call(tmp_path, "import", "r.json", "--references", "refs.json", "--json")
    assert "has another prediction above" in json.loads(done.stdout)["bad_lines"][0]
    call(tmp_path, "export", "1", "--to", "published", "--out", "o.json")
    made = json.loads((tmp_path / "o.json").read_text())
    assert len(made["results"]) == made["total_samples"] == 4


def test_other_references_than_the_benchmarks_are_said(place: Path) -> None:
    document = result_file()
    document["results"][0] |= {"id": "a.wav"}
    del document["results"][1:]
    (place / "r.json").write_text(json.dumps(document))
    done = call(place, "import", "r.json", *ABOUT)
    assert "1 results have other references than file/refs, whose count" in done.stderr


def test_providers_have_our_names_in_the_store_and_theirs_in_the_file(tmp_path: Path) -> None:
    own = {"provider": "openai_realtime", "model_id": "gpt-realtime"}
    (tmp_path / "r.json").write_text(json.dumps(result_file() | own))
    call(tmp_path, "import", "r.json", "--metrics", "rouge_l")
    with Store.open(str(tmp_path / "audiocapbench.db")) as store:
        assert store.run(1).model == "openai-realtime/gpt-realtime"
    words = ("--judge", "unnamed-judge", "--metrics", "rouge_l", "--out", "o.json")
    assert call(tmp_path, "export", "1", "--to", "published", *words).returncode == 0
    made = json.loads((tmp_path / "o.json").read_text())
    assert (made["provider"], made["model_id"]) == ("openai_realtime", "gpt-realtime")


def test_answers_to_mecat_are_imported_without_its_audio(tmp_path: Path) -> None:
    write_references(tmp_path / "refs", "caption", clips(2))
    entries = clips(2)
    for subtask in ("long", "short"):
        texts = {key: own[subtask][0] for key, own in entries.items()}
        (tmp_path / f"{subtask}.json").write_text(json.dumps(texts))
    about = ("--benchmark", "mecat-caption", "--references", "refs", "--metrics", "rouge_l")
    words = ("import", "long.json", "short=short.json", *about, "--model", "m", "--json")
    done = call(tmp_path, *words)
    assert done.returncode == 1, done.stderr
    document = json.loads(done.stdout)
    assert document["statuses"] == {"ok": 2 * len(entries), "skipped": 46}
    assert document["by_group"]["long"]["rouge_l"]["score"] > 0
    assert "No file has answers to speech, music, sound, environment." in done.stderr
    again = ("score", "--predictions", "long.json", *about, "--judge", "elements", "--json")
    refused = call(tmp_path, *again)
    assert refused.returncode == 2
    assert "elements does not judge this benchmark: of 400 captions it scored" in refused.stderr


def test_a_judge_on_files_needs_agreement_before_it_costs(place: Path) -> None:
    name = write_form(place, "jsonl")
    words = ("--references", "refs.csv", "--judge", "openai/gpt-4.1", "--budget", "1")
    environment = {"PATH": "", "OPENAI_API_KEY": "sk-test", "OPENAI_BASE_URL": "http://127.0.0.1:9"}
    done = run_command("score", "--predictions", name, *words, cwd=place, env=environment)
    assert done.returncode == 2
    assert "Add --yes to agree" in done.stderr
    assert "judge openai/gpt-4.1" in done.stderr


def test_run_writes_every_sample_of_every_model(tmp_path: Path) -> None:
    words = ("--metrics", "rouge_l", "--judge", "elements", "--limit", "3", "--per-sample", "s.csv")
    done = call(
        tmp_path, "run", "demo", "--model", "control/safe", "--model", "control/empty", *words
    )
    assert done.returncode == 0, done.stderr
    with (tmp_path / "s.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [row["model"] for row in rows] == ["control/safe"] * 3 + ["control/empty"] * 3
    assert [row["status"] for row in rows] == ["ok"] * 3 + ["empty"] * 3
    assert all(row["elements: reasoning"] and row["reference_5"] for row in rows)
    assert {row["elements: overall"] for row in rows[3:]} == {"0.0"}


def test_a_model_that_nobody_is_shown_is_refused(place: Path) -> None:
    words = ("--predictions", write_form(place, "csv"), *ABOUT, "--model", "m")
    done = call(place, "score", *words)
    assert done.returncode == 2
    assert "--model names what a --judge is shown" in done.stderr
    assert "kept as run 1" in call(place, "score", *words, "--judge", "elements").stderr


def test_results_of_judges_that_the_files_do_not_name_are_told_apart_by_the_user(
    tmp_path: Path,
) -> None:
    (tmp_path / "r.json").write_text(json.dumps(result_file()))
    for judge in ("gpt-4.1", "gpt-4o-mini"):
        done = call(
            tmp_path, "import", "r.json", "--model", judge, "--judge", judge, *PLAIN, "--json"
        )
        assert list(json.loads(done.stdout)["judges"]) == [judge]
        assert "unnamed" not in done.stderr


SYSTEMS = "id,model,prediction\na.wav,A,One dog.\nb.wav,A,One cat.\nb.wav,B,Two.\nc.wav,B,Three.\n"


@pytest.mark.parametrize("name", ["p.csv", "p.jsonl"])
def test_captions_of_two_systems_never_become_one_run(place: Path, name: str) -> None:
    rows = list(csv.DictReader(SYSTEMS.splitlines()))
    lines = "\n".join(json.dumps(row) for row in rows)
    (place / name).write_text(SYSTEMS if name == "p.csv" else lines)
    words = ("--references", "refs.csv", "--metrics", "bleu_1", "--json")
    for wrong in ([], ["--model", "C"]):
        done = call(place, "import", name, *words, *wrong)
        assert done.returncode == 2
        assert "has predictions of 2 systems ('A', 'B'); name the one" in done.stderr
    document = json.loads(call(place, "import", name, *words, "--model", "B").stdout)
    assert (document["model"], document["answered"]) == ("B", 2)
    assert document["bad_lines"] == []
    done = call(place, "score", "--predictions", name, *ABOUT, "--model", "A", "--json")
    assert json.loads(done.stdout)["missing_ids"] == ["c.wav", "d.wav"]


def test_a_file_that_says_whose_captions_it_has_needs_no_name(place: Path) -> None:
    (place / "p.csv").write_text("id,system,caption\na.wav,mine,A dog.\n")
    done = call(place, "import", "p.csv", *ABOUT, "--json")
    assert (json.loads(done.stdout)["model"], json.loads(done.stdout)["note"]) == ("mine", "")
    done = call(place, "import", "p.csv", *ABOUT, "--json", "--model", "B")
    assert "the file says 'mine'; kept as 'B'" in json.loads(done.stdout)["note"]
    (place / "q.csv").write_text("id,system,caption\nb.wav,yours,A cat.\n")
    done = call(place, "import", "p.csv", "q.csv", "--references", "refs.csv")
    assert done.returncode == 2
    assert "has predictions of 'yours', and not of 'mine'; import each alone" in done.stderr


def test_a_caption_beside_a_prediction_is_never_taken_for_it(place: Path) -> None:
    for name in ("predicted_caption", "answer", "output", "prediction", "response"):
        (place / "p.csv").write_text(f"id,caption,{name}\na.wav,A dog is barking.,A cat.\n")
        assert read_predictions(place / "p.csv").texts == {"a.wav": "A cat."}


def test_empty_captions_and_columns_that_are_missing_are_said(place: Path) -> None:
    (place / "p.csv").write_text("id,caption\na.wav,A dog.\nb.wav,\n")
    words = (*ABOUT, "--model", "mine")
    done = call(place, "import", "p.csv", *words)
    assert "1 of 2 predictions are empty; they score 0." in done.stderr
    (place / "p.csv").write_text("id,said\na.wav,A dog.\n")
    done = call(place, "import", "p.csv", *words)
    assert "has no column 'prediction' (or predicted_caption, " in done.stderr
    pyarrow = needs("pyarrow")
    from pyarrow import parquet

    parquet.write_table(pyarrow.table({"id": ["a.wav"], "said": ["A dog."]}), place / "p.parquet")
    done = call(place, "import", "p.parquet", *words)
    assert "(or predicted_caption, " in done.stderr
    assert "it has id, said" in done.stderr


def test_a_time_that_nobody_measured_does_not_become_no_time_at_all(place: Path) -> None:
    words = ("--references", "refs.csv", "--model", "mine", "--metrics", "bleu_1")
    call(place, "import", write_form(place, "csv"), *words)
    call(place, "export", "1", "--to", "published", "--out", "o.json")
    call(place, "import", "o.json", "--metrics", "bleu_1")
    done = call(place, "leaderboard", "--format", "csv", "--metric", "bleu_1")
    rows = list(csv.DictReader(done.stdout.splitlines()))
    assert [(one["model"], one["latency_s"]) for one in rows] == [("mine", ""), ("mine", "")]
