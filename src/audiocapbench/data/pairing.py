"""Predictions beside their references: how they met, as they stand, and what to doubt in it."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from audiocapbench.data.cells import LONGEST_MARK, is_missing
from audiocapbench.data.columns import Reading
from audiocapbench.data.matching import match_samples
from audiocapbench.data.outcome import Sample
from audiocapbench.data.predictions import Predictions, blank_note
from audiocapbench.errors import DatasetError, did_you_mean
from audiocapbench.files import read_lists

_SHOWN, _NONE = 3, 5e-4
_FEW, _VERBATIM, _LONG, _TIMES, _OFTEN = 3, 0.9, 60, 3, 0.7
_MARKUP = re.compile(
    r"""<[|/]?\w[^<>]{0,20}>|^b(['"]).*\1$|^(["'`“‘«]).*["'`”’»]$|```|\*\*"""
    r"|^\W*(?:caption|answer|assistant|output|description|prediction)\W{0,3}:",
    re.IGNORECASE | re.DOTALL,
)
_SIGNS, _FIRST = ("<", ":", "`", "**"), re.compile(r"""\s*b?["'“‘«]""", re.IGNORECASE)
_ENOUGH, _BARELY, _COMPARED = 30, 1.1, 5000
_AT_SPACES = ("meteor", "bleu_1", "bleu_2", "bleu_3", "bleu_4")
_REACHED = read_lists("audiocapbench.data", "pairing.toml")


def _cut(text: str, room: int) -> str:
    return repr(text) if len(text) < room - 2 else repr(f"{text[: room - 3]}…")


def _marked(side: str, texts: Sequence[str]) -> list[str]:
    # Most have none of its signs, and to search each takes as long as to score it.
    odd = (text for text in texts if any(map(text.__contains__, _SIGNS)) or _FIRST.match(text))
    marked = [text for text in odd if _MARKUP.search(text.strip())]
    if 2 * len(marked) < max(len(texts), 1):
        return []
    return [
        f"{len(marked):,} of {len(texts):,} {side} have markup or quotes around them, such as "
        f"{marked[0]!r:.60}, which metrics take for words"
    ]


@dataclass(frozen=True, slots=True)
class Pairing:
    """Predictions under the ids of samples, and a ``note`` where these were changed."""

    predictions: Predictions
    samples: Sequence[Sample]
    note: str = ""
    references: Reading | None = None

    @classmethod
    def of(
        cls, predictions: Predictions, samples: Sequence[Sample], references: Reading | None = None
    ) -> "Pairing":
        made = cls(predictions, samples, references=references)
        files = made.readings
        name = (files[0].mapped or {}).get("id") if files else None
        if name is not None and name not in [one.columns.get("id") for one in files]:
            names = dict.fromkeys(one for file in files for one in file.names)
            there = did_you_mean(name, names, "there are")
            raise DatasetError(f"no file has a column {name!r:.80}{there}")
        met, note = match_samples(predictions, samples)
        return cls(met, samples, note, references)

    @property
    def readings(self) -> list[Reading]:
        return [*self.predictions.readings, *([self.references] if self.references else [])]

    @property
    def counts(self) -> tuple[int, float, int]:
        """References a sample: the fewest, the median and the most."""
        counts = [len(one.references) for one in self.samples] or [0]
        return min(counts), median(counts), max(counts)

    @property
    def pairs(self) -> list[tuple[Sample, str]]:
        texts = self.predictions.texts
        return [(one, texts[one.id]) for one in self.samples if one.id in texts]

    def to_dict(self) -> dict[str, Any]:
        pairs, references = self.pairs, self.references
        return {
            "predictions": [one.to_dict() for one in self.predictions.readings],
            "references": None if references is None else references.to_dict(),
            "samples": len(self.samples),
            "references_per_sample": dict(zip(("min", "median", "max"), self.counts, strict=True)),
            "matched": len(pairs),
            "how": self.note or "by id",
            "pairs": [
                {"id": one.id, "prediction": text, "references": list(one.references)}
                for one, text in pairs[:_SHOWN]
            ],
        }

    def lines(self, width: int = 100) -> list[str]:
        """What was read, in a few lines, none of a pair longer than the terminal is wide."""
        low, middle, high = self.counts
        each = f"{low}" if low == high else f"{low} to {high} (median {middle:g})"
        lines = [
            f"Read {one}{''.join(f'; {note}' for note in one.notes)}." for one in self.readings
        ]
        pairs = self.pairs
        how = f"{len(pairs):,} of {len(self.samples):,} samples have a prediction"
        lines.append(f"{how}; references a sample: {each}.")
        for one, text in pairs[:_SHOWN]:
            more = f" and {len(one.references) - 1} more" if one.references[1:] else ""
            room = max(24, (width - len(more) - 12) // 5)
            said = f"{_cut(text, 2 * room)} beside {_cut(one.references[0], 2 * room)}"
            lines.append(f"  {_cut(one.id, room)}: {said}{more}")
        return lines

    def warnings(self, scores: Mapping[str, float] | None = None) -> list[str]:
        """What a careful colleague would doubt, in sentences; with ``scores`` also in these."""
        pairs, samples = self.pairs, self.samples
        found = list(filter(None, [blank_note(text for _, text in pairs)]))
        _, middle, most = self.counts
        path = str(self.references.path).casefold() if self.references else ""
        five = [
            name
            for name, sizes in _REACHED["five_captions"].items()
            if len(samples) in sizes
            or (name in path and "train" not in path and len(samples) < max(sizes))
        ]
        # Where each category has a number of captions of its own, it is meant so.
        kinds = {(one.category, len(one.references)) for one in samples}
        uneven = len(kinds) > len({kind for kind, _ in kinds})
        if middle == 1 and len(samples) >= _FEW and (five or (most >= 5 and uneven)):
            known = f"{five[0]} has five" if five else f"some have {most}"
            found.append(f"most samples have one reference, but {known}; captions may be lost")
        if len(samples) >= _FEW and len({one.references for one in samples}) == 1:
            found.append("all samples have the same references")
        if len(pairs) >= _FEW and len({text for _, text in pairs}) == 1:
            found.append("all predictions are the same text")
        same = sum(text.strip() in one.references and bool(text.strip()) for one, text in pairs)
        if len(pairs) >= _FEW and same >= _VERBATIM * len(pairs):
            found.append(
                f"{same:,} of {len(pairs):,} predictions stand among their references word for "
                "word; references may be scored against themselves"
            )
        kept = [
            (set(text.lower().split()), one.references[0].lower().split())
            for one, text in pairs[:: 1 + len(pairs) // _COMPARED]
        ]
        owned = sum(len(said.intersection(words)) for said, words in kept)
        # The references of another sample, far away: neighbours may be of one recording.
        others = [words for _, words in kept[len(kept) // 2 :] + kept[: len(kept) // 2]]
        shared = sum(
            len(said.intersection(far)) for (said, _), far in zip(kept, others, strict=True)
        )
        if (
            len(pairs) >= _ENOUGH
            and owned <= _BARELY * shared
            and "same text" not in "".join(found)
        ):
            found.append(
                "predictions share as many words with another sample's references as with their "
                "own; they may be in another order"
            )
        words = median([len(one.references[0].split()) for one in samples] or [0])
        own = median([len(text.split()) for _, text in pairs] or [words])
        if words > _LONG or (words > _LONG / 3 and words > _TIMES * own):
            found.append(
                f"references have {words:g} words on median, and predictions {own:g}; several may "
                "be written as one"
            )
        found += _marked("predictions", [text for _, text in pairs])
        found += _marked("references", [one.references[0] for one in samples])
        if again := sum(len(one.references) - len({*one.references}) for one in samples):
            found.append(f"{again:,} references repeat another of their clip, and count again")
        split = [name for name in scores or () if name in _AT_SPACES]
        stops = [(text[-1:] == ".", one.references[0][-1:] == ".") for one, text in pairs]
        ours, theirs = (sum(column) for column in zip(*stops, strict=True)) if stops else (0, 0)
        if split and len(pairs) >= _FEW and abs(ours - theirs) > _OFTEN * len(pairs):
            who = "predictions end" if ours > theirs else "references end"
            found.append(
                f"only {who} with a full stop: {', '.join(split)} split at spaces alone, and take "
                "a word with it for another one"
            )
        every = [text for one in samples for text in one.references] + [text for _, text in pairs]
        if lost := sum(is_missing(text) for text in every if len(text) <= LONGEST_MARK):
            are = "1 caption is" if lost == 1 else f"{lost:,} captions are"
            found.append(f"{are} 'nan', 'None' or 'null', and may be missing")
        if 2 * len(pairs) < len(samples):
            lost = len(samples) - len(pairs)
            found.append(f"{lost:,} of {len(samples):,} samples have no prediction")
        beyond = [
            name
            for name, value in (scores or {}).items()
            if value > _REACHED["highest"].get(name, 1e9)
        ]
        if beyond and len(pairs) >= _FEW:
            found.append(f"{', '.join(beyond)}: higher than people or systems were seen to reach")
        if scores and len(pairs) >= _FEW and max(scores.values()) < _NONE:
            found.append("no score is above 0; the references may be of other samples")
        return found
