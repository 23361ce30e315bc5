"""``judges calibrate --next``: what people should rate is drawn with known chances, and weighed."""

import csv
import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from audiocapbench.errors import ReportError
from audiocapbench.stats.predicted import calibrated_mean
from audiocapbench.store import Run, Store
from audiocapbench.study.choice import choose, strata_of
from command import run_command
from made_store import MadeRun, made_samples, put_run
from needs import needs_shared

SAMPLES = made_samples(120, categories=("sound", "music"))
JUDGE = "openai/judge"
DIMENSIONS = ("accuracy", "completeness", "hallucination")
SCORES = {one.id: float(place * 7 % 11) for place, one in enumerate(SAMPLES)}
CATEGORIES = {one.id: one.category for one in SAMPLES}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("choice")
    verdicts = {key: dict.fromkeys(DIMENSIONS, one) for key, one in SCORES.items()}
    with Store.open(str(root / "made.db")) as kept:
        for model in ("openai/one", "openai/two"):
            put_run(kept, MadeRun(model, grades={JUDGE: verdicts}), SAMPLES)
    return root


@pytest.fixture(scope="module")
def run(place: Path) -> Run:
    with Store.open(str(place / "made.db")) as kept:
        return kept.run(1)


def calibrate(place: Path, *words: str) -> Any:
    given = ("judges", "calibrate", "1", "--judge", JUDGE, "--store", "made.db", *words)
    return run_command(*given, cwd=place)


def test_every_stratum_has_its_share_and_a_larger_choice_holds_the_smaller(run: Run) -> None:
    few, many = (choose(run, SCORES, CATEGORIES, count, 3) for count in (24, 48))
    assert (len(few), len(many)) == (24, 48)
    assert few.keys() <= many.keys()
    assert Counter(said.partition(":")[0] for said in few.values()) == {
        f"{name} {part}/3": 4 for name in ("sound", "music") for part in (1, 2, 3)
    }
    assert len(choose(run, SCORES, CATEGORIES, 6, 0)) == 6
    with pytest.raises(ReportError, match="6 strata: choose as many"):
        choose(run, SCORES, CATEGORIES, 5, 0)
    assert choose(run, SCORES, CATEGORIES, 999, 0).keys() == SCORES.keys()
    assert choose(run, SCORES, CATEGORIES, 24, 4).keys() != few.keys()


def test_what_is_rated_strata_of_its_stratum_and_a_choice_is_of_one_run(run: Run) -> None:
    chosen = choose(run, SCORES, CATEGORIES, 30, 0)
    strata = strata_of(run, chosen, len(SCORES))
    assert strata is not None
    assert dict(strata.values()) == {
        f"{name} {part}/3": 20 for name in ("sound", "music") for part in (1, 2, 3)
    }
    assert strata_of(run, dict.fromkeys(chosen, ""), len(SCORES)) is None
    first, second = [*chosen][:2]
    swapped = {**chosen, first: chosen[second]}
    for wrong, says in (
        (swapped, "not as it was chosen"),
        ({**chosen, first: ""}, "says nothing of its choice"),
        ({**chosen, first: chosen[first].replace(" of 20", " of 9")}, "not as it was chosen"),
    ):
        with pytest.raises(ReportError, match=says):
            strata_of(run, wrong, len(SCORES))
    with pytest.raises(ReportError, match="not as it was chosen"):
        strata_of(replace(run, id=2), chosen, len(SCORES))
    music = {key: said for key, said in chosen.items() if CATEGORIES[key] == "music"}
    with pytest.raises(ReportError, match="rate all that was chosen"):
        strata_of(run, music, len(SCORES))


def test_a_choice_is_written_rated_and_weighed_back(place: Path) -> None:
    done = calibrate(place, "--next", "30", "--out", "next.csv")
    assert done.returncode == 0, done.stderr
    rows = list(csv.DictReader((place / "next.csv").read_text(encoding="utf-8").splitlines()))
    assert "judge" not in rows[0]
    assert len(json.loads(calibrate(place, "--next", "30", "--json").stdout)["next"]) == 30

    def rate(name: str, picked: list[dict[str, str]]) -> Any:
        made = [
            row | {"person": "abcde"[n % 5], "value": str(2 + 6 * (row["category"] == "music"))}
            for n, row in enumerate(picked)
        ]
        with (place / name).open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, made[0])
            writer.writeheader()
            writer.writerows(made)
        return calibrate(place, "--ratings", name, "--json")

    # Half of the answers are music; that fewer of them were rated moves nothing.
    fewer = [row for n, row in enumerate(rows) if row["category"] == "sound" or n < 12]
    for picked in (rows, fewer):
        found = json.loads(rate("rated.csv", picked).stdout)
        assert found["models"][0]["people"]["value"] == pytest.approx(5, abs=0.3)
        assert not any("random part" in one for one in found["notes"])
        assert "how:ppi++ crossed strata" in found["signature"]
    mixed = rate("mixed.csv", [*rows[1:], rows[0] | {"chosen": ""}])
    assert (mixed.returncode, "nothing of its choice" in mixed.stderr) == (2, True)
    nothing = calibrate(place)
    assert (nothing.returncode, "--next N" in nothing.stderr) == (2, True)


@pytest.mark.slow
def test_intervals_of_a_choice_cover_the_truth(run: Run) -> None:
    generator, rounds, covered = np.random.default_rng(3), 300, 0
    base = np.array([SCORES[one.id] for one in SAMPLES])
    music = np.array([one.category == "music" for one in SAMPLES])
    for seed in range(rounds):
        # The judge is off where it is low, and by category.
        values = base + 2 * music + generator.normal(0, 0.3 + 0.2 * (10 - base))
        truth, views = float(base.mean() + 1), generator.normal(0, 0.5, 6)
        chosen = choose(run, SCORES, CATEGORIES, 42, seed)
        strata = strata_of(run, chosen, len(SCORES))
        rating = dict(zip(SCORES, values.tolist(), strict=True))
        keys = generator.permutation(list(chosen)).tolist()
        ratings = {(f"p{n % 6}", key): rating[key] + views[n % 6] for n, key in enumerate(keys)}
        found = calibrated_mean(ratings, SCORES, bounds=(-5, 20), strata=strata).interval
        assert found is not None
        covered += found.low <= truth <= found.high
    assert covered / rounds >= 0.93


def brace(shared: Path) -> tuple[dict[str, float], dict[str, float], dict[str, str]]:
    """Votes of people on pairs of captions, and by how much a model prefers the first."""
    people = json.loads((shared / "brace/AudioCaps_Main.json").read_text(encoding="utf-8"))
    file = shared / "caf/audiocaps_main/qwen3omni_mgaclap.json"
    judged = json.loads(file.read_text(encoding="utf-8"))[1]["Results"]
    votes, scores, kinds = {}, {}, {}
    for clip, own in zip(people, judged, strict=True):
        for name in sorted(own.keys() - {"file_name"}):
            key, pair = f"{clip['file_name']} {name}", own[name]
            votes[key] = 5 + 5 * float(np.mean(clip[name][4]))
            scores[key] = pair["caption0_caf_score"] - pair["caption1_caf_score"]
            kinds[key] = name.partition("_")[0]
    return votes, scores, kinds


@pytest.mark.slow
def test_people_rate_a_quarter_less_of_real_pairs_for_the_same_certainty(run: Run) -> None:
    votes, scores, kinds = brace(needs_shared("brace", "caf"))
    truth, covered, widths = float(np.mean([*votes.values()])), 0, []
    generator = np.random.default_rng(5)

    def rated(keys: Iterable[str]) -> dict[tuple[str, str], float]:
        drawn = generator.permutation([*keys])[:60].tolist()
        return {(f"p{n}", key): votes[key] for n, key in enumerate(drawn)}

    for seed in range(60):
        said = choose(run, scores, kinds, 60, seed)
        strata = strata_of(run, said, len(scores))
        found = calibrated_mean(rated(said), scores, bounds=(0, 10), strata=strata).interval
        alone = calibrated_mean(rated(votes), scores, bounds=(0, 10), tuned=False).interval
        assert alone is not None
        assert found is not None
        covered += found.low <= truth <= found.high
        widths.append((alone.high - alone.low, found.high - found.low))
    wide, narrow = np.median(widths, axis=0)
    assert (wide / narrow) ** 2 > 1.25
    assert covered >= 0.93 * 60
