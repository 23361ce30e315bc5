"""Votes: between models, of pairs in files and of rating projects; and how good one person is."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from audiocapbench.errors import TrialError, did_you_mean
from audiocapbench.meta.pairs import PREFERRED, VOTES, CaptionPair, Pairs, preferred, read_csv_pairs
from audiocapbench.meta.published_pairs import AGREED, without
from audiocapbench.meta.scorers.scorer import Choice, Diagnostics
from audiocapbench.meta.trial import ScorerTrial
from audiocapbench.signature import sign
from audiocapbench.stats.votes import Vote
from audiocapbench.store import Store

PERSON = "a person"


def model_votes(pairs: Iterable[CaptionPair]) -> list[Vote]:
    """Votes between models, where two wrote a pair; one that is only decided is a vote."""
    found = []
    for one in pairs:
        if len(set(one.systems)) == 2 and not one.answer_set:
            votes = one.votes or ({0: 1, 1: -1, None: 0}[one.answer],)
            for vote, person in zip(votes, one.people or ("",) * len(votes), strict=True):
                found.append(Vote(one.systems[0], one.systems[1], vote, person, one.clip))
    return found


def named_votes(store: Store, names: Iterable[str]) -> list[Vote]:
    """All votes between models in files of pairs, or else rating projects, of these names."""
    votes = []
    for name in names:
        path = Path(name)
        found = model_votes(read_csv_pairs(path) if path.exists() else project_pairs(store, name))
        if not found:
            raise TrialError(
                f"{name}: has no votes between two models; model_a and model_b say who"
            )
        votes += found
    return votes


def project_pairs(store: Store, project: str) -> list[CaptionPair]:
    """The pairs of a rating project with people's votes; a gold question has its answer alone."""
    kinds = {one.name: one.kind for one in store.ratings.projects()}
    if project not in kinds:
        near = did_you_mean(project, kinds, "there are")
        raise TrialError(f"{project}: there is no such file, and no such rating project{near}")
    if kinds[project] != "pairs":
        raise TrialError(f"{project} is of kind {kinds[project]!r}; only pairs have votes")
    items, votes = store.ratings.items(project), defaultdict[str, dict[str, int]](dict)
    runs = defaultdict[str, set[int]](set)
    for one in store.ratings.of(project):
        if not (item := items[one.item])["gold"]:
            votes[one.item][one.person] = VOTES[one.answer["vote"]]
            for model, run in zip(item["systems"], item["runs"], strict=False):
                runs[model].add(run)
    pairs = []
    for key, item in items.items():
        if item["gold"] or key in votes:
            cast, kind = tuple(votes[key].values()), item["group"] or "all"
            systems = tuple(item["systems"]) if cast else ()
            if any(len(runs[model]) > 1 for model in systems):  # several runs of one model
                systems = tuple(
                    f"{model} (run {run})" if len(runs[model]) > 1 else model
                    for model, run in zip(systems, item["runs"], strict=True)
                )
            answer = preferred(cast) if cast else PREFERRED[item["gold"]]
            held_to = without(item["references"], *item["captions"])
            (first, second), audio = item["captions"], item["audio"]
            about = (answer, kind, kind, project, held_to, held_to, cast, audio, False)
            of = (systems, tuple(votes[key]), item.get("filtered_by", ""))
            pairs.append(CaptionPair(key, audio, first, second, *about, *of))
    return pairs


def one_against_rest(pairs: Pairs, headline: str = "accuracy") -> ScorerTrial | None:
    """Every vote for a caption held to the others on its pair, as if a person were a scorer: what
    scorers may be expected to reach. None where no others agree on anything."""
    held, cast = list[CaptionPair](), list[Choice]()
    for pair in pairs:
        for place, vote in enumerate(() if pair.answer_set else pair.votes):
            others = pair.votes[:place] + pair.votes[place + 1 :]
            if vote and (answer := preferred(others)) is not None:
                held.append(replace(pair, answer=answer, votes=others, people=()))
                cast.append(Choice.FIRST if vote > 0 else Choice.SECOND)
    if not held:
        return None
    # Who is held to pairs that were kept because people agree seems better than he is.
    kept = all(pair.strength >= AGREED for pair in pairs if pair.votes and not pair.answer_set)
    notes = ("only pairs that people agree on are there: too high (--votes-from has all)",)
    person = (PERSON, sign("one-against-rest"), headline, tuple(held), tuple(cast), None)
    return ScorerTrial(*person, Diagnostics(notes if kept else ()))
