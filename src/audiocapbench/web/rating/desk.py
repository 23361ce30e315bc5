"""Who is asked what: hands items out and takes answers in.

Orders, sides and tokens follow from seed, secret and name: a killed server goes on as before.
"""

import hmac
import random
from functools import cache
from math import ceil
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from audiocapbench.store import Store
from audiocapbench.store.ratings import Rating, RatingLoad, RatingReceipt
from audiocapbench.web.rating.items import HeardClip, LoadedItems, RatingItem, playable
from audiocapbench.web.rating.project import (
    KINDS,
    RatingError,
    RatingProject,
    read_answer,
    shown_answer,
)

_SLACK_S, _LEAST_S = 0.5, 1e-6


_Token = Annotated[str, Field(pattern=r"^[0-9a-f]{32}$")]
_Key = Annotated[str, Field(pattern=r"^[A-Za-z0-9-]{16,64}$")]


class BackRequest(BaseModel):
    """A wish to see what was said before an item, or last."""

    model_config = ConfigDict(extra="forbid", strict=True)

    before: _Token | None = None


class RatingRequest(BaseModel):
    """An answer as the page sends it; it may take back the one that has a key."""

    model_config = ConfigDict(extra="forbid", strict=True)

    item: _Token
    key: _Key
    answer: Annotated[dict[str, str | int | None], Field(max_length=8)]
    played_s: Annotated[float, Field(ge=0, le=86_400, strict=False)]
    replaces: _Key | None = None


class RatingDesk:
    """One project that is open to its people."""

    def __init__(
        self, project: RatingProject, loaded: LoadedItems, store: Store, secret: bytes
    ) -> None:
        self.project, self.store = project, store
        self.items = loaded.items
        self._clips = loaded.clips
        self._secret = secret
        self._ordinary = [key for key, one in self.items.items() if not one.gold]
        self._gold = [key for key, one in self.items.items() if one.gold]
        self._by_token = cache(self._find_tokens)
        self._orders = cache(self._find_order)

    def person(self, token: str) -> str | None:
        """Whose token it is; None where it opens nothing."""
        found = self.store.ratings.person(self.project.name, token)
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
            each, taken = self.project.each, load.done + load.claimed
            free = {
                key
                for key, one in self.items.items()
                if key not in load.rated and (one.gold or taken[key] < each or key == load.current)
            }
            state["done"] = len(load.rated & self.items.keys())
            state["left"] = len(free)
            others = set(self._ordinary) - load.rated - free
            busy = any(load.done[key] < each for key in others)
            state["state"] = "item" if free else "wait" if busy else "done"
            if load.current in self.items:
                return load.current
            # Items in the person's order, with gold questions where the seed has put them.
            order, gold, places = self._orders(person)
            next_gold = next((key for key in gold if key in free), None)
            asked, since = len(load.rated & set(gold)), len(load.rated & set(order))
            if next_gold is not None and places[asked] <= since:
                return next_gold
            return next((key for key in order if key in free), next_gold)

        lease_s = 60 * self.project.claim_minutes
        key = self.store.ratings.claim(self.project.name, person, choose, lease_s)
        return state if key is None else state | {"state": "item", "item": self._shown(person, key)}

    def save(self, person: str, sent: RatingRequest) -> RatingReceipt:
        """Keep an answer; whoever is told so may forget it."""
        key = self._item(person, sent.item)
        given = {name: one for name, one in sent.answer.items() if one is not None}
        answer = read_answer(self.project.kind, given, self._order(person, key))
        if self.project.asks_confidence != ("confidence" in answer):
            raise RatingError("say how sure you are, where it is asked")
        listen_s = self.project.listen * self._clip(key).duration_s
        needed_s = max(_LEAST_S, listen_s - _SLACK_S) if listen_s else 0.0
        rating = Rating(person, key, sent.key, answer, 0.0, sent.played_s, "")
        found = self.store.ratings.put(self.project.name, rating, sent.replaces, needed_s)
        if found is RatingReceipt.UNHEARD:
            raise RatingError("listen to the clip first", why="unheard")
        if found is RatingReceipt.CONFLICT:
            raise RatingError("you rated this clip already, perhaps in another tab", 409)
        return found

    def back(self, person: str, before: str | None) -> dict[str, Any] | None:
        """What a person said last, or before an item, to be changed; None where it was nothing."""
        every = self.store.ratings.of(self.project.name, person)
        said = [one for one in every if one.item in self.items]
        if before is not None and (key := self._item(person, before)) in [o.item for o in said]:
            said = said[: [one.item for one in said].index(key)]
        if not said:
            return None
        last = said[-1]
        answer = shown_answer(self.project.kind, last.answer, self._order(person, last.item))
        return {"item": self._shown(person, last.item), "answer": answer, "key": last.key}

    def clip(self, person: str, token: str) -> bytes:
        """The sound of an item, which the person is then given."""
        key = self._item(person, token)
        sound = playable(self._clip(key).path)
        self.store.ratings.note_heard(self.project.name, person, key)
        return sound

    def _clip(self, key: str) -> HeardClip:
        return self._clips[self.items[key].audio]

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
