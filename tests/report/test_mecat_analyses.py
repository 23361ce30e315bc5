"""The paper's analyses on runs in a store and on files of scores."""

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from audiocapbench.benchmarks.mecat.groups import GROUPS, QA_CATEGORIES, score_cap
from audiocapbench.data import Sample
from audiocapbench.errors import ReportError, StoreError
from audiocapbench.report.mecat.answers import (
    AnswerSet,
    GroupScore,
    ScoredAnswers,
    answers_of_run,
    read_scored,
    stability_report,
)
from audiocapbench.report.mecat.published import published, published_sizes
from audiocapbench.report.mecat.rankings import (
    PUBLISHED,
    drop_report,
    places,
    split_report,
    standings_report,
    weight_report,
)
from audiocapbench.report.mecat.silence import silence_report
from audiocapbench.signature import UNSIGNED, Signature, sign
from audiocapbench.stats.shares import clopper_pearson
from audiocapbench.store import Store
from audiocapbench.table.forms import markdown_text
from cells import cells
from made_store import stored_scores
from mecat_runs import items, questions, right, sentence, stored_run


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """Run 1 answers right, 2 answers questions, 3 hallucinates, 4 is incomplete, 5 is no MECAT."""
    kept = Store.open(str(tmp_path_factory.mktemp("store") / "runs.db"))
    metrics = ["date", "date[variant=published]", "similarity"]
    stored_run(kept, asked=items(10), model="made/right", metrics=metrics)
    stored_run(kept, asked=questions(1), benchmark="mecat-qa", model="made/answers")
    silent = [one for one in items() if one.details["domain"] == "000"]
    stored_run(kept, hallucinate, silent, model="made/dreams")
    half = [one for one in items(2) if one.details["subtask"] != "environment"]
    stored_run(kept, lambda one: None if "S00" in one.id else right(one), half, model="made/half")
    stored_run(
        kept, asked=items(1)[:2], benchmark="folder/x", model="made/else", metrics=["bleu_1"]
    )
    return kept


def hallucinate(item: Sample) -> str:
    if item.details["domain"] == "000" and item.details["subtask"] == "speech":
        number = int(item.details["clip"][-1])
        return ["A man says hello.", "No speech.", "A dog barks."][number % 3]
    return sentence("dream", item.id)


@pytest.fixture(scope="module")
def own(store: Store) -> ScoredAnswers:
    """The scores of run 1."""
    return read_scored(1, store)


@pytest.fixture(scope="module")
def given_right(store: Store) -> AnswerSet:
    """The answers of run 1."""
    return answers_of_run(1, store)


PAPERS = sign(
    "date", variant="published", encoder="tinybert@0", fluency=published().source["detector"]
)


def grown(one: ScoredAnswers, share: float = 1.0, made: Signature = PAPERS) -> ScoredAnswers:
    """The same scores as if the whole published test set had been asked in the paper's way, and a
    share answered."""
    sizes = published_sizes(GROUPS, {})
    groups = {
        group: replace(score, n=round(share * sizes[group]), asked=sizes[group])
        for group, score in one.groups.items()
        if group in sizes
    }
    return replace(one, groups=groups, signature=made)


def test_group_scores_are_those_that_were_stored(store: Store, own: ScoredAnswers) -> None:
    values = [
        one.value
        for one in stored_scores(store, 1)["date"]
        if one.sample_id.endswith("/speech") and one.sample_id.startswith("S00")
    ]
    group = own.groups["pure_speech"]
    assert group.n == 10
    assert group.date == pytest.approx(np.mean(values))
    assert group.similarity is not None
    assert group.discriminability is not None
    assert (own.groups["mixed_sound"].n, own.without_null["mixed_sound"].n) == (70, 30)


def test_the_published_variant_is_the_harmonic_mean_of_means(store: Store) -> None:
    group = read_scored(1, store, "date[variant=published]").groups["long"]
    parts = [group.similarity or 0.0, group.discriminability or 0.0]
    assert group.date == pytest.approx(2 * parts[0] * parts[1] / sum(parts))


def test_what_was_not_scored_or_not_run_is_said(store: Store) -> None:
    with pytest.raises(ReportError, match=r"run 2 has no date\[encoder=minilm\]; it has date\."):
        read_scored(2, store, "date[encoder=minilm]")
    with pytest.raises(ReportError, match="run 5 is of folder/x"):
        read_scored(5, store)
    with pytest.raises(StoreError, match="no run 77"):
        read_scored(77, store)
    with pytest.raises(ReportError, match="bleu_1 is not DATE"):
        read_scored(1, store, "bleu_1")


def test_a_users_model_stands_in_its_place_among_the_published(own: ScoredAnswers) -> None:
    standings = standings_report([grown(own)]).to_dict()["standings"]
    assert len(standings) == 18
    totals = [one["figures"]["score"] or 0 for one in standings]
    assert totals == sorted(totals, reverse=True)
    (mine,) = [one for one in standings if one["origin"] != PUBLISHED]
    assert (mine["model"], mine["origin"]) == ("made/right", "run 1")
    total = mine["figures"]["score"]
    assert mine["rank"] == 1 + sum(other > total for other in totals)
    assert total == pytest.approx(
        score_cap({group: 100 * one.date for group, one in own.groups.items()})
    )


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"encoder": "wordllama@461d9f72"}, "its encoder is wordllama"),
        ({"encoder": "my-tinybert-tuned@1"}, "its encoder is my-tinybert-tuned"),
        ({"encoder": "by-group"}, "its encoder is by-group"),
        ({"variant": "code"}, "its variant of DATE is code, not published"),
        ({"length": "references"}, "its variant of DATE is published with length=references"),
        ({"fluency": False}, "no fluency checker"),
        ({"fluency": "echecker_clotho_audiocaps_base@00000000-words"}, "its fluency checker is"),
        ({"fluency": "hashed@9b5e3ebb"}, "its fluency checker is hashed"),
    ],
)
def test_without_the_published_recipe_there_is_no_rank_in_any_format(
    own: ScoredAnswers, fields: dict[str, Any], why: str
) -> None:
    other = grown(own, made=PAPERS.with_fields(**fields))
    found = standings_report([other, replace(grown(own), name="as published")])
    for rows in (found.to_dict()["standings"], found.records()):
        row = next(one for one in rows if one["model"] == "made/right")
        assert (row["rank"], row["comparable"]) == (None, False)
        assert row["note"].startswith(f"Not comparable: {why}")
        ranks = [one["rank"] for one in rows if one["rank"] is not None]
        assert ranks == sorted(ranks)
        assert len(ranks) == 18, "who is not comparable takes nobody's place"
    assert "not comparable" in markdown_text(found.tables())
    assert f"made/right (run 1): Not comparable: {why}" in markdown_text(found.tables())
    few = replace(own, signature=other.signature)
    for report in (weight_report([other]), split_report([other]), drop_report([few])):
        own_rows = [one for one in report.records() if one["model"] == "made/right"]
        assert all("Not comparable" in one["note"] for one in own_rows)
        assert own_rows
    (model,) = [one for one in weight_report([other]).to_dict()["models"] if not one["comparable"]]
    assert set(model["ranks"].values()) == {None}


def test_scores_without_a_signature_and_a_part_of_the_clips_have_no_rank(
    own: ScoredAnswers,
) -> None:
    unsigned = grown(own, made=UNSIGNED)
    (row,) = [one for one in standings_report([unsigned]).records() if not one["comparable"]]
    assert "its encoder is not known" in row["note"]
    less = dict(grown(own).groups)
    less["short"] = replace(less["short"], n=20_051, asked=20_051)
    report = standings_report([replace(grown(own), groups=less)])
    (row,) = [one for one in report.records() if not one["comparable"]]
    assert (row["rank"], "97,214 of 97,215 samples were asked" in row["note"]) == (None, True)


def test_models_alone_are_ranked_where_they_were_scored_in_one_way(own: ScoredAnswers) -> None:
    other = replace(own, name="other")
    alike = standings_report([own, other], published=False).to_dict()["standings"]
    assert [one["rank"] for one in alike] == [1, 1]
    mixed = [own, replace(other, signature=PAPERS)]
    for one in standings_report(mixed, published=False).to_dict()["standings"]:
        assert (one["rank"], "scored in different ways" in one["note"]) == (None, True)


def test_models_are_ranked_by_plain_similarity_among_table_k1(store: Store) -> None:
    own = read_scored(1, store, "similarity", "similarity")
    values = [
        one.value for one in stored_scores(store, 1)["similarity"] if one.sample_id.endswith("long")
    ]
    assert own.groups["long"].date == pytest.approx(np.mean(values))
    report = standings_report([own], by="similarity").to_dict()
    figures = {one["model"]: one["figures"] for one in report["standings"]}
    assert len(figures) == 18
    assert figures["made/right"]["long"] == pytest.approx(100 * np.mean(values))
    assert figures["EnClap"]["long"] == 40.5
    assert not any("variant" in note for note in report["notes"]), "similarity has none"
    with pytest.raises(ReportError, match="is not similarity"):
        read_scored(1, store, "date[encoder=minilm]", "similarity")


def test_a_handful_of_clips_is_not_ranked_among_the_published(
    own: ScoredAnswers, store: Store
) -> None:
    for scored, asked in ((own, 97_215), (read_scored(2, store), 100_260)):
        report = standings_report([scored])
        last = report.to_dict()["standings"][-1]
        assert (last["model"], last["rank"], last["asked"]) == (scored.name, None, asked)
        assert last["figures"]["score"] > 54, "better than every published one"
        assert last["n"] == sum(
            one.n for group, one in scored.groups.items() if "outs" not in group
        )
        assert f"Not ranked: {last['n']:,} of {asked:,} samples have a score" in last["note"]
        page = report.tables()[0]
        assert cells(page)[-1][0] == "not comparable"
        assert cells(page)[-1][-1] == f"{last['n']:,}/{asked:,}"
        assert {"n", "asked", "coverage", "as_zero"} <= set(report.records()[-1])


def test_what_is_left_out_counts_as_zero_in_standings_and_weights(own: ScoredAnswers) -> None:
    part = replace(grown(own, 0.6), name="made/part")
    standings = standings_report([grown(own), part]).to_dict()["standings"]
    places = {one["model"]: one for one in standings}
    whole, less = places["made/right"], places["made/part"]
    assert less["figures"] == whole["figures"]
    assert less["as_zero"] == pytest.approx(0.6 * whole["as_zero"], rel=1e-3)
    assert less["rank"] > whole["rank"]
    assert less["coverage"] == pytest.approx(0.6, abs=1e-3)
    models = {one["model"]: one for one in weight_report([grown(own), part]).to_dict()["models"]}
    for name, rank in models["made/part"]["ranks"].items():
        assert rank > models["made/right"]["ranks"][name]


def test_among_themselves_models_rank_by_the_largest_set_that_was_asked(
    own: ScoredAnswers,
) -> None:
    few = replace(own, name="made/few")
    groups = {group: replace(one, n=2, asked=2, date=1.0) for group, one in few.groups.items()}
    report = standings_report([own, replace(few, groups=groups)], published=False).to_dict()
    assert [(one["model"], one["rank"]) for one in report["standings"]] == [
        ("made/right", 1),
        ("made/few", None),
    ]


def test_leaving_out_answers_never_raises_a_rank(own: ScoredAnswers) -> None:
    """250 draws of answers that are left out, all groups or some, the worst or any."""
    draw = np.random.default_rng(15)
    answers = {
        group: draw.beta(1, 1 + draw.integers(4), size) * draw.integers(0, 2, size)
        for group, size in published_sizes(GROUPS, {}).items()
    }
    rising = {group: np.sort(scores) for group, scores in answers.items()}

    def total(left_out: float, chosen: set[str], worst: bool, unasked: bool) -> dict[str, Any]:
        groups = {}
        for group, order in (rising if worst else answers).items():
            kept = order[int(left_out * len(order)) :] if group in chosen else order
            asked = len(kept) if unasked else len(order)
            date, table = float(kept.mean()), kept[:, np.newaxis]
            groups[group] = GroupScore(len(kept), asked, date, date, date, table)
        found = standings_report([replace(own, groups=groups, signature=PAPERS)]).to_dict()[
            "standings"
        ]
        return next(one for one in found if one["origin"] != PUBLISHED)

    whole = total(0.0, set(), worst=False, unasked=False)
    assert whole["rank"] is not None
    for _ in range(250):
        chosen = {group for group in GROUPS if draw.random() < 0.6}
        share, worst, unasked = 0.9 * draw.random(), draw.random() < 0.7, draw.random() < 0.3
        part = total(share, chosen, bool(worst), bool(unasked))
        assert part["as_zero"] <= whole["as_zero"] + 1e-9
        assert part["rank"] is None or part["rank"] >= whole["rank"]


def test_answers_to_questions_stand_among_the_15(store: Store, own: ScoredAnswers) -> None:
    standings = standings_report([read_scored(2, store)]).to_dict()["standings"]
    assert len(standings) == 16
    assert set(QA_CATEGORIES) < set(standings[0]["figures"])
    with pytest.raises(ReportError, match="cannot be shown in one table"):
        standings_report([own, read_scored(2, store)])


def test_a_model_without_a_group_has_no_total_and_comes_last(store: Store) -> None:
    last = standings_report([read_scored(4, store)]).to_dict()["standings"][-1]
    assert last["figures"]["score"] is None
    assert "no scores of pure_speech" in last["note"]


def test_equals_share_the_better_place() -> None:
    assert places([3.0, None, 5.0, 3.0]) == [2, None, 1, 2]


def test_weightings_of_the_published_models_are_those_of_the_paper() -> None:
    report = weight_report([]).to_dict()
    taus = report["kendall_tau"]
    assert [one["models"] for one in taus] == [17] * 3 + [15] * 6
    assert [round(one["tau"], 3) for one in taus[:3]] == [0.897, 0.912, 0.956]
    first = report["models"][0]
    assert (first["model"], first["ranks"]) == (
        "Gemini-3-Pro",
        {"original": 1, "audio-centric": 2, "equal": 2},
    )


def test_weightings_take_the_users_model_in(own: ScoredAnswers, store: Store) -> None:
    report = weight_report([grown(own), read_scored(4, store)]).to_dict()
    ranked = [one["models"] for one in report["kendall_tau"]]
    assert ranked == [18] * 3 + [16] * 3 + [15] * 3, "one without a total has no rank"
    assert any("encoder is caption2vec" in note for note in report["notes"])
    assert "made/half (run 4): No total" in " ".join(report["notes"])
    alone = weight_report([own], published=False).to_dict()
    assert [one["tau"] for one in alone["kendall_tau"]] == [None, None, None]
    assert not any("paper" in note for note in alone["notes"])
    with pytest.raises(ReportError, match="Score_QA counts its categories alike"):
        weight_report([read_scored(2, store)])
    with pytest.raises(ReportError, match="no model to show"):
        weight_report([], published=False)


def test_a_split_shows_the_two_sides_with_the_published_beside(own: ScoredAnswers) -> None:
    report = split_report([own]).to_dict()
    assert len(report["models"]) == 18
    (mine,) = [one for one in report["models"] if one["origin"] != PUBLISHED]
    assert mine["similarity"] == pytest.approx(100 * (own.groups["pure_speech"].similarity or 0))
    assert any("only 46.7 fits" in note for note in report["notes"])
    (alone,) = split_report([own], "environment").to_dict()["models"]
    assert alone["origin"] == "run 1", "of other groups no discriminability is printed"
    without = replace(own, groups={"short": own.groups["short"]})
    (nothing,) = split_report([without], "long", published=False).to_dict()["models"]
    assert (nothing["date"], nothing["n"], nothing["asked"], nothing["coverage"]) == (None, 0, 0, 0)
    with pytest.raises(ReportError, match="no group 'loud'"):
        split_report([own], "loud")


def test_a_split_of_questions_has_no_published_figures(store: Store) -> None:
    report = split_report([read_scored(2, store)], "direct_perception").to_dict()
    assert [one["model"] for one in report["models"]] == ["made/answers"]


def test_a_drop_is_pure_less_mixed_and_shows_what_is_left_without_null(own: ScoredAnswers) -> None:
    drops = drop_report([own]).to_dict()["drops"]
    assert len(drops) == 3 * 18
    (mine,) = [one for one in drops if (one["model"], one["content"]) == ("made/right", "sound")]
    pure, mixed = own.groups["pure_sound"].date, own.groups["mixed_sound"].date
    assert mine["drop"] == pytest.approx(100 * (pure - mixed))
    low, high = mine["interval"]
    assert low <= mine["drop"] <= high
    assert mine["without_null"] == pytest.approx(100 * own.without_null["mixed_sound"].date)
    pengi = next(one for one in drops if one["model"] == "Pengi")
    assert pengi["drop"] == pytest.approx(27.2 - 29.5)


def test_a_drop_without_a_group_is_said(store: Store) -> None:
    report = drop_report([read_scored(4, store)], published=False).to_dict()
    assert {one["content"] for one in report["drops"]} == {"music", "sound"}
    assert "made/half (run 4) has no pure or no mixed speech." in report["notes"]


def test_the_silence_probe_counts_and_lists_the_offending_answers(
    store: Store, given_right: AnswerSet
) -> None:
    report = silence_report(answers_of_run(3, store)).to_dict()
    share = report["subtasks"]["speech"]
    assert share["claimed"] == {"speech": 2, "music": 0, "sound": 2, "any": 4}
    assert share["answers"] == 6
    listed = [one for one in report["offending"] if one["subtask"] == "speech"]
    assert {one["text"] for one in listed} == {"A man says hello.", "A dog barks."}
    assert all(one["id"].startswith("000_") for one in report["offending"])
    calm = silence_report(given_right).to_dict()
    assert calm["subtasks"]["speech"]["claimed"]["any"] == 0


def given(*texts: str) -> AnswerSet:
    """Answers about the speech of silent clips."""
    details = {"subtask": "speech", "domain": "000"}
    answers = {f"{place}/speech": text for place, text in enumerate(texts)}
    samples = tuple(
        replace(items()[0], id=one, category="outside_speech", details=details) for one in answers
    )
    asked = {"outside_speech": len(answers)}
    return AnswerSet("made", "file", "mecat-caption", samples, answers, asked)


def test_answers_that_cannot_be_read_are_counted_apart_and_shown() -> None:
    report = silence_report(given("A man talks.", "一个男人在说话。", "Silence.", ""))
    (share,) = report.to_dict()["subtasks"].values()
    assert (share["answers"], share["unread"], share["claimed"]["any"]) == (4, 1, 1)
    assert share["share"] == pytest.approx(1 / 3)
    assert report.to_dict()["unread"] == [
        {"id": "1/speech", "subtask": "speech", "text": "一个男人在说话。"}
    ]
    assert [one["claims"] for one in report.records()] == ["speech", "unread"]
    *_, unread = report.tables()
    assert cells(unread) == [("1/speech", "speech", "一个男人在说话。")]
    assert "1 of 4 answers have too few Latin letters" in report.to_dict()["notes"][-1]


def test_a_share_of_nothing_that_was_read_is_no_number() -> None:
    report = silence_report(given("沉默", "音乐"))
    assert report.to_dict()["subtasks"]["speech"] == {
        "answers": 2,
        "unread": 2,
        "claimed": {"speech": 0, "music": 0, "sound": 0, "any": 0},
        "share": None,
        "ci": None,
    }
    assert cells(report.tables()[0])[0][-2:] == ("–", "")


def test_a_model_without_silent_clips_cannot_be_probed(store: Store) -> None:
    kept = stored_run(store, asked=[one for one in items(2) if one.id.startswith("S00")])
    with pytest.raises(ReportError, match="no answers about silent clips"):
        silence_report(answers_of_run(kept.id, store))


def test_an_interval_of_a_share_stays_within_bounds() -> None:
    assert tuple(clopper_pearson(0, 10)) == pytest.approx((0.0, 0.3085), abs=1e-4)
    assert 0.69 < clopper_pearson(10, 10).low < clopper_pearson(10, 10).high <= 1.0


def test_stability_spreads_shrink_with_size_and_start_from_the_stored_score(
    given_right: AnswerSet, own: ScoredAnswers
) -> None:
    given = given_right
    report = stability_report(given, groups=["long", "mixed_music"], percents=[10, 100], rounds=20)
    groups = report.to_dict()["groups"]
    assert list(groups) == ["long", "mixed_music"]
    assert groups["long"]["date"] == pytest.approx(100 * own.groups["long"].date)
    small, whole = groups["long"]["sizes"]
    assert (small["size"], whole["size"]) == (11, 110)
    assert whole["deviation"] < small["deviation"]
    assert small["lowest"] <= small["low"] < small["mean"] < small["high"] <= small["highest"]
    away = max(small["mean"] - small["lowest"], small["highest"] - small["mean"])
    assert small["largest_deviation"] == pytest.approx(away)
    assert groups["long"]["published"]["size"] == 20_052
    assert "table F.5): mean 64.86 (64.7–65.0), CV 0.14 %" in " ".join(report.tables()[0].notes)
    assert (small["published_cv"], whole["published_cv"]) == (0.54, 0.14)
    fewer = replace(given, samples=given.samples[6:])
    left_out = stability_report(fewer, groups=["long"], percents=[10], rounds=2).to_dict()["notes"]
    assert "1 samples without an answer are left out." in left_out, "of the group that is shown"
    again = stability_report(given, groups=["long"], percents=[10, 100], rounds=20)
    assert again.to_dict()["groups"]["long"]["sizes"][0] == small


def test_stability_of_questions_and_wrong_sizes(store: Store, given_right: AnswerSet) -> None:
    report = stability_report(answers_of_run(2, store), rounds=2, percents=[5])
    assert list(report.to_dict()["groups"]) == list(QA_CATEGORIES)
    wrongs: list[dict[str, Any]] = [{"rounds": 1}, *({"percents": one} for one in ([], [0], [101]))]
    for wrong in wrongs:
        with pytest.raises(ReportError, match="two rounds at least"):
            stability_report(given_right, **wrong)
    with pytest.raises(ReportError, match="there is no group"):
        stability_report(given_right, groups=["direct_perception"])
    with pytest.raises(ReportError, match="only date"):
        stability_report(given_right, metric="bleu_1")


def test_every_report_can_be_written_in_every_way(
    own: ScoredAnswers, given_right: AnswerSet, store: Store
) -> None:
    reports: list[Any] = [
        weight_report([own]),
        split_report([own]),
        drop_report([own]),
        silence_report(answers_of_run(3, store)),
        stability_report(given_right, groups=["short"], rounds=2),
    ]
    for report in reports:
        json.dumps(report.to_dict(), allow_nan=False)
        assert report.records()
        for page in report.tables():
            assert len(cells(page)) == len(page.rows)
