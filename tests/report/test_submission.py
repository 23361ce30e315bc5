"""Submissions come from strangers: what they say is computed anew, or refused in one line."""

import gzip
import io
import json
import os
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from audiocapbench.benchmarks import Aggregation, Traits
from audiocapbench.engine import score_run
from audiocapbench.errors import ReportError
from audiocapbench.report.site.submission import (
    check_submissions,
    make_submissions,
    skeleton,
)
from audiocapbench.store import Store
from command import run_command
from four_models import JUDGE, put_models
from made_store import MadeRun, columns, made_samples, put_run, stored_scores
from mecat_runs import items, stored_run
from site_files import ABOUT, changed, write_submissions

Document = dict[str, Any]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return {one.stem: one for one in write_submissions(tmp_path_factory.mktemp("site"))}


@pytest.fixture(scope="module")
def alpha(files: dict[str, Path]) -> Document:
    document: Document = json.loads(files["alpha"].read_text(encoding="utf-8"))
    return document


def refusals(folder: Path, contents: Mapping[str, Document | bytes], *words: str) -> list[str]:
    """What each of some submissions is refused with, a line each; all are written and checked."""
    paths = []
    for number, one in enumerate(contents.values()):
        paths.append(folder / f"{number:03}.json")
        paths[-1].write_bytes(one if isinstance(one, bytes) else json.dumps(one).encode())
    done = run_command("site", "check", str(folder), *words)
    assert done.returncode == 2, done.stdout
    assert done.stdout == ""
    lines = dict(reversed([line.split(".json: ", 1) for line in done.stderr.splitlines()]))
    assert set(lines) == {str(path.with_suffix("")) for path in paths}, done.stderr
    return [lines[str(path.with_suffix(""))] for path in paths]


def refused(path: Path, *words: str) -> str:
    """The one line that a submission is refused with."""
    done = run_command("site", "check", str(path), *words)
    assert done.returncode == 2, done.stdout
    (line,) = done.stderr.splitlines()
    return line.removeprefix(f"{path}: ")


def test_a_run_is_written_as_a_submission_that_passes(files: dict[str, Path]) -> None:
    folder = files["alpha"].parent.parent
    out = folder / "again.json"
    store = ("--store", str(folder / "runs.db"))
    facts = [word for name, text in ABOUT["alpha"].items() for word in (f"--{name}", text)]
    done = run_command("submission", "1", "--out", str(out), *facts, *store)
    assert done.returncode == 0, done.stderr
    assert out.read_bytes() == files["alpha"].read_bytes()
    document = json.loads(out.read_text(encoding="utf-8"))
    assert len(document["answers"]) == len(document["samples"]) == 40
    assert document["cost_usd"] == pytest.approx(0.16)
    assert not any(one["reply"]["raw"] for one in document["answers"])
    assert all(one["signature"] for one in document["scores"])
    done = run_command("site", "check", str(folder / "submissions"), "--json")
    assert done.returncode == 0, done.stderr
    claimed = {
        Path(one["file"]).stem: one["claimed"] for one in json.loads(done.stdout)["submissions"]
    }
    # Four scores of a judge whose words are not there, on the whole and on two categories.
    assert claimed == {"alpha": 0, "beta": 0, "gamma": 12, "safe": 0}


def test_of_a_part_of_the_samples_the_hash_is_another(tmp_path: Path) -> None:
    store = ("--store", str(tmp_path / "runs.db"))
    hashes = []
    for number, words in enumerate((("--limit", "4"), ()), 1):
        metrics = ("--metrics", "rouge_l")
        run_command("run", "demo", "--model", "control/safe", *metrics, *words, *store)
        out = tmp_path / f"{number}.json"
        run_command("submission", str(number), "--out", str(out), *store)
        hashes.append(json.loads(out.read_text(encoding="utf-8"))["dataset"])
    assert hashes[0] != hashes[1]
    with Store.open(store[1]) as kept:
        assert hashes[1] == kept.run(2).dataset


def test_a_run_that_was_not_asked_about_all_is_no_submission(store: Store) -> None:
    samples = made_samples(20)
    scores = {"rouge_l": {one.id: 0.5 for one in samples}}
    asked = [one.id for one in samples[:13]]
    run = put_run(store, MadeRun("made/stopped", scores), samples, asked=asked)
    rest = "'audiocapbench run made --model made/stopped.*' does the rest"
    with pytest.raises(ReportError, match=f"not asked about 7 of its 20 samples, .*{rest}"):
        list(make_submissions(store, run.id))
    graded = {JUDGE: {key: {"accuracy": 5.0} for key in asked}}
    raced = put_run(store, MadeRun("made/raced", scores, graded), samples)
    store.catalog.note_race([raced.id], JUDGE, {"statement": "It is best on these clips."})
    with pytest.raises(ReportError, match=f"not judged on all samples, .* score 2 --judge {JUDGE}"):
        list(make_submissions(store, raced.id))
    early = {"rouge_l": dict(list(scores["rouge_l"].items())[:7])}
    late = put_run(store, MadeRun("made/late", early), samples)
    does = f"'audiocapbench score {late.id} --metrics rouge_l.*' scores them"
    with pytest.raises(ReportError, match=f"answers that came after it was scored; {does}"):
        list(make_submissions(store, late.id))


def no_answer(document: Document) -> None:
    del document["answers"][0]


def same_answer_twice(document: Document) -> None:
    document["answers"].append(document["answers"][0])


def first_score(**fields: Any) -> Callable[[Document], None]:
    def change(document: Document) -> None:
        metric = next(one for one in document["scores"] if one["scorer"] == "rouge_l")
        metric |= fields

    return change


def first_reply(**fields: Any) -> Callable[[Document], None]:
    return lambda document: document["answers"][0]["reply"].update(fields)


def first(part: str, **fields: Any) -> Callable[[Document], None]:
    return lambda document: document[part][0].update(fields)


def better(document: Document) -> None:
    for one in document["scores"]:
        if one["dimension"] == "overall":
            one["value"] += 1e-6


def _aggregation() -> Document:
    options = {"sound": {"encoder": "/etc"}, "music": {"encoder": "/etc"}}
    made = Aggregation("total", {"sound": 0.5, "music": 0.5}, options)
    return Traits(aggregation=made).to_dict()["aggregation"]  # type: ignore[no-any-return]


FORGERIES = {
    "a better score": (first_score(value=0.9), "rouge_l: says 0.9"),
    "of fewer samples": (first_score(n=30), "of 30 samples"),
    "a narrower interval": (first_score(interval=[0.1, 0.11]), "says the interval"),
    "no interval": (first_score(interval=None), "says the interval"),
    "another way": (first_score(signature="rouge_l|protocol:9"), "was made by rouge_l|protocol:9"),
    "no category": (first_score(category="nothing"), "no such score"),
    "a sum that is none": (better, f"{JUDGE}: overall: says"),
    "an answer left out": (no_answer, "of 40 samples, the answers give"),
    "an answer twice": (same_answer_twice, "there twice"),
    "of no sample": (first("answers", sample_id="nobody's"), "of no sample"),
    "a failure with text": (first_reply(status="failed"), "its text says otherwise"),
    "an answer without": (first_reply(text=" "), "its text says otherwise"),
    "a reference left out": (first_reply(withheld=0), "as only controls do"),
    "a long answer": (first_reply(text="a " * 20_000), "longer than"),
    "no status": (first_reply(status="splendid"), "status"),
    "a judgement above ten": (first("judgements", scores={"accuracy": 11.0}), "the judgement of"),
    "a judgement of nothing": (first("judgements", sample_id="nobody's"), "the judgement of"),
    "another reference": (first("samples", references=["A dog."]), "hash of the dataset"),
    "a large number": (first("samples", position=2**80), "out of range"),
    "a cost below 0": (
        lambda document: document.update(cost_usd=-5.0),
        "cost_usd: input should be greater than",
    ),
    "a NUL": (first("samples", instruction="a\0b"), "NUL"),
    "no samples": (lambda document: document.update(samples=[]), "samples"),
    "more than there is": (lambda document: document.update(script="x"), "script"),
    "another form": (lambda document: document.update(format="2"), "format"),
    "bad traits": (lambda document: document["traits"].update(run="rm"), "run"),
    "a path for a metric": (
        lambda document: document["traits"].update(aggregation=_aggregation()),
        "in a way that no benchmark here does",
    ),
    "deep details": (first("samples", details=json.loads("[" * 90 + "]" * 90)), "details"),
    "a NUL in details": (first("samples", details={"a": "\0"}), "NUL"),
    "no time": (lambda document: document.update(created_at="<b>"), "created_at"),
}


@pytest.mark.slow
def test_what_the_answers_do_not_give_is_refused(tmp_path: Path, alpha: Document) -> None:
    forged = {}
    for name, (change, _) in FORGERIES.items():
        forged[name] = json.loads(json.dumps(alpha))
        change(forged[name])
    for line, (name, (_, words)) in zip(refusals(tmp_path, forged), FORGERIES.items(), strict=True):
        assert words in line, name


NAMES = [
    "<img src=x onerror=alert(1)>",
    "a\nb",
    "a\u202eb",
    "a\x1b[31m",
    "",
    " ",
    "n" * 201,
    "a\u2028b",
]
LINKS = """javascript:alert(1) data:text/html,x file:///etc/passwd //example.org https:// http://a@b/
https://exa"mple.org ftp://example.org https://exämple.org HTTPS://x https:///path""".split()


def test_a_run_whose_stored_scores_are_not_those_of_its_answers_is_refused(tmp_path: Path) -> None:
    with (
        Store.open(str(tmp_path / "runs.db")) as store,
        Store.open(str(tmp_path / "new.db")) as checking,
    ):
        runs = put_models(store)[:2]
        for run in runs:
            score_run(store, run, ["rouge_l"])
        scores = stored_scores(store, runs[1].id)["rouge_l"]
        raised = [replace(one, value=1.0, statistics=(1.0,)) for one in scores]
        store.put_scores(runs[1].id, {"rouge_l": columns(raised)})
        made = make_submissions(store, *(one.id for one in runs))
        named = [(f"run {number}", one) for number, one in enumerate(made, 1)]
        right, wrong = check_submissions(checking, named)
    assert right.problems == ()
    assert any("rouge_l: says 1.0 of" in words for words in wrong.problems)


def test_a_name_that_could_deceive_is_refused(tmp_path: Path, alpha: Document) -> None:
    pairs = [(field, name) for field in ("model", "by", "licence", "benchmark") for name in NAMES]
    odd = {f"{field} {name}": alpha | {field: name} for field, name in pairs}
    for line, (field, _) in zip(refusals(tmp_path, odd), pairs, strict=True):
        assert line.startswith(f"{field}: ")
        assert line.isprintable()


def test_a_link_that_is_no_web_address_is_refused(tmp_path: Path, alpha: Document) -> None:
    links = [*LINKS, "https://example.org/a b", "https://example.org/\n"]
    for line in refusals(tmp_path, {one: alpha | {"link": one} for one in links}):
        assert line.startswith("link: a link is an address")


def _zip(content: bytes) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("../../escaped.json", content)
    return packed.getvalue()


def test_a_file_that_is_none_is_refused(tmp_path: Path) -> None:
    odd = {
        "is an archive": _zip(b"0" * 10_000_000),
        "is an archive;": gzip.compress(b"{}"),
        "is not JSON": b"",
        "model: is missing": b"{}",
        "is not a JSON object": b"[]",
        "is not JSON (1e999": b'{"model": 1e999}',
        "stands twice": b'{"model": "a", "model": "b"}',
        "nested too deeply": b"[" * 100_000,
        "UTF-8": b"\xff\xfe\xfd",
        "surrogate": b'{"model": "\\ud800"}',
    }
    for line, words in zip(refusals(tmp_path, odd), odd, strict=True):
        assert words in line


def test_why_a_file_cannot_be_read_is_told_apart(tmp_path: Path) -> None:
    path = tmp_path / "huge.json"
    with path.open("wb") as stream:
        stream.truncate(65 << 20)
    assert "has more than 64 MB" in refused(path)
    assert "No such file" in refused(tmp_path / "missing.json")
    assert "not a file" in refused(Path(os.devnull))
    (tmp_path / "folder" / "inner.json").mkdir(parents=True)
    assert "inner.json: is a folder" in refused(tmp_path / "folder")
    shut = tmp_path / "shut.json"
    shut.touch(mode=0)
    if not os.access(shut, os.R_OK):  # which root may always
        assert "Permission denied" in refused(shut)
    done = run_command("site", "check", str(tmp_path / "empty"), cwd=tmp_path)
    assert done.returncode == 2


def test_models_that_only_look_alike_are_told_and_shown_apart(
    files: dict[str, Path], alpha: Document, tmp_path: Path
) -> None:
    name = alpha["model"]
    twins = ["\N{CYRILLIC SMALL LETTER A}lpha", "\N{FULLWIDTH LATIN SMALL LETTER A}lpha", "ALPHA"]
    own = ["Сокол", "通义千问", "Сокол-2", "gpt-4o", "gpt-40", "βeta"]
    assert [skeleton(one) for one in twins] == [skeleton("alpha")] * 3
    assert len({skeleton(one) for one in (*own, name)}) == len(own) + 1
    twin = name.replace("a", "\N{CYRILLIC SMALL LETTER A}")
    other = changed(files["alpha"], tmp_path / "twin.json", model=twin, by="Team X")
    given = ("--submissions", str(files["alpha"]), "--submissions", str(other))
    for words in (("site", "check", str(files["alpha"]), str(other)), ("site", *given)):
        done = run_command(*words, *(["--out", str(tmp_path / "out")] * (words[1] != "check")))
        assert done.returncode == 0, done.stderr
        assert "are of models that look alike" in done.stderr
        assert "\\u0430" in done.stderr
    shown = (tmp_path / "out" / "index.html").read_text(encoding="utf-8")
    assert f"{twin} (Team X)" in shown
    assert f"{name} (Team A)" in shown
    fillers = ["\u3164", "\u2800", "a\u200bb", "a\u202eb", "a\x1bb", "a\u00adb"]
    odd = {one: alpha | {"model": f"x{one}y"} for one in fillers}
    (tmp_path / "odd").mkdir()
    for line in refusals(tmp_path / "odd", odd):
        assert "one line of visible letters" in line


def test_only_samples_of_the_wanted_hash_pass(files: dict[str, Path], alpha: Document) -> None:
    wanted = alpha["dataset"][:12]
    assert run_command("site", "check", str(files["alpha"]), "--dataset", wanted).returncode == 0
    assert "and not 000000000000" in refused(files["alpha"], "--dataset", "0" * 12)
    assert "12 digits" in refused(files["alpha"], "--dataset", wanted[:11])


def test_a_sample_without_an_answer_counts_as_missing(tmp_path: Path, alpha: Document) -> None:
    path = tmp_path / "part.json"
    path.write_text(json.dumps(alpha | {"answers": alpha["answers"][1:], "judgements": []}))
    document = json.loads(path.read_text(encoding="utf-8"))
    assert "of 40 samples, the answers give" in run_command("site", "check", str(path)).stderr
    claims = [one for one in document["scores"] if one["dimension"] is not None]
    path.write_text(json.dumps(document | {"scores": claims}), encoding="utf-8")
    done = run_command("site", "check", str(path))
    assert done.stderr == f"{path}: nothing of it can be scored here\n"
    path.write_text(json.dumps(document | {"scores": [*claims, _rouge(path)]}), encoding="utf-8")
    done = run_command("site", "check", str(path), "--json")
    assert done.returncode == 0, done.stderr
    [line] = json.loads(done.stdout)["submissions"]
    assert (line["answers"], line["samples"]) == (39, 40)


def _rouge(path: Path) -> Document:
    """The score of rouge_l as the refusal of a wrong one says it."""
    document = json.loads(path.read_text(encoding="utf-8"))
    wrong = {"scorer": "rouge_l", "value": 2.0, "n": 39, "signature": "?"}
    path.write_text(json.dumps(document | {"scores": [wrong]}), encoding="utf-8")
    made = run_command("site", "check", str(path)).stderr.partition("and here by ")[2].strip()
    wrong["signature"] = made
    path.write_text(json.dumps(document | {"scores": [wrong]}), encoding="utf-8")
    said = run_command("site", "check", str(path)).stderr.partition("answers give ")[2].split()
    wrong["value"] = float(said[0])
    path.write_text(json.dumps(document | {"scores": [wrong]}), encoding="utf-8")
    ends = run_command("site", "check", str(path)).stderr.partition("answers give (")[2]
    low, high = ends.strip().rstrip(")").split(", ")
    return wrong | {"interval": [float(low), float(high)]}


def test_scores_that_nothing_here_can_compute_are_claims(tmp_path: Path, alpha: Document) -> None:
    """Neither a name with options nor a plug-in's makes the check read a file or ask for one."""
    claim = {"value": 0.5, "n": 40, "signature": "x"}
    names = ["similarity[encoder=/etc/passwd]", "clap", "unheard_of", "spice"]
    scores = [*alpha["scores"], *({"scorer": name} | claim for name in names)]
    path = tmp_path / "claims.json"
    path.write_text(json.dumps(alpha | {"scores": scores}), encoding="utf-8")
    done = run_command("site", "check", str(path), "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["submissions"][0]["claimed"] == 4
    scores.append({"scorer": "somebody", "dimension": "overall"} | claim | {"value": 11})
    path.write_text(json.dumps(alpha | {"scores": scores}), encoding="utf-8")
    assert refused(path) == "somebody: no judge gives 11"


def test_judgements_of_the_free_judge_are_made_anew(tmp_path: Path) -> None:
    store = ("--store", str(tmp_path / "runs.db"))
    few = ("--limit", "12", "--metrics", "rouge_l", "--judge", "elements")
    run_command("run", "demo", "--model", "control/safe", *few, *store)
    path = tmp_path / "safe.json"
    assert run_command("submission", "1", "--out", str(path), *store).returncode == 0
    assert run_command("site", "check", str(path)).returncode == 0
    document = json.loads(path.read_text(encoding="utf-8"))
    for one in document["judgements"]:
        one["scores"] = dict.fromkeys(one["scores"], 10.0)
    for score in document["scores"]:
        if score["dimension"]:
            score["value"] = 10.0
    path.write_text(json.dumps(document), encoding="utf-8")
    done = run_command("site", "check", str(path))
    assert done.returncode == 2
    assert "elements: overall: says 10.0 of 12 samples" in done.stderr


def test_two_submissions_may_not_tell_of_different_samples(
    tmp_path: Path, files: dict[str, Path], alpha: Document
) -> None:
    """What a hash does not cover, such as a sample's details, must be the same in all."""
    samples = [one | {"details": {"clip": "another"}} for one in alpha["samples"]]
    other = changed(files["beta"], tmp_path / "beta.json", samples=samples)
    done = run_command("site", "check", str(files["alpha"]), str(other))
    assert done.returncode == 2
    assert done.stderr == f"{other}: says other things about the samples than one before it\n"


def test_one_that_was_judged_in_another_way_only_claims_its_scores(
    tmp_path: Path, files: dict[str, Path], alpha: Document
) -> None:
    """So that nobody can take the ranks from all others by asking the judge otherwise."""
    judged = [one | {"signature": "judge-other|protocol:1"} for one in alpha["judgements"]]
    scores = [
        one | ({"signature": "judge-other|protocol:1"} if one["dimension"] else {})
        for one in alpha["scores"]
    ]
    changed(files["alpha"], tmp_path / "other.json", judgements=judged, scores=scores)
    names = [str(files[name]) for name in ("beta", "safe")]
    done = run_command("site", "check", str(tmp_path / "other.json"), *names, "--json")
    assert done.returncode == 0, done.stderr
    assert [one["claimed"] for one in json.loads(done.stdout)["submissions"]] == [12, 0, 0]


@pytest.mark.slow
def test_scores_that_add_up_over_groups_are_checked_and_shown(tmp_path: Path) -> None:
    """MECAT's samples make groups, each scored by itself, and its number is their sum."""
    store = ("--store", str(tmp_path / "runs.db"))
    with Store.open(store[1]) as kept:
        for model in ("made/one", "made/two"):
            stored_run(kept, model=model, asked=items(2), metrics=("similarity", "date"))
    for number in ("1", "2"):
        done = run_command("submission", number, "--out", str(tmp_path / f"{number}.json"), *store)
        assert done.returncode == 0, done.stderr
    done = run_command("site", "check", str(tmp_path), "--json")
    assert done.returncode == 0, done.stderr
    claimed = {one["model"]: one["claimed"] for one in json.loads(done.stdout)["submissions"]}
    assert claimed == {"made/one": 0, "made/two": 0}
    words = ("--submissions", str(tmp_path), "--out", str(tmp_path / "site"))
    done = run_command("site", *words)
    assert done.returncode == 0, done.stderr
