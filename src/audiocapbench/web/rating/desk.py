"""Who is asked what: hands items out, takes answers in, and tells nobody where they are from.

Orders, sides and tokens follow from the project's seed, its secret and the person's name, so that
a server that was killed goes on as if nothing had been.
"""

import hmac
import random
from collections.abc import Mapping
from functools import cache
from math import ceil
from typing import Any, NamedTuple

from audiocapbench.store import Store
from audiocapbench.store.ratings import Rating, RatingLoad, RatingReceipt
from audiocapbench.web.rating.items import HeardClip, LoadedItems, RatingItem, playable
from audiocapbench.web.rating.kinds import KINDS, RatingError, read_answer, shown_answer
from audiocapbench.web.rating.project import RatingProject

_SLACK_S, _LEAST_S = 0.5, 1e-6


class RatingRequest(NamedTuple):
    """An answer as the page sends it."""

    item: str
    key: str
    answer: Mapping[str, Any]
    played_s: float
    replaces: str | None = None


class UnheardError(RatingError):
    """The clip was not listened to."""


class RatingDesk:
    """One project that is open to its people."""

    def __init__(self, project: RatingProject, loaded: LoadedItems, store: Store) -> None:
        self.project, self.store = project, store
        self.items = loaded.items
        self._clips = loaded.clips
        self._secret = store.rating_secret(project.name)
        self._ordinary = [key for key, one in self.items.items() if not one.gold]
        self._gold = [key for key, one in self.items.items() if one.gold]
        self._by_token = cache(self._find_tokens)
        self._orders = cache(self._find_order)

    def person(self, token: str) -> str | None:
        """Whose token it is; None where it opens nothing."""
        found = self.store.rating_person(self.project.name, token)
        return found if found == "" or found in self.project.people else None

    def about(self) -> dict[str, Any]:
        """What every page needs to know of the project."""
        kind = KINDS[self.project.kind]
        return {
            "title": self.project.title or kind.question,
            "question": kind.question,
            "instructions": self.project.instructions,
            "scales": [one._asdict() for one in kind.scales],
            "captions": kind.captions,
            "undecided": kind.undecided,
            "confidence": self.project.asks_confidence,
        }

    def next(self, person: str) -> dict[str, Any]:
        """The item that a person is shown next, or that there is none (now)."""
        state: dict[str, Any] = {}

        def choose(load: RatingLoad) -> str | None:
            free = self._free(person, load)
            state["done"] = len(load.rated & self.items.keys())
            state["left"] = len(free)
            busy = any(
                load.done[key] < self.project.each
                for key in self._ordinary
                if key not in load.rated and key not in free
            )
            state["state"] = "item" if free else "wait" if busy else "done"
            if load.current in self.items:
                return load.current
            return self._choice(person, load, free)

        lease_s = 60 * self.project.claim_minutes
        key = self.store.claim_rating_item(self.project.name, person, choose, lease_s)
        return state if key is None else state | {"state": "item", "item": self._shown(person, key)}

    def save(self, person: str, sent: RatingRequest) -> RatingReceipt:
        """Keep an answer.

        Raises:
            RatingError: It is no answer, to no item of this person's, or of a clip not heard.
        """
        key = self._item(person, sent.item)
        item = self.items[key]
        answer = read_answer(self.project.kind, sent.answer, self._order(person, key))
        if self.project.asks_confidence and "confidence" not in answer:
            raise RatingError("say how sure you are")
        if not self.project.asks_confidence:
            answer.pop("confidence", None)
        listen_s = self.project.listen * self._clips[item.audio].duration_s
        if sent.replaces is None and sent.played_s + _SLACK_S < listen_s:
            raise UnheardError("listen to the clip first")
        rating = Rating(person, key, sent.key, answer, 0.0, sent.played_s, "")
        needed_s = max(_LEAST_S, listen_s - _SLACK_S) if listen_s else 0.0
        found = self.store.put_rating(self.project.name, rating, sent.replaces, needed_s)
        if found is RatingReceipt.UNHEARD:
            raise UnheardError("listen to the clip first")
        return found

    def back(self, person: str, before: str | None) -> dict[str, Any] | None:
        """What a person said last, or before an item, to be changed; None where it was nothing."""
        said = [
            one for one in self.store.ratings(self.project.name, person) if one.item in self.items
        ]
        if before is not None:
            key = self._item(person, before)
            places = [place for place, one in enumerate(said) if one.item == key]
            said = said[: places[0]] if places else said
        if not said:
            return None
        last = said[-1]
        answer = shown_answer(self.project.kind, last.answer, self._order(person, last.item))
        return {"item": self._shown(person, last.item), "answer": answer, "key": last.key}

    def clip(self, person: str, token: str) -> bytes:
        """The sound of an item, which the person is then given."""
        key = self._item(person, token)
        sound = playable(self._clip(key).path)
        self.store.note_heard(self.project.name, person, key)
        return sound

    def _clip(self, key: str) -> HeardClip:
        return self._clips[self.items[key].audio]

    def _free(self, person: str, load: RatingLoad) -> set[str]:
        """Items that a person may still be given."""
        each = self.project.each
        taken = load.done + load.claimed
        return {
            key
            for key, one in self.items.items()
            if key not in load.rated and (one.gold or taken[key] < each or key == load.current)
        }

    def _choice(self, person: str, load: RatingLoad, free: set[str]) -> str | None:
        """Items in the person's order, with gold questions where the seed has put them."""
        order, gold, places = self._orders(person)
        next_gold = next((key for key in gold if key in free), None)
        asked = len(load.rated & set(gold))
        since = len(load.rated & set(order))
        if next_gold is not None and places[asked] <= since:
            return next_gold
        return next((key for key in order if key in free), next_gold)

    def _find_order(self, person: str) -> tuple[list[str], list[str], list[int]]:
        draw = random.Random(f"{self.project.seed} {person}")
        order, gold = list(self._ordinary), list(self._gold)
        draw.shuffle(order)
        draw.shuffle(gold)
        share = ceil(len(order) * self.project.each / len(self.project.people))
        return order, gold, sorted(draw.randrange(share + 1) for _ in gold)

    def _order(self, person: str, key: str) -> list[int]:
        """Which caption of an item this person sees at which place."""
        places = list(range(len(self.items[key].captions)))
        random.Random(f"{self.project.seed} {person} {key}").shuffle(places)
        return places

    def _shown(self, person: str, key: str) -> dict[str, Any]:
        item: RatingItem = self.items[key]
        texts = [item.captions[place] for place in self._order(person, key)]
        seconds = self._clip(key).duration_s
        listen_s = round(max(0.0, self.project.listen * seconds), 2)
        return {"token": self._token(person, key), "captions": texts, "listen_s": listen_s}

    def _token(self, person: str, key: str) -> str:
        return hmac.new(self._secret, f"{person}\0{key}".encode(), "sha256").hexdigest()[:32]

    def _find_tokens(self, person: str) -> dict[str, str]:
        return {self._token(person, key): key for key in self.items}

    def _item(self, person: str, token: str) -> str:
        found = self._by_token(person).get(token)
        if found is None:
            raise RatingError("this is no item of yours")
        return found
