"""CLAP as a metric of runs: it hears the run's own clips, or says why it cannot."""

import json
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import sound_plugin
from audiocapbench import score
from audiocapbench.benchmarks import open_benchmark
from audiocapbench.benchmarks.corpora import check_metrics, compute_by_corpus
from audiocapbench.benchmarks.mecat.groups import TRAITS
from audiocapbench.errors import MetricError
from audiocapbench.metrics import METRICS, compute
from audiocapbench.metrics.clap import clap_scores
from audiocapbench.metrics.encoders import load
from audiocapbench.metrics.preference.blend import features, load_blend
from audiocapbench.store import Store
from command import run_command
from folders import write_folder, write_tone
from made_store import stored_scores
from needs import needs

BANDS = "clap[encoder=bands]"


@pytest.fixture
def calls(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Iterator[list[tuple[str, int]]]:
    with sound_plugin.installed(tmp_path_factory.mktemp("site"), monkeypatch) as brought:
        yield brought


def answer_tones(place: Path) -> Path:
    """Run 1: answers to twelve tones."""
    write_folder(place / "tones", 12)
    done = run_command("run", "tones", "--model", "control/right", cwd=place)
    assert done.returncode == 0, done.stderr
    return place


@pytest.fixture(scope="module")
def answered(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twelve tones and their answers, which no test changes."""
    return answer_tones(tmp_path_factory.mktemp("answered"))


@pytest.fixture
def place(calls: list[tuple[str, int]], answered: Path, tmp_path: Path) -> Path:
    """Where run 1 has answers to twelve tones; the store is the test's own."""
    for file in answered.glob("audiocapbench.db*"):
        shutil.copy(file, tmp_path)
    (tmp_path / "tones").symlink_to(answered / "tones")
    return tmp_path


def test_it_stands_beside_the_others_in_every_table(place: Path) -> None:
    done = run_command("score", "1", "--metrics", f"rouge_l,{BANDS}", "--json", cwd=place)
    assert done.returncode == 0, done.stderr
    assert "clips embedded" in done.stderr
    assert "12/12" in done.stderr
    again = run_command("score", "1", "--metrics", f"rouge_l,{BANDS}", "--json", cwd=place)
    assert (again.stdout, again.stderr) == (done.stdout, ""), "what is kept is not embedded again"
    scores = json.loads(done.stdout)["metrics"]
    assert list(scores) == ["rouge_l", BANDS]
    assert scores[BANDS]["ci"][0] < scores[BANDS]["score"] < scores[BANDS]["ci"][1]
    assert "|model:bands@" in scores[BANDS]["signature"]
    assert "|windows:slide|window:3|hop:1|" in scores[BANDS]["signature"]
    board = json.loads(run_command("leaderboard", "--metric", BANDS, "--json", cwd=place).stdout)
    assert BANDS in json.dumps(board)
    both = ["leaderboard", "--table", "1", "--columns", f"model,rouge_l,{BANDS}"]
    shown = run_command(*both, "--metric", "rouge_l", "--format", "csv", cwd=place)
    assert shown.returncode == 0, shown.stderr
    assert BANDS in shown.stdout.splitlines()[0]
    page = run_command("report", "1", "--out", "page.html", cwd=place)
    assert page.returncode == 0, page.stderr
    assert BANDS in (place / "page.html").read_text("utf-8")


def test_run_has_it_too_and_its_scores_are_those_of_the_function(
    place: Path, calls: list[tuple[str, int]]
) -> None:
    words = ["run", "tones", "--model", "control/safe", "--metrics", BANDS, "--json"]
    done = run_command(*words, cwd=place)
    assert done.returncode == 0, done.stderr
    store = Store.open(str(place / "audiocapbench.db"))
    stored = stored_scores(store, 2)[BANDS]
    outcomes = store.outcomes(2)
    samples = store.dataset(store.run(2).dataset).samples
    paths = [one.clip.path for one in samples]
    texts = [outcomes[one.id].reply.text for one in samples]
    alone = clap_scores(paths, texts, "bands").result
    expected = dict(zip([one.id for one in samples], alone.samples.tolist(), strict=True))
    assert {one.sample_id: one.value for one in stored} == pytest.approx(expected, abs=1e-6)
    before = len([kind for kind, _ in calls if kind == "audio"])
    assert run_command(*words, cwd=place).returncode == 0
    assert len([kind for kind, _ in calls if kind == "audio"]) == before, "embeddings are kept"


def test_only_texts_are_refused_with_the_reason(place: Path) -> None:
    (place / "said.csv").write_text("id,prediction\na,A dog barks.\n")
    (place / "known.csv").write_text("id,reference\na,A dog is barking.\n")
    files = ["--predictions", "said.csv", "--references", "known.csv"]
    done = run_command("score", *files, "--metrics", BANDS, cwd=place)
    assert done.returncode == 2
    assert "clap hears the clips, and here are only texts" in " ".join(done.stderr.split())


def test_an_imported_run_without_audio_is_refused_with_the_reason(place: Path) -> None:
    (place / "said.csv").write_text("id,prediction\na,A dog barks.\n")
    (place / "known.csv").write_text("id,reference\na,A dog is barking.\n")
    words = ["import", "said.csv", "--references", "known.csv", "--model", "mine"]
    assert run_command(*words, "--metrics", "rouge_l", cwd=place).returncode == 0
    done = run_command("score", "2", "--metrics", BANDS, cwd=place)
    assert done.returncode == 2
    assert "only its references were given, no audio" in " ".join(done.stderr.split())
    done = run_command(*words, "--metrics", BANDS, cwd=place)
    assert done.returncode == 2
    assert "here are only texts" in " ".join(done.stderr.split())


def test_within_corpora_each_caption_is_held_to_its_own_clip(place: Path) -> None:
    aggregation = TRAITS["mecat-caption"].aggregation
    assert aggregation is not None
    tones = open_benchmark(str(place / "tones")).samples
    corpora = list(aggregation.weights)[:2]
    samples = [replace(one, category=corpora[n % 2]) for n, one in enumerate(tones)]
    texts = [one.references[0] for one in samples]
    clips, references = [one.clip for one in samples], [one.references for one in samples]
    made, _ = compute_by_corpus(aggregation, [BANDS], samples, texts, references, clips=clips)
    alone = clap_scores([one.path for one in clips], texts, "bands").result.samples
    assert {one.corpus for one in made} == set(corpora)
    for one in made:
        assert one.result.samples.tolist() == pytest.approx(alone[one.rows].tolist(), abs=1e-6)


@pytest.mark.usefixtures("calls")
def test_a_clip_that_is_not_there_as_it_was_is_never_scored(tmp_path: Path) -> None:
    place = answer_tones(tmp_path)
    clip = place / "tones" / "clips" / "1.wav"
    for change in ("removed", "another"):
        clip.unlink()
        if change == "another":
            write_tone(clip, 999.0)
        done = run_command("score", "1", "--metrics", BANDS, cwd=place)
        clip.touch()
        assert done.returncode == 2
        words = " ".join(done.stderr.split())
        assert "1 of 12 are not there: clips/1.wav" in words
        assert ("has changed since the run began" in words) == (change == "another")
        assert BANDS not in Store.open(str(place / "audiocapbench.db")).score_columns(1)


@pytest.mark.parametrize(
    ("metric", "reason"),
    [
        ("clap[path=nowhere]", "holds no CLAP model"),
        ("clap", "downloads are off"),
        ("clap[encoder=bandz]", "bands"),
        ("clap[encoder=bands,windows=round]", "choose slide or crop"),
        ("clap[weights=x]", "has no option 'weights'"),
    ],
)
def test_what_is_missing_is_said_before_a_model_is_asked(
    place: Path, metric: str, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    needs("transformers", "torch")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    words = ["run", "tones", "--model", "control/wrong", "--metrics", metric]
    done = run_command(*words, cwd=place)
    assert done.returncode == 2
    assert reason in " ".join(done.stderr.split())
    with pytest.raises(Exception, match="2"):
        Store.open(str(place / "audiocapbench.db")).run(2)


def test_the_scale_is_a_cosine_from_0_to_1() -> None:
    assert METRICS["clap"].max_value == 1.0
    assert "0 to 1" in METRICS["clap"].description
    with pytest.raises(MetricError, match="only texts"):
        score(["a dog"], ["a dog"], "clap")


def test_laions_weights_come_from_a_folder_and_their_hash_is_in_the_signature(
    place: Path,
) -> None:
    for needed in ("torch", "transformers"):
        needs(needed)
    from tiny_clap import save_tiny_clap

    save_tiny_clap(place / "tiny")
    metrics = "clap[path=tiny],preference[clap=tiny]"
    done = run_command("score", "1", "--metrics", metrics, "--json", cwd=place)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)["metrics"]["preference[clap=tiny]"]
    assert "|clap:tiny@" in found["signature"]
    found = json.loads(done.stdout)["metrics"]["clap[path=tiny]"]
    assert 0 <= found["score"] <= 1
    assert found["coverage"] == 1
    assert "clap|model:tiny@" in found["signature"]


def test_preference_hears_with_clap_and_reads_as_without(calls: list[tuple[str, int]]) -> None:
    clips = [one.clip for one in open_benchmark("demo").samples[:3]]
    said = ["a dog barks twice", "rain falls", ""]
    held_to = [["A dog is barking", "A dog barks"], ["It rains"], ["A bird sings"]]
    heard = compute([BANDS], said, held_to, clips=clips)[0].samples
    read = features(said, held_to, load("caption2vec"))
    asked = ["preference[clap=bands]", "preference[clap=bands,references=none]"]
    blended, alone = compute(asked, said, held_to, clips=clips)
    for kind, parts, found in (
        ("caption2vec", read, blended),
        ("none", {"fluency": compute(["fluency"], said, held_to)[0].samples}, alone),
    ):
        weights = load_blend(kind, "clap")[1]
        expected = sum(weight * (parts | {"clap": heard})[name] for name, weight in weights.items())
        assert found.samples == pytest.approx(expected, abs=1e-12)
        assert found.samples[2] == 0
        assert "|clap:bands@" in str(found.signature)
    loud = [f'**Caption:** "{text.upper()}".' if text else "" for text in said]
    for one, other in zip(
        (blended, alone), compute(asked, loud, held_to, clips=clips), strict=True
    ):
        assert one.samples == pytest.approx(other.samples, abs=1e-9), "formatting counts nothing"


@pytest.mark.parametrize(
    "metric", ["preference[rate=local/x]", "preference[caf=x]", "caf[clap=bands,rate=local/x]"]
)
def test_a_run_is_not_asked_for_what_only_trials_hear(metric: str) -> None:
    with pytest.raises(MetricError, match="is for scorers on trial"):
        check_metrics(None, [metric])
