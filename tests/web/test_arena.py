"""An arena: blind pairs where a vote tells most, which survive whatever happens meanwhile."""

import concurrent.futures
import os
import random
import signal
from collections import Counter
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from needs import needs

needs("uvicorn")

from audiocapbench.errors import AudioCapBenchError
from audiocapbench.library.comparing import leaderboard
from audiocapbench.meta.votes import project_pairs
from audiocapbench.report.beside_people import beside_people
from audiocapbench.report.ratings import agreement_report, win_report
from audiocapbench.stats.votes import Vote, strengths, telling
from audiocapbench.store import Store
from audiocapbench.web.rating.arena import ArenaDesk
from audiocapbench.web.rating.items import export_ratings
from audiocapbench.web.rating.project import read_arena, read_project
from audiocapbench.web.rating.routes import RatingDesk
from made_store import MadeRun, put_run
from rating_project import (
    MODELS,
    SAMPLES,
    Rater,
    add_model,
    said,
    serving,
    start,
    stop,
    write_arena,
    write_project,
)


def kept(place: Path) -> list[tuple[str, str]]:
    with Store.open(str(place / "audiocapbench.db"), create=False) as store:
        return [(one.person, one.item) for one in store.ratings.of("trial")]


def vote(rater: Rater, best: str = MODELS[0]) -> str | None:
    """Prefer a model where it is shown, else nothing; the pair's models, None where all is done."""
    found = rater.next()
    if found["state"] != "item":
        return None
    texts = found["item"]["captions"]
    choice: int | str = "tie"
    for place, text in enumerate(texts, 1):
        choice = place if text.startswith(said(best)) else choice
    assert rater.ask(f"audio/{found['item']['token']}").status == 200
    reply = rater.save(found["item"], {"choice": choice})
    assert reply.status == 200, reply.body
    return " ".join(sorted(text.split()[0] for text in texts))


def test_every_pair_is_asked_once_evenly_and_blind(tmp_path: Path) -> None:
    with serving(write_arena(tmp_path), arena=True) as server:
        raters = [Rater(server, "ana"), Rater(server, "ben")]
        asked = [pair for _ in range(9) for one in raters if (pair := vote(one))]
        assert [one.next()["state"] for one in raters] == ["done", "done"]
        seen = b"".join(part for one in raters for part in one.everything)
    for secret in (*MODELS, ".wav", "s0001/", "rouge"):
        assert secret.encode() not in seen, f"{secret} reached the page"
    assert Counter(asked) == dict.fromkeys(set(asked), 6)
    assert set(Counter(asked[:3]).values()) == {1}, "of three models, each pair comes first"
    assert len(set(kept(tmp_path))) == 18
    clips = Counter(item.partition("/")[2] for _, item in kept(tmp_path))
    assert set(clips.values()) == {3}


def test_the_choice_follows_from_votes_and_not_from_when_the_server_began(tmp_path: Path) -> None:
    path = write_arena(tmp_path)
    with serving(path, arena=True) as server:
        ana = Rater(server, "ana")
        for _ in range(4):
            vote(ana)
        before = ana.next()["item"]
    tokens = server.tokens
    with Store.open(str(tmp_path / "audiocapbench.db")) as store:
        desk = ArenaDesk(read_arena(path), store)
        assert desk.next("ana")["item"] == before
        assert desk.invited == {}
        assert tokens.keys() == {"", "ana", "ben"}
        other = desk.next("ben")["item"]
        assert other["token"] != before["token"]
        assert desk.next("ben")["item"] == other


def test_votes_are_read_wherever_ratings_are(tmp_path: Path) -> None:
    with serving(write_arena(tmp_path), arena=True) as server:
        raters = [Rater(server, "ana"), Rater(server, "ben")]
        for one in raters * 9:
            vote(one)
    with Store.open(str(tmp_path / "audiocapbench.db")) as store:
        wins = win_report(project_pairs(store, "trial")).to_dict()
        assert wins["strengths"][0]["model"] == MODELS[0]
        (board,) = leaderboard(store=store, votes=["trial"]).to_dict()["boards"]
        assert board["votes"]["votes"] == 18
        assert board["runs"][0]["people"] > 0.5
        assert agreement_report(store.ratings.opinions("trial")).tables()
        assert export_ratings(store, "trial", "csv").count("\n") == 19
        assert export_ratings(store, "trial", "votes").count("\n") == 19


def test_a_new_model_joins_and_one_that_is_gone_loses_no_vote(tmp_path: Path) -> None:
    with serving(write_arena(tmp_path), arena=True) as server:
        ana = Rater(server, "ana")
        for _ in range(3):
            vote(ana)
        with Store.open(str(tmp_path / "audiocapbench.db")) as store:
            add_model(store, "new-model")
            assert said("new-model") in str(vote(ana)), "nothing is known of it yet"
            shown = ana.next()["item"]
            store.catalog.delete([1, 2, 3, 4])
        assert ana.ask(f"audio/{shown['token']}").status == 200
        assert ana.save(shown, {"choice": "bad"}).status == 200
        assert ana.next()["state"] == "done"
        assert len(kept(tmp_path)) == 5
    with Store.open(str(tmp_path / "audiocapbench.db")) as store:
        assert "new-model" in str(project_pairs(store, "trial"))


@pytest.mark.slow
def test_a_killed_server_loses_no_vote_and_counts_none_twice(tmp_path: Path) -> None:
    path = write_arena(tmp_path)
    server = start(path, how="--arena")
    ana = Rater(server, "ana")
    vote(ana)
    shown = ana.next()["item"]
    sent = {"choice": 1}, "0123456789abcdef" * 2
    os.kill(server.pid, signal.SIGKILL)
    stop(server)
    again = start(path, how="--arena")
    try:
        again.tokens |= server.tokens
        ana = Rater(again, "ana")
        assert ana.next()["item"] == shown
        replies = [ana.save(shown, sent[0], key=sent[1]).said["receipt"] for _ in range(2)]
        assert replies == ["kept", "known"]
    finally:
        stop(again)
    assert len(kept(tmp_path)) == 2


def test_many_people_at_once_get_pairs_of_their_own(tmp_path: Path) -> None:
    people = [f"person{n}" for n in range(6)]
    with serving(write_arena(tmp_path, people=people), arena=True) as server:
        raters = [Rater(server, one) for one in people]
        with concurrent.futures.ThreadPoolExecutor(6) as pool:
            shown = list(pool.map(lambda one: one.next()["item"]["captions"], raters))
            assert len({"|".join(sorted(one)) for one in shown}) == 6
            done = list(pool.map(lambda one: [*iter(lambda: vote(one), None)], raters))
    assert sum(map(len, done)) == 18 == len(set(kept(tmp_path)))


def test_gold_questions_come_between_and_are_no_votes(tmp_path: Path) -> None:
    project = write_arena(tmp_path, gold="items.csv")
    write_project(tmp_path, count=0, gold=2)
    with serving(project, arena=True) as server:
        rater = Rater(server, "ana")
        while (found := rater.next())["state"] == "item":
            assert rater.save(found["item"], {"choice": 1}).status == 200
        told = server.ask("/rate/api/progress", token=server.tokens[""]).said
    assert told["tables"][-1]["rows"][0][:3] == ["ana", "18", "2"]


def test_pairs_are_voted_on_by_as_many_as_asked(tmp_path: Path) -> None:
    with serving(write_arena(tmp_path, MODELS[:2], each=2), arena=True) as server:
        raters = [Rater(server, "ana"), Rater(server, "ben")]
        for _ in range(3):
            for one in raters:
                vote(one)
    assert set(Counter(item for _, item in kept(tmp_path)).values()) == {2}


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"benchmark": "mode"}, "did you mean 'made'"),
        ({"benchmark": None, "run": ["zeta-model"]}, "two runs or more"),
        ({"benchmark": None, "run": ["zeta-model", "alpha"]}, "'alpha'"),
        ({"kind": "rel"}, "'pairs'"),
        ({"run": [1, 2]}, "name either"),
        ({"items": "x.csv"}, "makes its pairs itself"),
        ({"audio": "nowhere"}, "no such folder"),
    ],
)
def test_what_is_no_arena_is_refused_in_a_sentence(
    tmp_path: Path, settings: dict[str, Any], why: str
) -> None:
    path = write_arena(tmp_path, **settings)
    with Store.open(str(tmp_path / "audiocapbench.db")) as store:
        with pytest.raises(AudioCapBenchError, match=why):
            ArenaDesk(read_arena(path), store)
        with pytest.raises(AudioCapBenchError):
            RatingDesk(read_project(path), store)


def test_a_clip_that_cannot_be_played_is_not_asked(tmp_path: Path) -> None:
    path = write_arena(tmp_path, MODELS[:2], benchmark=None, run=[1, 2])
    (tmp_path / "tones" / "clip0002.wav").write_bytes(b"no sound")
    with serving(path, arena=True) as server:
        assert len([*iter(lambda: vote(Rater(server, "ana")), None)]) == 5


def test_votes_go_where_they_tell_most() -> None:
    """Strengths found from few votes are nearer to the truth than by pairs drawn at random."""
    models = [f"{n}" for n in range(8)]
    truth = {name: 0.7 * n for n, name in enumerate(models)}
    wrong = {"telling": 0, "random": 0}
    for way in wrong:
        draw, votes, asked = random.Random(5), list[Vote](), Counter[tuple[str, str]]()
        pairs = list(combinations(models, 2))
        for n in range(120):
            first, second = (
                telling(votes, models, asked)[0] if way == "telling" else draw.choice(pairs)
            )
            chance = 1 / (1 + 2.718 ** (truth[second] - truth[first]))
            said = 1 if draw.random() < chance else -1
            votes.append(Vote(first, second, said, f"{n % 6}", f"{n % 20}"))
            asked[first, second] += 1
        apart = [abs(int(one) - int(other)) for one, other in asked.elements()]
        wrong[way] = sum(apart)
        each = Counter(name for pair in asked.elements() for name in pair)
        if way == "telling":
            assert max(each.values()) < 2 * min(each.values())
        assert strengths(votes).people == 6
    assert wrong["telling"] < 0.8 * wrong["random"], "what is certain is not asked again"


def test_people_stand_beside_scores_over_the_same_pairs(tmp_path: Path) -> None:
    people = [f"person{n}" for n in range(6)]
    with serving(write_arena(tmp_path, people=people, each=2), arena=True) as server:
        with Store.open(str(tmp_path / "audiocapbench.db")) as store:
            values = {one.id: 0.5 for one in SAMPLES}
            texts = {one.id: f"{one.id} is new" for one in SAMPLES[:1]}
            put_run(store, MadeRun("late", {"bleu_1": values}, texts=texts), SAMPLES)
        for one in [Rater(server, name) for name in people] * 3:
            vote(one)
        told = server.ask("/rate/api/progress", token=server.tokens[""]).said
    titles = [one["title"] for one in told["tables"]]
    assert "How often scores prefer what people do in trial" in titles
    with Store.open(str(tmp_path / "audiocapbench.db")) as store:
        table = beside_people(store, "trial")
        (person, metric), notes = table.rows, " ".join(table.notes)
        assert (metric["scorer"], metric["accuracy"].value) == ("rouge_l", 100.0)
        assert metric["kappa"].value == 1.0
        assert (person["scorer"], person["accuracy"].value) == ("a person", 100.0)
        decided = [one for one in project_pairs(store, "trial") if one.answer is not None]
        among = [one for one in decided if "late" not in one.systems]
        assert metric["n"] == len(among) < len(decided)
        assert f"the {len(among)} of {len(decided)} decided pairs" in notes
        store.catalog.delete([1, 2, 3])
        assert beside_people(store, "trial").rows == []


def test_runs_of_one_model_are_no_one_contestant(tmp_path: Path) -> None:
    with serving(write_arena(tmp_path), arena=True) as server:
        ana = Rater(server, "ana")
        for _ in range(3):
            vote(ana)
        with Store.open(str(tmp_path / "audiocapbench.db")) as store:
            add_model(store, MODELS[0])
            for _ in range(3):
                vote(ana)
            models = {name for one in project_pairs(store, "trial") for name in one.systems}
    assert models == {f"{MODELS[0]} (run 1)", f"{MODELS[0]} (run 4)", *MODELS[1:]}
