"""People's votes beside scores: on boards, and over the pairs that people voted on."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from audiocapbench.errors import ReportError
from audiocapbench.judges.aggregation import OVERALL
from audiocapbench.meta.pairs import Pairs
from audiocapbench.meta.scorers.scorer import Choice
from audiocapbench.meta.trial import ScorerTrial
from audiocapbench.meta.votes import one_against_rest, project_pairs
from audiocapbench.report.leaderboard.tables import LeaderboardResult
from audiocapbench.report.ratings import NOTES
from audiocapbench.scores.estimate import Scorer, counted
from audiocapbench.scores.table import TableReader
from audiocapbench.signature import UNSIGNED
from audiocapbench.stats import correlation as effects
from audiocapbench.stats.votes import RankAgreement, Vote, strengths
from audiocapbench.store import Store
from audiocapbench.table import Column, Row, Table

_NAMED = 5


def _preferred(store: Store, project: str, pairs: Pairs) -> dict[Scorer, dict[str, Choice]]:
    """What the scorers of a project's runs prefer, by pair, where both captions have a score."""
    items, reader = store.ratings.items(project), TableReader(store)
    runs = {run for one in pairs for run in items[one.id]["runs"]}
    tables = {run: reader.read(store.run(run)) for run in runs & store.catalog.revisions().keys()}
    chosen = defaultdict[Scorer, dict[str, Choice]](dict)
    for pair in pairs:
        both = [tables[run] for run in items[pair.id]["runs"] if run in tables]
        for scorer in both[0].scores if len(both) == 2 else ():
            values = [one.sample_scores(scorer).values for one in both]
            first, second = (own.get(items[pair.id]["sample"]) for own in values)
            if first is None or second is None or scorer.dimension not in (None, OVERALL):
                continue
            if both[0].signature(scorer) == both[1].signature(scorer):
                sure = Choice.FIRST if first > second else Choice.SECOND
                chosen[scorer][pair.id] = Choice.TIE if first == second else sure
    return chosen


def beside_people(store: Store, project: str) -> Table:
    """How often the scorers of a project's runs prefer what people do, over the same pairs."""
    decided = [one for one in project_pairs(store, project) if one.votes and one.answer is not None]
    chosen, dropped = _preferred(store, project, decided), list[str]()
    by_number = sorted(chosen, key=lambda one: (-len(chosen[one]), one.judge is None, one.label))

    def shared() -> set[str]:
        return set.intersection(*(set(chosen[one]) for one in by_number))

    while by_number and 2 * len(shared()) < len(chosen[by_number[0]]):
        few = by_number.pop()
        dropped.append(f"{few.label} ({len(chosen[few]):,})")
    same = [one for one in decided if by_number and one.id in shared()]
    clips, answers = [one.clip for one in same], [1 - 2 * (one.answer or 0) for one in same]
    rows: list[Row] = []
    if same and (person := one_against_rest(same)):
        rows.append({"scorer": person.scorer, "n": person.n, "accuracy": person.whole["accuracy"]})
    for scorer in by_number:
        own = tuple(chosen[scorer][one.id] for one in same)
        trial = ScorerTrial(scorer.label, UNSIGNED, "accuracy", tuple(same), own)
        said = [{Choice.FIRST: 1, Choice.SECOND: -1}.get(one, 0) for one in own]
        both = np.array([answers, said], float)  # each pair also swapped: no side is the first
        kappa = effects.rated_kappa(np.hstack([both, -both]), clips * 2)
        row: Row = {"scorer": scorer.label, "n": trial.n, "accuracy": trial.whole["accuracy"]}
        rows.append(row | {"kappa": kappa})
    of = counted(len(decided), "decided pair")
    notes = [NOTES["beside"].format(same=len(same), decided=of)]
    if dropped:
        notes.append(f"Left out, as they score few of the pairs: {', '.join(dropped)}.")
    columns = ("scorer", "n", Column("accuracy", form=".1f"), Column("kappa", form=".2f"))
    title = f"How often scores prefer what people do in {project}"
    return Table(title, rows, columns, notes, "beside_people")


def with_votes(found: LeaderboardResult, votes: Sequence[Vote]) -> LeaderboardResult:
    """Boards with how often people prefer each model, and how far that goes with the score."""
    ranked, boards = strengths(votes), []
    for board in found.boards:
        models, own = Counter(one.run.model for one in board.entries), dict[int, Any]()
        both = list[tuple[float, float]]()
        cast: dict[int, int] = {}
        for one in board.entries:
            # Where there are several runs of a model, its name alone says nothing of which.
            model, names = one.run.model, [one.label, f"{one.run.model} (run {one.run.id})"]
            names += [model] * (models[model] == 1)
            for name in [name for name in names if name in ranked.models][:1]:
                own[one.run.id], cast[one.run.id] = ranked.models[name], ranked.votes[name]
                share = ranked.models[name].value
                if one.overall.score is not None and share is not None:
                    both.append((one.overall.score, share))
        agreed = RankAgreement.of(both)
        facts = {"votes": len(votes), "people": ranked.people, "models": agreed.models}
        facts |= agreed.kendall.fields("kendall") | agreed.spearman.fields("spearman")
        how = {"raters": counted(ranked.people, "rater"), "votes": len(votes)}
        said = agreed.with_score(board.scorer.label)
        note = NOTES["preferred"].format(agreed=said, **how)
        notes = (*board.notes, note, *ranked.notes)
        more: dict[str, Any] = {"people": own, "cast": cast, "votes": facts, "notes": notes}
        boards.append(replace(board, **more) if own else board)
    if not any(one.people for one in boards):
        known = ", ".join(list(ranked.models)[:_NAMED])
        raise ReportError(f"no run on a board is of a model that was voted on, such as {known}")
    return replace(found, boards=tuple(boards))
