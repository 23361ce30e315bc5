"""What a model makes gives no more away than what rules make: n-grams and PMI do not find it."""

import csv
import hashlib
import json
import random
import re
from collections import Counter, defaultdict
from itertools import combinations
from math import log
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from audiocapbench.meta.corrupt.by_model import make_by_model
from audiocapbench.meta.corrupt.captions import (
    caption_set,
    nouns,
    tokens_of,
    words_of,
    written,
)
from audiocapbench.meta.corrupt.make import CorruptionSettings, check_words
from audiocapbench.meta.scorers.scorer import TrialSettings
from audiocapbench.metrics.elements.splitting import kind_of
from audiocapbench.models import create_model
from fakes.http_server import Request
from fakes.openai_server import OpenAIServer, completion

pytestmark = pytest.mark.slow  # servers and whole runs: seconds each
CLIPS = 200


class TextOnlyScorer:
    """Trigrams, interpolated, and mutual information of words, learnt from other captions."""

    def __init__(self, texts: list[str]) -> None:
        self.runs: Counter[tuple[str, ...]] = Counter()
        self.met: Counter[Any] = Counter()
        self.total = len(texts)
        for text in texts:
            words = ["<", "<", *words_of(text), ">"]
            for size in (1, 2, 3):
                self.runs.update(zip(*(words[start:] for start in range(size)), strict=False))
            told = self._told(text)
            self.met.update(told)
            self.met.update(combinations(told, 2))

    def _told(self, text: str) -> list[str]:
        return sorted({word for word in words_of(text) if kind_of(word) is not None})

    def scores(self, text: str) -> tuple[float, float]:
        words, likely = ["<", "<", *words_of(text), ">"], 0.0
        for end in range(2, len(words)):
            chance = (self.runs[(words[end],)] + 0.5) / (12 * self.total)
            for start in (end - 1, end - 2):
                before, whole = tuple(words[start:end]), tuple(words[start : end + 1])
                chance = (self.runs[whole] + 2 * chance) / (self.runs[before] + 2)
            likely += log(chance)
        pairs = list(combinations(self._told(text), 2))
        apart = [(self.met[one] + 1) * (self.met[other] + 1) for one, other in pairs]
        mutual = [
            log((self.met[pair] + 0.5) * self.total / own)
            for pair, own in zip(pairs, apart, strict=True)
        ]
        return likely, sum(mutual) / max(1, len(mutual))


def proposals(text: str, known: Counter[str]) -> list[str]:
    """Nouns of the same sort for one of the caption's, more usual ones more often."""
    tokens = tokens_of(text) or ()
    places = [place for place, token in enumerate(tokens) if token in nouns()]
    draw, found = random.Random(text), []
    for _ in range(6 if places else 0):
        place = draw.choice(places)
        own = nouns()[tokens[place]]
        alike = [word for word in known if nouns()[word][1:4:2] == (own.sort, own.number)]
        others = [word for word in alike if nouns()[word].family != own.family]
        if others:
            new = draw.choices(others, [known[word] for word in others])
            found.append(written([*tokens[:place], *new, *tokens[place + 1 :]]))
    return found


@pytest.mark.slow
def test_trigrams_and_mutual_information_do_not_find_what_a_model_made(
    shared: Path, tmp_path: Path
) -> None:
    clips: dict[str, list[str]] = defaultdict(list)
    with (shared / "audiocaps/test.csv").open(encoding="utf-8", newline="") as stream:
        for row in csv.DictReader(stream):
            clips[row["youtube_id"]].append(row["caption"])
    # The clips of the other half are those that the balance was tuned on.
    listed = [(name, name, texts) for name, texts in clips.items()]
    listed.sort(key=lambda one: hashlib.sha256(one[0].encode()).digest()[-1] % 2 == 0)
    captions = caption_set(listed[:CLIPS])
    words = (word for one in captions.captions for word in set(one.tokens) if word in nouns())
    known = Counter(dict(Counter(words).most_common(120)))

    def reply(request: Request) -> dict[str, Any]:
        text = request.json["messages"][0]["content"]
        if found := re.search("True caption: “(.*)”", text):
            made = proposals(found[1], known)
            return completion("\n".join(json.dumps({"caption": one}) for one in made))
        return completion(json.dumps(dict.fromkeys(re.findall(r"^(\d+)\. “", text, re.M), True)))

    with OpenAIServer(key=None, reply=reply) as server:
        model = create_model(f"endpoint/gpt@{server.base_url}")
        settings = TrialSettings(store_url=str(tmp_path / "answers.db"))
        (made,) = make_by_model(captions, model, settings, CorruptionSettings(["noun"]))
    scorer = TextOnlyScorer([text for _, _, texts in listed[CLIPS:] for text in texts])
    gaps = np.array(
        [np.subtract(scorer.scores(one.true), scorer.scores(one.false)) for one in made.corruptions]
    )
    right = (gaps / np.sqrt((gaps**2).mean(axis=0))).sum(axis=1) > 0
    share = len(made.pairs) / made.captions
    figures = f"{len(right)} pairs, {share:.0%} of captions, {right.mean():.1%} found"
    assert share >= 0.6, figures
    assert right.mean() <= 0.53, figures
    assert abs(check_words(made.pairs, 42)["noun"]["likelier"].accuracy - 50) <= 3
