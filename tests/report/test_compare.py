"""Comparisons of two runs: paired on common samples, corrected, and with the answers that moved."""

from dataclasses import replace

import numpy as np
import pytest

import mecat_runs
from audiocapbench.data import Sample
from audiocapbench.data.outcome import Status
from audiocapbench.errors import ReportError
from audiocapbench.report.compare.compute import compare_runs
from audiocapbench.report.compare.result import (
    ALL,
    LONGEST_IN_A_FILE,
    ComparisonResult,
    Difference,
    pair_verdict,
)
from audiocapbench.report.leaderboard.build import board_verdict, build_leaderboard
from audiocapbench.report.page.report_data import gather, stored_tables, summaries_of
from audiocapbench.report.runs import run_tables
from audiocapbench.scores.estimate import Scorer
from audiocapbench.stats import Interval
from audiocapbench.stats.multiple import Correction
from audiocapbench.store import Store
from cells import headings
from made_store import MadeRun, made_samples, put_run

SAMPLES = made_samples(80, categories=("sound", "music"))
IDS = [sample.id for sample in SAMPLES]
BASE = dict(zip(IDS, np.random.default_rng(1).uniform(0.1, 0.8, 80).tolist(), strict=True))


def better(by: float, seed: int = 2) -> dict[str, float]:
    noise = np.random.default_rng(seed).normal(by, 0.05, 80)
    return {key: value + more for (key, value), more in zip(BASE.items(), noise, strict=True)}


def of(found: ComparisonResult, scorer: str, category: str = ALL) -> Difference:
    (one,) = [
        one for one in found.differences if (one.scorer.label, one.category) == (scorer, category)
    ]
    return one


def test_a_small_difference_is_seen_because_samples_are_paired(store: Store) -> None:
    put_run(store, MadeRun("a", {"rouge_l": BASE}), SAMPLES)
    put_run(store, MadeRun("b", {"rouge_l": better(0.03)}), SAMPLES)
    one = of(compare_runs(store, 1, 2), "rouge_l")
    assert one.n == 80
    assert one.ci is not None
    assert one.difference is not None
    assert one.a is not None
    assert one.b is not None
    assert 0 < one.ci.low < one.difference < one.ci.high
    # Swaps alone say 0.0001: of 80 clips one in sixty may be a failure that nobody has seen.
    assert one.p == one.p_adjusted == pytest.approx((one.a / one.b) ** 80)
    assert one.effect == pytest.approx(one.difference / 0.05, rel=0.2)
    assert one.detectable == pytest.approx(one.b * 0.038 + 0.84 * 0.05 / np.sqrt(80), rel=0.05)
    assert one.sd == pytest.approx(0.05, rel=0.2)


def test_the_other_way_round_is_the_same_with_the_sign_changed(store: Store) -> None:
    put_run(store, MadeRun("a", {"rouge_l": BASE}), SAMPLES)
    put_run(store, MadeRun("b", {"rouge_l": better(0.005)}), SAMPLES)
    there, back = (of(compare_runs(store, *pair), "rouge_l") for pair in ((1, 2), (2, 1)))
    assert there.difference == pytest.approx(-(back.difference or 0))
    assert there.p == pytest.approx(back.p)
    assert there.effect == pytest.approx(-(back.effect or 0))


def test_only_common_samples_that_mean_the_same_count(store: Store) -> None:
    changed = list(SAMPLES)
    changed[3] = made_samples(5, categories=("speech",))[3]
    put_run(store, MadeRun("a", {"rouge_l": BASE}, only=IDS[:60]), SAMPLES)
    failed = {IDS[5]: Status.FAILED}
    given = {key: value for key, value in better(0.1).items() if key not in failed}
    put_run(store, MadeRun("b", {"rouge_l": given}, statuses=failed), changed)
    found = compare_runs(store, 1, 2)
    assert (found.common, *found.left_out.values()) == (
        59,
        0,
        20,
        1,
    )
    one = of(found, "rouge_l")
    assert (one.n, one.failed_a, one.failed_b, one.as_zero) == (59, 0, 1, True)
    said = " ".join(found.tables()[0].notes)
    assert "59 samples in common; 59 of them with rouge_l." in said
    assert "(0 in A and 1 in B by rouge_l): failures count as 0." in said
    assert "Left out: 20 were asked in B only, 1 are not the same in A and B." in said


def test_every_metric_judge_and_category_is_compared_and_corrected(store: Store) -> None:
    for model, by in (("a", 0.0), ("b", 0.1)):
        grades = {
            key: {"accuracy": 10 * value, "hallucination": 5.0}
            for key, value in better(by, 3).items()
        }
        run = MadeRun(model, {"rouge_l": better(by), "bleu_4": BASE}, {"gpt": grades})
        put_run(store, run, SAMPLES)
    found = compare_runs(store, 1, 2)
    labels = ["gpt: overall", "gpt: accuracy", "gpt: hallucination", "bleu_4", "rouge_l"]
    for part in (ALL, "sound", "music"):
        assert [one.scorer.label for one in found.differences if one.category == part] == labels
    assert of(found, "bleu_4").p == 1.0
    whole = [one for one in found.differences if one.category == ALL]
    for one in whole:
        assert one.p is not None
        assert one.p_adjusted is not None
        assert one.p_adjusted >= one.p
    assert of(found, "rouge_l").p_adjusted == pytest.approx(4e-4), "of four beside the headline"
    head = of(found, "gpt: overall")
    assert head.p_adjusted == head.p
    assert {name: str(one) for name, one in found.signatures.items()} == {
        "gpt: overall": "judge-gpt|protocol:1",
        "bleu_4": "bleu_4|protocol:1",
        "rouge_l": "rouge_l|protocol:1",
    }
    chosen = compare_runs(store, 1, 2, metrics=["rouge_l"])
    assert {one.scorer.label for one in chosen.differences} == {"rouge_l"}


def test_the_clips_that_moved_most_come_first_with_both_answers(store: Store) -> None:
    moved = dict(BASE) | {IDS[7]: 0.0, IDS[9]: 1.0}
    put_run(store, MadeRun("a", {"rouge_l": BASE}, texts={IDS[7]: "a dog barks"}), SAMPLES)
    put_run(store, MadeRun("b", {"rouge_l": moved}, texts={IDS[7]: "a cat"}), SAMPLES)
    found = compare_runs(store, 1, 2, clips=10)
    assert {one["id"] for one in found.moved} == {IDS[7], IDS[9]}, "the others did not move"
    sizes = [abs(one["difference"]) for one in found.moved]
    assert sizes == sorted(sizes, reverse=True)
    (one,) = [one for one in found.moved if one["id"] == IDS[7]]
    assert (one["a"]["text"], one["b"]["text"]) == ("a dog barks", "a cat")
    assert one["difference"] == pytest.approx(-BASE[IDS[7]])
    shown = found.tables()[-1]
    assert any("A: a dog barks" in row["answers"] for row in shown.rows)
    assert len(compare_runs(store, 1, 2, clips=1).moved) == 1


def test_a_corpus_score_is_compared_as_a_corpus_score(store: Store) -> None:
    generator = np.random.default_rng(4)
    parts = {key: generator.uniform(0.2, 0.9, (2, 2)).tolist() for key in IDS}
    for place, model in enumerate("ab"):
        given = {key: values[place] for key, values in parts.items()}
        put_run(store, MadeRun(model, {"date": given}), SAMPLES)
    one = of(compare_runs(store, 1, 2), "date")
    means = np.array(list(parts.values())).mean(axis=0)
    harmonic = 2 * means[:, 0] * means[:, 1] / means.sum(axis=1)
    assert (one.a, one.b) == pytest.approx(tuple(harmonic))


def test_so_few_samples_that_nothing_could_show_are_not_part_of_the_correction(
    store: Store,
) -> None:
    """Twelve questions about three clips of music: three swaps can show nothing."""
    sound = made_samples(18)
    samples = (
        *sound,
        *(replace(one, id=f"m{one.id}", category="music") for one in made_samples(12, questions=4)),
    )
    for model, value in (("a", 0.2), ("b", 0.4)):
        noise = np.random.default_rng(int(10 * value)).normal(0, 0.02, len(samples))
        given = {one.id: value + by for one, by in zip(samples, noise.tolist(), strict=True)}
        put_run(store, MadeRun(model, {"rouge_l": given, "bleu_4": given}), samples)
    found = compare_runs(store, 1, 2)
    assert of(found, "rouge_l", "music").p is None
    assert of(found, "rouge_l", "sound").p_adjusted == pytest.approx(2e-4)


def test_runs_that_cannot_be_compared_say_why(store: Store) -> None:
    put_run(store, MadeRun("a", {"rouge_l": BASE}, only=IDS[:40]), SAMPLES)
    put_run(store, MadeRun("b", {"rouge_l": BASE}), SAMPLES, "another")
    put_run(store, MadeRun("c", {"rouge_l": BASE}, only=IDS[40:]), SAMPLES)
    put_run(store, MadeRun("d"), SAMPLES)
    other = MadeRun("e", {"rouge_l": BASE}, signatures={"rouge_l": "rouge_l|tok:other"})
    put_run(store, other, SAMPLES)
    for second, reason in (
        (1, "compared with itself"),
        (2, "run 1 is of made and run 2 of another"),
        (3, "runs 1 and 3 have no sample in common"),
        (4, r"Run 4 \(d\) has no score of rouge_l"),
        (5, "rouge_l was made in two ways"),
    ):
        with pytest.raises(ReportError, match=reason):
            compare_runs(store, 1, second)


def test_records_and_document_hold_every_row(store: Store) -> None:
    put_run(store, MadeRun("a", {"rouge_l": BASE}), SAMPLES)
    put_run(store, MadeRun("b", {"rouge_l": better(0.1)}), SAMPLES)
    found = compare_runs(store, 1, 2, clips=2)
    rows = found.records()
    assert [row["category"] for row in rows] == [ALL, "sound", "music"]
    said = found.to_dict()
    assert said["differences"][0]["ci"] == [rows[0]["low"], rows[0]["high"]]
    assert (said["common"], said["only_a"], said["only_b"]) == (80, 0, 0)
    assert len(said["moved"]) == 2
    assert (said["verdict"], said["better"]) == (found.tables()[0].verdicts[0], "b")


def test_the_first_note_says_whether_the_difference_is_real(store: Store) -> None:
    put_run(store, MadeRun("a", {"rouge_l": BASE}), SAMPLES)
    for by in (0.1, -0.1, 0.0):
        put_run(store, MadeRun(f"b{by}", {"rouge_l": better(by)}), SAMPLES)
    up, down, same = (compare_runs(store, 1, second).tables()[0].verdicts for second in (2, 3, 4))
    assert up[0].startswith("b0.1 beats a by 0.1")
    assert up[0].endswith("in rouge_l on 80 samples.")
    assert down[0].startswith("a beats b-0.1 by 0.0")
    assert same[0].startswith("a and b0.0 cannot be told apart by rouge_l on 80 samples (")
    assert same[0].endswith("would have been seen (80%).")


def test_too_few_samples_for_a_test_are_said_and_no_test_is_spoken_of(store: Store) -> None:
    for model in "ab":
        put_run(store, MadeRun(model, {"rouge_l": BASE}, only=IDS[:6]), SAMPLES)
    found = compare_runs(store, 1, 2)
    few = "too few samples for a test, which takes 10."
    assert found.verdict.words == f"a and b were not tested by rouge_l on 6 samples: {few}"
    said = " ".join(note for page in found.tables() for note in page.notes)
    assert "permutation" not in said
    assert "0 tests" not in said


def test_runs_that_were_asked_in_other_words_are_not_compared(store: Store) -> None:
    other = tuple(replace(one, instruction="What is heard?") for one in SAMPLES)
    put_run(store, MadeRun("a", {"rouge_l": BASE}), SAMPLES)
    put_run(store, MadeRun("b", {"rouge_l": better(0.1)}), other[:70])
    with pytest.raises(ReportError, match="70 of their 70 common samples in different words"):
        compare_runs(store, 1, 2)


def test_scores_that_not_both_runs_have_a_total_of_are_left_out(store: Store) -> None:
    for model in "ab":
        mecat_runs.stored_run(store, asked=mecat_runs.few_items(24), model=model, metrics=("date",))
    found = compare_runs(store, 1, 2)
    labels = list(dict.fromkeys(one.scorer.label for one in found.differences))
    assert labels == ["date", "date_similarity", "date_discriminability"]
    # The same answers throughout: no difference was seen, and one of clips unseen is not ruled out.
    low, high = of(found, "date").ci or (0.0, 0.0)
    assert -0.05 < low < 0 < high < 0.05


def test_a_run_without_a_group_is_still_compared_on_the_others(store: Store) -> None:
    def silent(item: Sample) -> str | None:
        return None if item.category == "environment" else mecat_runs.right(item)

    asked = mecat_runs.few_items()
    mecat_runs.stored_run(store, asked=asked, model="a", metrics=("rouge_l",))
    mecat_runs.stored_run(store, silent, asked, model="b", metrics=("rouge_l",))
    found = compare_runs(store, 1, 2)
    whole, part = of(found, "rouge_l"), of(found, "rouge_l", "environment")
    assert (whole.as_zero, part.b) == (True, 0.0)
    assert whole.difference == pytest.approx(0.2 * (part.difference or 0.0))
    assert of(found, "rouge_l", "long").difference == pytest.approx(0.0)


def test_evidence_is_counted_in_clips_where_clips_have_several_samples(store: Store) -> None:
    samples = made_samples(80, questions=4)
    put_run(store, MadeRun("a", {"rouge_l": BASE}), samples)
    put_run(store, MadeRun("b", {"rouge_l": better(0.5)}), samples)
    found = compare_runs(store, 1, 2)
    assert of(found, "rouge_l").clips == 20
    assert found.verdict.words.endswith("in rouge_l on 20 clips.")
    assert found.records()[0]["unit"] == "clips"


def test_long_answers_are_cut_in_files(store: Store) -> None:
    texts = dict.fromkeys(IDS, "word " * 200)
    put_run(store, MadeRun("a", {"rouge_l": BASE}, texts=texts), SAMPLES)
    put_run(store, MadeRun("b", {"rouge_l": better(0.1)}, texts=texts), SAMPLES)
    shown = replace(compare_runs(store, 1, 2), longest=LONGEST_IN_A_FILE).tables()[-1]
    assert {len(row["answers"]) for row in shown.rows} == {len("A: ") + 200 + 1}
    assert all(row["answers"].endswith("…") for row in shown.rows)


def test_scores_of_a_plugin_that_is_gone_are_passed_over(store: Store) -> None:
    for model in "ab":
        run = MadeRun(model, {"rouge_l": BASE, "shared_words": BASE})
        put_run(store, run, SAMPLES)
    found = compare_runs(store, 1, 2)
    assert {one.scorer.label for one in found.differences} == {"rouge_l"}
    assert any("Scores of shared_words are left out" in note for note in found.notes)


def test_the_share_of_false_differences_can_be_kept_low_instead(store: Store) -> None:
    for model, by in (("a", 0.0), ("b", 0.01)):
        given = {name: better(by, seed) for seed, name in enumerate(("rouge_l", "bleu_4"), 5)}
        put_run(store, MadeRun(model, given), SAMPLES)
    strict, loose = (
        compare_runs(store, 1, 2, correction=how) for how in (Correction.HOLM, Correction.BH)
    )
    for one, other in zip(strict.differences, loose.differences, strict=True):
        assert (one.p_adjusted or 0) >= (other.p_adjusted or 0)
    assert "p (Benjamini)" in headings(loose.tables()[0])
    assert loose.to_dict()["correction"] == "bh"


def test_what_was_never_asked_or_judged_is_left_out_of_both(store: Store) -> None:
    """A stop leaves samples unasked, in whatever order: the rest is compared, none as 0."""
    put_run(store, MadeRun("a", {"rouge_l": BASE}), SAMPLES)
    part = {key: BASE[key] + 0.1 for key in IDS[:30]}
    put_run(store, MadeRun("b", {"rouge_l": part}), SAMPLES)
    one = of(compare_runs(store, 1, 2), "rouge_l")
    assert (one.n, one.as_zero, one.failed_b) == (30, False, 0)
    assert one.difference == pytest.approx(0.1)


def test_who_fails_hard_clips_does_not_win_by_it(store: Store) -> None:
    """The same answers, but for the worst forty, which b refuses: a is better."""
    put_run(store, MadeRun("a", {"rouge_l": BASE}), SAMPLES)
    refused = dict.fromkeys(sorted(IDS, key=BASE.__getitem__)[:40], Status.REFUSED)
    given = {key: value for key, value in BASE.items() if key not in refused}
    put_run(store, MadeRun("b", {"rouge_l": given}, statuses=refused), SAMPLES)
    found = compare_runs(store, 1, 2)
    assert found.verdict.best == 0
    lost = sum(BASE[key] for key in refused) / 80
    assert of(found, "rouge_l").difference == pytest.approx(-lost)
    assert found.moved[0]["b"]["score"] == 0.0


def test_power_is_that_of_the_corrected_test(store: Store) -> None:
    """What "would have been seen" is seen in four of five cases however many rows there are."""
    for model, by in (("a", 0.0), ("b", 0.01)):
        given = {"rouge_l": better(by), "bleu_4": better(by, 5), "meteor": better(by, 6)}
        put_run(store, MadeRun(model, given), SAMPLES)
    alone = of(compare_runs(store, 1, 2, metrics=["rouge_l"]), "rouge_l").detectable
    among = of(compare_runs(store, 1, 2), "rouge_l").detectable
    assert alone is not None
    assert among is not None
    assert 1.1 * alone < among < 1.4 * alone


def test_one_run_is_compared_with_many_in_one_correction(store: Store) -> None:
    put_run(store, MadeRun("a", {"rouge_l": BASE}), SAMPLES)
    for by in (0.1, 0.0, 0.012):
        put_run(store, MadeRun(f"b{by}", {"rouge_l": better(by, 7)}), SAMPLES)
    found = compare_runs(store, 1, 2, 3, 4)
    rows = [of(one, "rouge_l") for one in found.every]
    own = [of(compare_runs(store, 1, number), "rouge_l") for number in (2, 3, 4)]
    assert [one.p for one in rows] == [one.p for one in own]
    assert rows[0].p_adjusted == pytest.approx(3 * (own[0].p or 0))
    (table,) = found.tables()
    assert [row["run"] for row in table.rows] == [2, 3, 4]
    assert table.verdicts[0].startswith("b0.1 beats a")
    assert [one["b"]["run"] for one in found.to_dict()["others"]] == [3, 4]
    assert {row["run_b"] for row in found.records()} == {2, 3, 4}
    with pytest.raises(ReportError, match="run 2 is compared with itself"):
        compare_runs(store, 1, 2, 2)


def test_a_paragraph_for_a_paper_has_all_that_a_reader_asks_for(store: Store) -> None:
    put_run(store, MadeRun("a", {"rouge_l": BASE}), SAMPLES)
    put_run(store, MadeRun("b", {"rouge_l": better(0.1)}), SAMPLES)
    said = compare_runs(store, 1, 2).paper()
    for words in (
        "On made, b beats a by 0.1",
        "a and b have, with B less A: rouge_l 0.",
        "paired permutation tests (9,999 rounds",
        "corrected by Holm: the first score over the compared runs",
        "Signatures: rouge_l|protocol:1.",
    ):
        assert words in said


def test_a_verdict_does_not_show_an_interval_that_speaks_against_it() -> None:
    """Corrected for other rows, a test may leave open what an interval of one alone does not."""
    for low, shown in ((-0.01, ", -0.010 to +0.070"), (0.01, "")):
        row = Difference(Scorer("rouge_l"), "all", 80, 0.4, 0.43, 0.03, Interval(low, 0.07))
        row.p_adjusted, row.detectable = 0.08, 0.05
        said = pair_verdict("AB", row, "one test")
        assert f"on 80 samples (+0.030{shown}, p = 0.080, one test)" in said.words
        assert said.best is None


def test_a_board_leads_only_those_that_it_beats() -> None:
    names = ("A", "B", "C", "D", "E")
    said = {
        "A beats the other 4 in rouge_l on 9 clips (Holm).": [(0, 1), (0, 2), (0, 3), (0, 4)],
        "A leads in rouge_l on 9 clips; B and C may be as good (Holm).": [(0, 3), (0, 4)],
        "A has the highest rouge_l on 9 clips; B, C and 2 more may be as good (Holm).": [(1, 4)],
        "The 5 models cannot be told apart by rouge_l on 9 clips (Holm).": [],
    }
    for words, better in said.items():
        assert board_verdict("rouge_l", "9 clips", names, better, "Holm") == words


def test_the_verdict_does_not_hang_on_what_else_was_scored(store: Store) -> None:
    for model, by in (("a", 0.0), ("b", 0.03)):
        more = {name: better(0.0, seed) for seed, name in enumerate(("bleu_1", "bleu_2", "meteor"))}
        put_run(store, MadeRun(model, {"rouge_l": better(by), **more}), SAMPLES)
    alone = compare_runs(store, 1, 2, metrics=["rouge_l"]).verdict
    among = compare_runs(store, 1, 2, metrics=["rouge_l", "bleu_1", "bleu_2", "meteor"]).verdict
    assert alone == among


def test_the_other_order_has_the_mirrored_interval(store: Store) -> None:
    for model, by in (("a", 0.0), ("b", 0.03)):
        grades = {key: {"accuracy": round(10 * value)} for key, value in better(by, 9).items()}
        put_run(store, MadeRun(model, {"rouge_l": better(by)}, {"gpt": grades}), SAMPLES)
    there, back = compare_runs(store, 1, 2), compare_runs(store, 2, 1)
    for one, other in zip(there.differences, back.differences, strict=True):
        assert one.ci is not None
        assert other.ci is not None
        assert tuple(one.ci) == pytest.approx((-other.ci.high, -other.ci.low))
        assert one.p == pytest.approx(other.p)


def test_empty_answers_are_told(store: Store) -> None:
    blank = dict.fromkeys(IDS[:3], Status.EMPTY)
    put_run(store, MadeRun("a", {"rouge_l": BASE}), SAMPLES)
    given = BASE | dict.fromkeys(IDS[:3], 0.0)
    put_run(store, MadeRun("b", {"rouge_l": given}, statuses=blank), SAMPLES)
    notes = compare_runs(store, 1, 2).tables()[0].notes
    assert "Run 2: 3 empty answers, scored as such." in notes
    (board,) = build_leaderboard(store).boards
    assert "b: 3 empty answers, scored as such." in board.notes


def test_boards_comparisons_and_runs_rank_by_the_same_score(store: Store) -> None:
    worse = {key: value / 2 for key, value in BASE.items()}
    for model, scores in (("a", BASE), ("b", worse)):
        metrics = {"rouge_l": scores, "bleu_1": scores, "meteor": scores}
        put_run(store, MadeRun(model, {"rouge_l": scores, "bleu_1": scores}), SAMPLES)
        put_run(store, MadeRun(f"{model}2", metrics | {"preference": scores}), SAMPLES)
    for models, wanted in (((1, 3), "bleu_1"), ((2, 4), "preference")):
        (board,) = build_leaderboard(store, runs=models).boards
        assert board.scorer.label == compare_runs(store, *models).headline.label == wanted
        read = stored_tables(store, models)
        assert gather(read).headline.label == wanted
        summaries = summaries_of(read)
        tables = run_tables(summaries, summaries[0].metrics, "meteor")
        assert [one["scored"] for one in tables[0].rows] == ["80/80"] * 2
        assert tables[1].title.startswith(wanted)
