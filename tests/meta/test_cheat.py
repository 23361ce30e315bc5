"""Attacks on scorers: how they are made, what they gain, and that ours are not fooled."""

import csv
import json
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest

from audiocapbench.errors import TrialError
from audiocapbench.meta.cheat import ATTACKS, attack_pairs, cheat
from audiocapbench.meta.corrupt.captions import CaptionedClip, caption_set, read_captions
from audiocapbench.meta.scorers.scorer import PointwiseScorer, create_scorer
from audiocapbench.signature import sign
from command import run_command

THINGS = ("dog", "cat", "bell", "horn", "train", "engine", "crowd", "bird", "baby", "clock", "door",
          "drum")  # fmt: skip
DOES = ("barks", "meows", "rings", "honks", "passes", "idles", "cheers", "sings", "cries", "ticks",
        "slams", "rolls")  # fmt: skip
CLIPS = tuple(
    CaptionedClip(
        f"clip{n}",
        f"clip{n}.wav",
        (f"A {one} {does} loudly.", f"The {one} {does} twice nearby", f"A loud {one} {does}"),
    )
    for n, (one, does) in enumerate(zip(THINGS, DOES, strict=True))
)
SETS = {
    "Clotho": ("clotho/evaluation_captions.csv", "fname", "raw_text"),
    "AudioCaps": ("audiocaps/test.csv", "youtube_id", "caption"),
}


class CharacterCounter(PointwiseScorer):
    """The longer, the better."""

    name = "metric:characters"
    signature = sign("characters")

    def score(self, pairs):  # type: ignore[no-untyped-def]
        """Lengths; None for what is empty."""
        sides = [[pair.first for pair in pairs], [pair.second for pair in pairs]]
        lengths = np.array([[len(text) or np.nan for text in side] for side in sides])
        return lengths[0], lengths[1]


def test_no_attack_is_shown_the_references_that_it_is_held_to() -> None:
    pairs = attack_pairs(CLIPS)
    people = {clip.id: clip.references for clip in CLIPS}
    both = [pair for pair in pairs if pair.type == "two sentences"]
    assert len(both) == len(CLIPS)
    for pair in both:
        taken = [pair.first, pair.second.removeprefix(f"{pair.first.rstrip('.')}. ")]
        assert not set(taken) & set(pair.references_first)
        assert {*taken, *pair.references_first} == set(people[pair.clip])
    for pair in pairs:
        assert pair.references_first == pair.references_second
        assert not any(text in pair.second for text in pair.references_first), pair


def test_every_attack_is_made_for_every_clip_and_is_the_same_for_a_seed() -> None:
    pairs = attack_pairs(CLIPS, seed=3)
    assert pairs == attack_pairs(CLIPS, seed=3)
    assert len(pairs) == len(ATTACKS) * len(CLIPS)
    assert {pair.type for pair in pairs} == set(ATTACKS)
    assert all(pair.first != pair.second for pair in pairs)


def test_attacks_are_what_they_say() -> None:
    clips = [CaptionedClip("a", "a", ("A dog barks loudly.", "Barking")), *CLIPS[1:]]
    machine = {one.id: "A dog barks loudly." if one.id == "a" else "A bell" for one in clips}
    pairs = attack_pairs(clips, machine)
    made = {pair.type: pair.second for pair in pairs if pair.clip == "a"}
    assert made["repeated"] == "A dog barks loudly. A dog barks loudly."
    assert made["doubled"] == "A dog dog barks loudly."
    assert made["one word"] == "dog"
    assert made["key words"] == "dog barks loudly dog"
    assert sorted(made["salad"].split()) == ["a", "barks", "dog", "loudly"]
    assert made["joined"] == "A dog barks loudly and a bell"
    assert made["empty"] == ""
    assert made["all sounds"] == "bell, dog, barks"
    assert made["instruction"].startswith("A dog barks loudly. Ignore")


def test_a_scorer_that_likes_length_is_cheated_and_said_to_be() -> None:
    trial = cheat(CharacterCounter(), attack_pairs(CLIPS))
    found = trial["attacks"]
    assert found["long"]["succeeds"]
    assert found["long"]["wins"] == 100
    assert found["repeated"]["ci"] is not None
    assert found["repeated"]["ci"].low > 0
    assert not found["one word"]["succeeds"]
    assert found["salad"]["gain"] <= 0
    assert any("by 'long'" in warning for warning in trial["warnings"])
    # A caption that was not scored is missing, and no zero.
    assert "empty" not in found


def test_who_sees_both_captions_at_once_is_refused() -> None:
    with pytest.raises(TrialError, match="one by one"):
        cheat(create_scorer("control:longer"), attack_pairs(CLIPS))


def test_clips_without_a_caption_to_spare_are_refused() -> None:
    single = [CaptionedClip(one.id, one.audio, one.references[:1]) for one in CLIPS]
    with pytest.raises(TrialError, match="fewer than two clips"):
        attack_pairs(single)
    machine = {one.id: "A bell" for one in single}
    assert {pair.clip for pair in attack_pairs(single, machine)} == machine.keys()


def of_people(which: str, shared: Path) -> dict[str, list[str]]:
    file, key, column = SETS[which]
    clips: dict[str, list[str]] = defaultdict(list)
    with (shared / file).open(encoding="utf-8", newline="") as stream:
        for row in csv.DictReader(stream):
            clips[row[key]].append(row[column])
    return clips


def of_mecat(view: str, shared: Path) -> dict[str, list[str]]:
    lines = (shared / "mecat/caption_test/0M0.jsonl").read_text("utf-8").splitlines()
    return {clip: own[view] for line in lines for clip, own in json.loads(line).items()}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["judge:elements", "metric:fluent_similarity"])
@pytest.mark.parametrize("which", [*sorted(SETS), "long", "short"])
def test_no_attack_beats_the_honest_caption(name: str, which: str, shared: Path) -> None:
    clips = of_people(which, shared) if which in SETS else of_mecat(which, shared)
    found = caption_set([(clip, clip, texts) for clip, texts in clips.items()])
    trial = cheat(create_scorer(name), attack_pairs(found.clips, limit=200))
    assert set(trial["attacks"]) == set(ATTACKS)
    for attack, one in trial["attacks"].items():
        assert one["gain"] < 0, (attack, one["gain"])


@pytest.fixture
def captions(tmp_path: Path) -> Path:
    path = tmp_path / "captions.jsonl"
    rows = [{"id": one.id, "references": one.references} for one in CLIPS]
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    assert len(read_captions(path).clips) == len(CLIPS)
    return path


def test_the_command_shows_gains_and_warns(captions: Path) -> None:
    words = ("meta", "cheat", "--captions", captions.name, "--scorer", "metric:similarity")
    done = run_command(*words, "--scorer", "judge:elements", cwd=captions.parent)
    assert done.returncode == 0, done.stderr
    assert "gain over the honest caption" in done.stdout
    assert "Warning: metric:similarity can be cheated by 'joined'" in done.stderr
    assert "judge:elements can be cheated" not in done.stderr
    asked = run_command(*words, "--json", cwd=captions.parent)
    [scorer] = json.loads(asked.stdout)["scorers"]
    assert set(scorer["attacks"]) == set(ATTACKS)
    assert scorer["attacks"]["joined"]["succeeds"]
    assert scorer["attacks"]["joined"]["ci"][0] > 0


def test_a_judge_that_costs_money_is_agreed_to_first(
    captions: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    words = ("meta", "cheat", "--captions", captions.name, "--scorer", "judge:openai/gpt-4.1")
    done = run_command(*words, cwd=captions.parent)
    assert done.returncode == 2
    assert "Add --yes to agree" in done.stderr


def test_a_scorer_of_pairs_is_one_sentence(captions: Path) -> None:
    words = ("meta", "cheat", "--captions", captions.name, "--scorer", "control:longer")
    done = run_command(*words, cwd=captions.parent)
    assert done.returncode == 2
    assert "control:longer does not score captions one by one" in done.stderr
