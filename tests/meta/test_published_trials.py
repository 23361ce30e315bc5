"""What others published about these pairs comes out here, to the printed digit."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from audiocapbench.meta.pairs import KINDS, PairSet, pair_set, read_pairs
from audiocapbench.meta.scorers.scorer import TrialSettings, create_scorer
from audiocapbench.meta.trial import ScorerTrial, agreement, try_scorer
from audiocapbench.meta.votes import one_against_rest
from needs import needs


@pytest.fixture(scope="module")
def main(shared: Path) -> PairSet:
    return pair_set("brace-main", read_pairs("brace-main", [shared / "brace/AudioCaps_Main.json"]))


@pytest.fixture(scope="module")
def human(shared: Path) -> PairSet:
    path = shared / "fense/audiocaps_eval_pairs.json"
    return pair_set("human", read_pairs("human", [path]))


def rounded(trial: ScorerTrial) -> list[float | None]:
    figures = [trial.groups["type"][kind] for kind in ("HC", "HI", "HM", "MM")]
    return [round(one["accuracy"].value or 0.0, 1) for one in [*figures, trial.whole]]


def test_people_agree_as_published_before_and_after_filtering(shared: Path) -> None:
    votes = read_pairs("brace-main", [shared / "brace/meta_AudioCaps_Main_v0.json"])
    before, after = agreement(votes)
    assert (str(before), str(after)) == ("0.38 (0.34 to 0.42)", "0.98 (0.96 to 0.99)")


def test_one_person_against_the_rest_is_what_scorers_may_reach(shared: Path) -> None:
    pairs = read_pairs("human", [shared / "fense/audiocaps_eval_pairs.json"])
    person = one_against_rest(pairs)
    assert person is not None
    assert round(person.score, 1) == 86.1
    values = [round(one["accuracy"].value or 0) for one in person.groups["strength"].values()]
    assert values == [62, 82, 94]
    assert not person.diagnostics.notes
    kept = one_against_rest(read_pairs("brace-main", [shared / "brace/AudioCaps_Main.json"]))
    assert kept is not None
    assert "too high" in kept.diagnostics.notes[0]


@pytest.mark.parametrize(
    ("kind", "file", "least", "told"),
    [
        ("brace-main", "brace/meta_AudioCaps_Main_v0.json", 2, (0.38, 0.98)),
        ("human", "fense/audiocaps_eval_pairs.json", 1, (0.49, 0.50)),
    ],
)
def test_kappa_is_as_statsmodels_computes_it(
    shared: Path, kind: str, file: str, least: int, told: tuple[float, float]
) -> None:
    needs("statsmodels")
    from statsmodels.stats.inter_rater import aggregate_raters, fleiss_kappa

    # Read from the file itself, by the rules of the protocol alone.
    rows = [
        value[-1]
        for clip in json.loads((shared / file).read_text("utf-8"))
        for key, value in clip.items()
        if isinstance(value, list) and isinstance(value[-1], list)
        if not (kind == "brace-main" and key.endswith("Machine_2"))
    ]
    kept = [one for one in rows if abs(sum(one)) >= least]
    theirs = [fleiss_kappa(aggregate_raters(np.array(one))[0]) for one in (rows, kept)]
    ours = agreement(read_pairs(kind, [shared / file]), KINDS[kind])
    assert [one.value for one in ours] == pytest.approx(theirs, abs=1e-9)
    assert tuple(round(one, 2) for one in theirs) == told


@pytest.mark.parametrize(
    ("kind", "file"),
    [
        ("brace-main", "brace/AudioCaps_Main.json"),
        ("brace-hallucination", "brace/AudioCaps_Hallu.json"),
        ("human", "fense/audiocaps_eval_pairs.json"),
    ],
)
@pytest.mark.parametrize("control", ["longer", "always-1", "random"])
def test_the_measures_are_as_scikit_learn_computes_them(
    shared: Path, kind: str, file: str, control: str
) -> None:
    needs("sklearn")
    from sklearn import metrics

    pairs = pair_set(kind, read_pairs(kind, [shared / file]))
    trial = try_scorer(create_scorer(f"control:{control}"), pairs)
    groups = {"all": (trial.whole, trial.pairs, trial.choices)}
    for name, own in trial.groups["type"].items():
        both = zip(trial.pairs, trial.choices, strict=True)
        mine = [(pair, choice) for pair, choice in both if pair.type == name]
        groups[name] = (own, tuple(one for one, _ in mine), tuple(two for _, two in mine))
    for own, some, choices in groups.values():
        wanted, said = [pair.answer for pair in some], [choice.value for choice in choices]
        values = {
            "accuracy": metrics.accuracy_score(wanted, said),
            "f1": metrics.f1_score(wanted, said, zero_division=0),
            "macro_f1": metrics.f1_score(wanted, said, average="macro", zero_division=0),
            "balanced_accuracy": metrics.balanced_accuracy_score(wanted, said),
        }
        for name, value in values.items():
            assert own[name].value == pytest.approx(100 * value, abs=1e-9), name


def test_the_published_measure_is_shown_without_the_pairs_whose_answer_was_set(
    main: PairSet,
) -> None:
    trial = try_scorer(create_scorer("control:longer"), main)
    assert trial.voted is not None
    own = [pair for pair in main.decided if pair.subtype not in ("HM_2", "MM_2")]
    alone = try_scorer(create_scorer("control:longer"), replace(main, pairs=tuple(own)))
    assert trial.voted == alone.whole
    assert alone.voted is None


def test_always_1_beats_the_best_published_audio_language_model(main: PairSet) -> None:
    trial = try_scorer(create_scorer("control:always-1"), main)
    values = {name: one.value for name, one in trial.whole.items()}
    assert round(values["f1"] or 0, 2) == 64.42
    assert round(values["accuracy"] or 0, 2) == 47.51
    assert values["balanced_accuracy"] == 50.0


def test_the_longer_caption_scores_as_published(main: PairSet) -> None:
    trial = try_scorer(create_scorer("control:longer"), main)
    assert round(trial.whole["accuracy"].value or 0, 2) == 62.45
    assert round(trial.whole["f1"].value or 0, 2) == 60.62
    assert round(trial.groups["type"]["HH"]["accuracy"].value or 0, 2) == 71.22
    assert trial.warning is not None


def test_a_model_of_words_alone_tells_hallucinations_better_than_any_published_clap(
    shared: Path,
) -> None:
    path = shared / "brace/AudioCaps_Hallu.json"
    pairs = pair_set("brace-hallucination", read_pairs("brace-hallucination", [path]))
    f1 = try_scorer(create_scorer("control:likelier"), pairs).whole["f1"].value
    assert f1 is not None
    assert 96 < f1 < 98


@pytest.mark.parametrize(
    ("metric", "published"),
    [
        ("bleu_coco_4", [54.7, 85.8, 78.7, 50.6, 61.6]),
        ("rouge_l_coco", [61.1, 91.5, 82.8, 52.1, 64.9]),
        ("cider_d", [56.2, 96.0, 90.4, 61.2, 71.0]),
    ],
)
def test_n_gram_metrics_agree_with_people_as_published(
    metric: str, published: list[float], human: PairSet
) -> None:
    scorer = create_scorer(f"metric:{metric}", TrialSettings(protocol="fense"))
    assert rounded(try_scorer(scorer, human)) == published
