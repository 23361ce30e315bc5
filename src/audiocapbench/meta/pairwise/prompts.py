"""The prompts that ask a model to compare two captions: twelve of ours, or one from a file.

Captions are data: they are put between typographic quotes that they cannot close.
"""

import hashlib
import json
import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from audiocapbench.errors import TrialError, did_you_mean
from audiocapbench.judges.quoting import RULES, as_data, fill
from audiocapbench.meta.answers.marks import Labels
from audiocapbench.meta.pairs.pair import CaptionPair

PLACEHOLDERS = ("first", "second", "references")
_NEEDED = ("first", "second")
_ALSO = {"caption_0": "first", "caption_1": "second", "caption_a": "first", "caption_b": "second"}
_LONGEST_FILE = 100_000
_NAME = re.compile(r"\{(\w+)\}")
_CALLED = re.compile(r"(?<![^\W_])(?P<label>[A-Za-z0-9])[\s).:\]\-=–—\"'“‘«(]*$")
_COUNTED = (("0", "1"), ("1", "2"), ("A", "B"))


@dataclass(frozen=True, slots=True)
class PairwisePrompt:
    """A prompt with ``{first}``, ``{second}`` and perhaps ``{references}``.

    Its name is such as ``simple-tie``, or the file's; labels are what it calls the captions.
    """

    name: str
    template: str
    labels: Labels

    @property
    def hash(self) -> str:
        """Changes with every letter of the prompt, and with what is done to captions."""
        return hashlib.sha256(f"{RULES}\0{self.template}".encode()).hexdigest()[:12]

    def ask(self, pair: CaptionPair) -> str:
        """The prompt about one pair.

        Raises:
            TrialError: It shows references, and the pair has none beside its own captions.
        """
        values = {"first": as_data(pair.first), "second": as_data(pair.second)}
        if "{references}" in self.template:
            lines = [f"- “{as_data(text)}”" for text in _shared_references(pair)]
            if not lines:
                raise TrialError(
                    f"pair {pair.id}: the prompt {self.name} shows reference captions and this "
                    "pair has none; choose a prompt whose name does not end in -ref"
                )
            values["references"] = "\n".join(lines)
        return fill(self.template, **values)


def _shared_references(pair: CaptionPair) -> list[str]:
    """References that both captions may be held to; none of them is one of the captions."""
    own = {pair.first.strip().casefold(), pair.second.strip().casefold()}
    both = [one for one in dict.fromkeys(pair.references_first) if one in pair.references_second]
    return [text for text in both if text.strip().casefold() not in own]


def prompt_names() -> tuple[str, ...]:
    """The prompts that come with the package."""
    return tuple(document()["prompts"])


def named_prompt(name: str) -> PairwisePrompt:
    """One of the twelve prompts."""
    found = document()
    if name not in found["prompts"]:
        raise TrialError(
            f"there is no prompt {name!r}{did_you_mean(name, prompt_names(), 'choose one of')}"
        )
    called = found["labels"]
    tie = called["tie"] if "-tie" in name else None
    labels = Labels(called["first"], called["second"], tie)
    return PairwisePrompt(name, "\n".join(found["prompts"][name]), labels)


def prompt_from(path: Path) -> PairwisePrompt:
    """A prompt of the user's own: UTF-8 text with ``{first}`` and ``{second}``.

    ``{caption_0}`` and ``{caption_1}``, as BRACE writes them, mean the same. What stands before the
    places, such as ``caption_0:`` or ``A)``, is taken for the names of the captions, so that
    answers which use them are understood.

    Raises:
        TrialError: The file cannot be read, or its places are not those that can be filled.
    """
    try:
        template = path.read_bytes()[: _LONGEST_FILE + 1].decode("utf-8-sig").strip()
    except OSError as error:
        raise TrialError(f"prompt file {path}: cannot be read ({error.strerror})") from None
    except UnicodeDecodeError as error:
        raise TrialError(f"prompt file {path}: is not UTF-8 (byte {error.start + 1})") from None
    if len(template.encode()) > _LONGEST_FILE:
        raise TrialError(f"prompt file {path}: is longer than {_LONGEST_FILE:,} bytes")
    template = _NAME.sub(lambda one: f"{{{_ALSO.get(one[1], one[1])}}}", template)
    used = _NAME.findall(template)
    for name in used:
        if name not in PLACEHOLDERS:
            known = ", ".join(f"{{{one}}}" for one in PLACEHOLDERS)
            what = f"{{{name}}} is no place that can be filled; there are {known}"
            raise TrialError(f"prompt file {path}: {what}")
    for name in _NEEDED:
        if used.count(name) != 1:
            times = "is missing" if name not in used else f"stands {used.count(name)} times"
            raise TrialError(f"prompt file {path}: {{{name}}} {times}; it must stand once")
    if template.index("{first}") > template.index("{second}"):
        raise TrialError(f"prompt file {path}: {{first}} must stand before {{second}}")
    return PairwisePrompt(path.name, template, _labels(template))


def _labels(template: str) -> Labels:
    called = []
    for name in _NEEDED:
        line = template[: template.index(f"{{{name}}}")].rsplit("\n", 1)[-1]
        found = _CALLED.search(line)
        called.append(found["label"].upper() if found else "")
    return Labels(*called) if tuple(called) in _COUNTED else Labels()


@cache
def document() -> dict[str, Any]:
    """The prompts as they are kept."""
    text = files("audiocapbench.meta.pairwise").joinpath("prompts.json").read_text("utf-8")
    return dict(json.loads(text))
