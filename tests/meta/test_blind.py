"""Blind play, searched: what is found without hearing, and how it is measured."""

import json
import random
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from audiocapbench.errors import AudioCapBenchError, TrialError
from audiocapbench.meta.blind import (
    KINDS,
    SLOT,
    applied,
    blind_play,
    hold_out,
    measured_scores,
    searched_scorer,
)
from audiocapbench.metrics import METRICS, compute
from audiocapbench.metrics.result import MetricResult
from audiocapbench.signature import sign
from command import run_command

THINGS = ("dog", "cat", "bell", "horn", "train", "engine", "crowd", "bird", "baby", "clock")
DOES = ("barks", "meows", "rings", "honks", "passes", "idles", "cheers", "sings", "cries", "ticks")
REFERENCES = [
    [
        f"A {thing} {DOES[place]} {how} outside.",
        f"A loud {thing} {DOES[place]} while people talk in the street.",
        f"Outside a {thing} {DOES[place]} {how} in the background.",
    ]
    for place, thing in enumerate(THINGS)
    for how in ("once", "twice", "softly", "loudly")
]
GENERIC = {"outside", "background", "people"}


def likes_generic_words(
    predictions: Sequence[str], references: Sequence[Sequence[str]]
) -> MetricResult:
    """Scores captions by the generic words that they hold, whatever the clip."""
    assert len(predictions) == len(references)
    words = [set(one.lower().rstrip(".").replace(",", "").split()) for one in predictions]
    samples = np.array([len(own & GENERIC) / len(GENERIC) for own in words])
    noise = np.array([len(own[0]) % 7 for own in references]) / 100
    return MetricResult.of_means("generic", sign("generic"), samples + noise)


def test_a_sentence_is_climbed_that_no_caption_holds() -> None:
    found = blind_play(likes_generic_words, REFERENCES, evaluations=600)
    best = found.best["sentence"]
    assert best.score.value is not None
    assert best.score.value > 1  # all generic words, and no caption has more than two
    assert best.succeeds
    assert found.person is not None
    assert found.person == found.honest
    assert found.n == len(REFERENCES) // 2
    for kind in list(KINDS)[1:]:
        affix = found.best[kind]
        assert SLOT in affix.text
        assert affix.succeeds, affix


def test_the_same_seed_finds_the_same_and_another_one_something_else() -> None:
    first, again, other = (
        blind_play(likes_generic_words, REFERENCES, evaluations=60, seed=seed) for seed in (1, 1, 2)
    )
    assert first == again
    assert first != other


def test_no_more_captions_are_scored_than_asked_for() -> None:
    asked: list[int] = []
    found = blind_play(
        likes_generic_words,
        REFERENCES,
        evaluations=100,
        progress=lambda done, _: asked.append(done),
    )
    assert asked == sorted(asked)
    assert asked[-1] == found.evaluations <= 100


def test_a_corpus_score_is_climbed_and_measured_as_such() -> None:
    def score(texts: Sequence[str], references: Sequence[Sequence[str]]) -> MetricResult:
        return compute(["cider_d"], texts, references)[0]

    found = blind_play(score, REFERENCES, evaluations=40)
    assert found.person is not None
    assert (found.person.value or 0.0) > (found.other.value or 0.0)


def test_what_is_found_stays_within_the_words_of_the_corpus() -> None:
    known = {word.strip(".,").lower() for own in REFERENCES for one in own for word in one.split()}
    for attack in blind_play(likes_generic_words, REFERENCES, evaluations=80).attacks:
        words = attack.text.lower().replace(SLOT, "").replace(",", "").replace(".", "").split()
        assert set(words) <= known | {"and", "while", "as", "with"}, attack


def test_single_references_have_a_blind_score_and_no_person() -> None:
    single = [own[:1] for own in REFERENCES]
    found = blind_play(likes_generic_words, single, evaluations=40)
    assert found.person is found.honest is None
    assert {one.kind for one in found.attacks} == {"sentence"}
    captions = ["A dog barks"] * len(single)
    found = blind_play(likes_generic_words, single, captions, evaluations=40)
    assert {one.kind for one in found.attacks} == {"sentence", "suffix", "prefix", "template"}
    assert found.person is None
    assert found.honest is not None


def test_the_person_is_held_to_the_others() -> None:
    clips = hold_out([*REFERENCES, ["A single one."]], None, random.Random(0))
    assert clips.people is not None
    assert len(clips.people) == len(REFERENCES)
    for person, held, own in zip(clips.people, clips.references, REFERENCES, strict=True):
        assert sorted([person, *held]) == sorted(own)


def test_a_caption_that_stands_twice_is_not_held_to_itself() -> None:
    twice = [[own[0], own[0], " ", own[1]] for own in REFERENCES]
    clips = hold_out(twice, None, random.Random(0))
    assert clips.people is not None
    for person, held in zip(clips.people, clips.references, strict=True):
        assert len(held) == 1
        assert person.strip()
        assert person not in held


def test_too_few_clips_are_refused() -> None:
    with pytest.raises(TrialError, match="give four at the least"):
        blind_play(likes_generic_words, REFERENCES[:3])
    with pytest.raises(TrialError, match="no words"):
        blind_play(likes_generic_words, [["!!", "…"]] * 8)


@pytest.mark.parametrize(
    "captions",
    [
        ["一只狗在叫", "狗叫得很大声"],
        [" ".join([f"long{n}" for n in range(90)]), " ".join(["word"] * 70)],
        ["Noise", "Noise."],
        ["A dog barks. Then it stops; a car passes.", "{} is no slot"],
        ["ЛАЕТ СОБАКА", "Собака лает, громко"],
    ],
)
def test_captions_of_any_kind_are_played_with(captions: list[str]) -> None:
    references = [captions, *([*captions, own[0]] for own in REFERENCES[:9])]
    found = blind_play(likes_generic_words, references, evaluations=40)
    assert found.best.keys() == KINDS.keys()


@pytest.mark.slow
def test_every_metric_of_texts_is_searched_for() -> None:
    names = [one.name for one in METRICS.values() if not one.needs and not one.hears]
    names.remove("choice")  # which reads options, not captions
    assert {"meteor", "cider_d", "date", "preference", "vocab"} <= set(names)
    for name in names:
        _, score, of_corpus = searched_scorer(f"metric:{name}")
        found = blind_play(score, REFERENCES[::4], evaluations=20, of_corpus=of_corpus)
        assert np.isfinite(found.best["sentence"].score.value or 0.0), name


def test_the_command_shows_what_hears_nothing_and_warns(tmp_path: Path) -> None:
    path = tmp_path / "captions.jsonl"
    rows = [{"id": f"c{place}", "references": own} for place, own in enumerate(REFERENCES)]
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    words = ("meta", "cheat", "--captions", path.name, "--search", "--evaluations", "40")
    done = run_command(*words, "--scorer", "metric:meteor", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "best sentence" in done.stdout
    assert "another clip's" in done.stdout
    asked = run_command(*words, "--scorer", "judge:elements", "--json", cwd=tmp_path)
    [found] = json.loads(asked.stdout)["scorers"]
    assert found["n"] == len(REFERENCES) // 2
    assert found["person"]["value"] > found["other"]["value"]
    assert found["attacks"][0].keys() == {"kind", "text", "score", "gain", "succeeds"}
    assert len(found["attacks"][0]["score"]["ci"]) == 2


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("metric:clap", "hears the clips"),
        ("judge:openai/gpt-4.1", "tens of thousands of questions"),
        ("control:longer", "is not searched for"),
        ("metric:blue", "there is no metric 'blue'"),
        ("meteor", "is not searched for"),
    ],
)
def test_what_hears_or_costs_is_refused(
    name: str, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    with pytest.raises(AudioCapBenchError, match=why):
        searched_scorer(name)


def test_a_score_that_hangs_on_the_corpus_is_asked_one_text_at_a_time() -> None:
    sizes: set[int] = set()

    def score(texts: Sequence[str], references: Sequence[Sequence[str]]) -> MetricResult:
        assert len(set(map(tuple, references))) == len(references)
        sizes.add(len(texts))
        return likes_generic_words(texts, references)

    blind_play(score, REFERENCES, evaluations=20, of_corpus=True)
    assert sizes == {len(REFERENCES) // 2}


@pytest.mark.parametrize(
    ("text", "caption", "expected"),
    [
        ("{}", " A dog barks. ", " A dog barks. "),
        ("A sound.", "A dog barks.", "A sound."),
        ("{} with noise", "A dog barks.", "A dog barks with noise."),
        ("{} with noise", "a dog barks", "a dog barks with noise"),
        ("the sound of {}", "A dog barks.", "The sound of a dog barks."),
        ("the sound of {}", "NASA speaks", "The sound of NASA speaks"),
        ("{}. {}", "A dog barks", "A dog barks. A dog barks"),
        ("{}", "", ""),
        ("{} with noise", "", "with noise"),
        ("{} hums", "A {} barks", "A {} barks hums"),
    ],
)
def test_an_affix_is_written_as_the_caption_is(text: str, caption: str, expected: str) -> None:
    assert applied(text, caption) == expected


def test_a_metric_shows_what_hears_nothing_gets_by_it() -> None:
    done = run_command("metrics", "show", "meteor", "--json")
    found = json.loads(done.stdout)
    assert found["description"].startswith("NLTK's METEOR")
    assert {"Clotho", "AudioCaps"} <= {row["corpus"] for row in found["blind"]}
    for row in found["blind"]:
        low, high = row["blind"]["ci"]
        assert low <= row["blind"]["value"] <= high
        assert row["n"] > 80
    assert "What hears nothing" in run_command("metrics", "show", "meteor").stdout
    assert "did you mean" in run_command("metrics", "show", "metteor").stderr
    assert json.loads(run_command("metrics", "show", "vocab", "--json").stdout)["name"] == "vocab"


def test_figures_are_of_scorers_as_they_are() -> None:
    [row, *_] = measured_scores("metric:meteor")
    now = str(compute(["meteor"], ["A dog"], [["A dog"]])[0].signature)
    assert row["signature"] == now
    tried = f"{now.removesuffix('|protocol:1')}|trial:fense|protocol:1"
    assert measured_scores("metric:meteor", tried)
    assert measured_scores("metric:meteor", now.replace("protocol:1", "protocol:0")) == []


def test_a_trial_says_what_hears_nothing_gets(tmp_path: Path) -> None:
    rows = ["id,audio,caption_a,caption_b,preferred,reference"]
    rows += [f"{n},{n},A dog barks,A cat meows,a,A dog barks loudly" for n in range(3)]
    (tmp_path / "pairs.csv").write_text("\n".join(rows), encoding="utf-8")
    words = ("meta", "csv", "--pairs", "pairs.csv", "--scorer", "metric:rouge_l")
    shown = " ".join(run_command(*words, cwd=tmp_path).stdout.split())
    assert "metric:rouge_l: a caption that hears nothing gets 0.3" in shown
