"""An arena: people choose between captions of any two models, where a vote tells most.

A pair becomes an item when it is first shown. Models join and leave as their runs do; what people
said of one that is gone stays.
"""

import random
import time
from collections import Counter
from pathlib import Path
from threading import Lock
from typing import Any

from audiocapbench.errors import AudioCapBenchError, did_you_mean
from audiocapbench.meta.pairs import VOTES
from audiocapbench.stats.votes import Vote, telling
from audiocapbench.store.ratings import RatingLoad
from audiocapbench.store.records import RunHead
from audiocapbench.web.rating.items import (
    LoadedItems,
    RatingItem,
    captions_of,
    find_clips,
    gold_items,
    runs_of,
)
from audiocapbench.web.rating.project import ArenaProject, RatingError
from audiocapbench.web.rating.routes import RatingDesk

_GOLD_EVERY = 10  # pairs or so that a person is asked
_Clip = tuple[Path, float]
_Said = tuple[str, dict[str, str]]  # a model's name, and its captions by sample


class ArenaDesk(RatingDesk):
    project: ArenaProject
    ends = False

    def _load(self) -> LoadedItems:
        self._lock, self._rest_until, self._found = Lock(), 0.0, dict[str, _Clip | None]()
        self._revisions, self._said = dict[int, int](), dict[int, _Said]()
        named: list[RunHead] = [*runs_of(self.project, self.store)]
        self._named, project = {one.id for one in named}, self.project
        self._about = (named or self._of_benchmark())[-1]
        dataset = self.store.dataset(self._about.dataset, self._about.benchmark)
        order = sorted(one.id for one in dataset.samples)
        random.Random(project.seed).shuffle(order)
        places = {key: place for place, key in enumerate(order)}
        self._samples = {one.id: (places[one.id], one) for one in dataset.samples}
        self._folder = project.audio or Path(dataset.root)
        gold = gold_items(project)
        items, clips = {one.id: one for one in gold}, find_clips(project, self._folder, gold)
        for key, one in self.store.ratings.items(project.name).items():
            if not one["gold"]:
                items[key] = item = RatingItem(id=key, **one)
                clips[key] = self._clip(item) or (Path(item.audio), 0.0)
        self._follow()
        models = ", ".join(sorted(model for model, _ in self._said.values()))
        if len(self._said) < 2 and len(items) == len(gold):
            raise RatingError(f"an arena takes two models on the same clips, and there is {models}")
        return items, clips, [f"In the arena: {models}."]

    def _of_benchmark(self) -> list[RunHead]:
        lines, name = [one for one in self.store.runs() if not one.is_trial], self.project.benchmark
        if own := [one for one in lines if one.benchmark == name]:
            return [*own]
        near = did_you_mean(name or "", {one.benchmark for one in lines}, "there are")
        raise RatingError(f"{self.store.name} has no run on the benchmark {name!r}{near}")

    def _follow(self) -> None:
        """See which runs there are, and what they say by now; that not often, where it takes long.

        Those that were named, or of each model the newest on the data that the arena began with.
        """
        with self._lock:
            began, revisions = time.monotonic(), self.store.catalog.revisions()
            same_runs = revisions.keys() == self._revisions.keys()
            if revisions == self._revisions or (same_runs and began < self._rest_until):
                return
            about = self._about.benchmark, self._about.dataset
            lines = [one for one in self.store.runs() if (one.benchmark, one.dataset) == about]
            runs = [one for one in lines if one.id in self._named]
            if not self._named:
                runs = [*{one.model: one for one in lines}.values()]
            known, said = self._revisions, self._said
            self._said = {
                one.id: said[one.id]
                if one.id in said and known.get(one.id) == revisions.get(one.id)
                else (one.model, captions_of(self.store, one.id))
                for one in runs
            }
            self._revisions, took = revisions, time.monotonic() - began
            self._rest_until = began + 4 * took

    def next(self, person: str) -> dict[str, Any]:
        self._follow()
        return super().next(person)

    def _state(self, load: RatingLoad) -> dict[str, Any]:
        return {"left": None, "state": "wait" if load.claimed else "done"}

    def _share(self, count: int) -> int:
        return _GOLD_EVERY * len(self._gold)

    def _choose(self, person: str, load: RatingLoad) -> str | None:
        """Of the pair of models whose vote tells most, the clip that was heard least.

        A pair of captions that others have begun to vote on comes before one that nobody has.
        """
        said, taken = self._said, load.done + load.claimed
        asked, heard, own = Counter[tuple[str, str]](), Counter[str](), Counter[str]()
        for key, count in (taken + Counter(load.rated)).items():
            if (item := self.items.get(key)) is not None and not item.gold:
                first, second = sorted(map(str, item.runs))
                asked[first, second] += count
                heard[item.sample] += count
                own[item.sample] += key in load.rated
        for pair in telling(self._votes(), [*map(str, said)], asked):
            one, other = sorted(map(int, pair))
            (_, texts), (_, others) = said[one], said[other]
            free = []
            for sample in texts.keys() & others.keys() & self._samples.keys():
                key = f"{one}-{other}/{sample}"
                differ = texts[sample].strip() != others[sample].strip()
                if differ and key not in load.rated and taken[key] < self.project.each:
                    order = (not taken[key], own[sample], heard[sample], self._samples[sample][0])
                    free.append((order, key, sample))
            for _, key, sample in sorted(free):
                runs = {one: said[one], other: said[other]}
                if key in self.items or self._make(key, runs, sample):
                    return key
        return None

    def _votes(self) -> list[Vote]:
        said = self.store.ratings.of(self.project.name)
        items = [(self.items.get(one.item), one) for one in said]
        return [
            Vote(f"{first}", f"{second}", VOTES[one.answer["vote"]], one.person, item.sample)
            for item, one in items
            if item is not None and not item.gold
            for first, second in [item.runs]
        ]

    def _make(self, key: str, runs: dict[int, _Said], sample: str) -> bool:
        """Make an item of what two runs say; not of a clip that cannot be played."""
        about = self._samples[sample][1]
        item = RatingItem(
            id=key,
            audio=about.clip.file_name,
            captions=tuple(said[sample] for _, said in runs.values()),
            sample=sample,
            systems=tuple(model for model, _ in runs.values()),
            runs=tuple(runs),
            group=about.category,
            references=tuple(about.references),
        )
        if (clip := self._clip(item)) is not None:
            self._clips[key], self.items[key] = clip, item
        return clip is not None

    def _clip(self, item: RatingItem) -> _Clip | None:
        if item.audio not in self._found:
            try:
                found = find_clips(self.project, self._folder, [item])
            except AudioCapBenchError:
                found = {}
            self._found[item.audio] = found.get(item.id)
        return self._found[item.audio]
