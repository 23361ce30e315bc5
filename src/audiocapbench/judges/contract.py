"""A contract: the prompt, the format that it asks for, and the parser that reads the reply.

The three belong together, so that a bad reply is a parse error and never a silent zero.
"""

import json
import math
import random
import re
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from audiocapbench.errors import JudgeError, ReplyError
from audiocapbench.files import digest, read_lists, storable
from audiocapbench.judges.reply_json import FoundObjects, find_objects, fold_key, shown
from audiocapbench.metrics.text import plain
from audiocapbench.models.replies import without_thoughts
from audiocapbench.plugins import failure_place, failure_words, plugin_failures

LONGEST_REPLY = 2_000_000
REASONING = "reasoning"
MAX_SCORE = 10

LONGEST = 20_000
RULES = f"one-line+straight-quotes+no-braces+no-tags+cut-{LONGEST}"
"""What is done to text, for signatures; changes whenever the rules change."""

_HARMLESS = str.maketrans(
    {
        one: plain_sign
        for plain_sign, signs in read_lists("audiocapbench.judges", "harmless.toml").items()
        for one in signs
    }
)
_DOUBLED_SINGLE_QUOTES = re.compile("[‘’]{2}|''|``")
_TURN_MARK = re.compile(r"\[(/?INST)\]", re.IGNORECASE)
_INVISIBLE = frozenset({"Cc", "Cf", "Cs"})
_TAKES_BACK = re.compile("revis|final|correct(ed|ion)|updat|adjust|instead", re.IGNORECASE)
_SCORE = re.compile(
    r"\s*([-+]?\d{1,20}(?:\.\d{0,20})?(?:e[-+]?\d{1,3})?)"
    r"(?:\s*(?:/|\bout of\b|\bof\b)\s*(\d{1,9}(?:\.0+)?))?\s*",
    re.ASCII | re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class JudgeInput:
    """An answer and what is known about the clip; details are all else that the dataset adds."""

    sample_id: str
    prediction: str
    references: tuple[str, ...]
    category: str
    instruction: str = ""
    transcript: str | None = None
    details: Mapping[str, Any] = field(default_factory=dict)

    def quoted(self) -> "JudgeInput":
        """The same with texts that cannot close their quotes or play the reply; not the details."""
        return replace(
            self,
            sample_id=as_data(self.sample_id),
            prediction=as_data(self.prediction),
            references=tuple(map(as_data, self.references)),
            instruction=as_data(self.instruction),
            transcript=self.transcript and as_data(self.transcript),
        )


@dataclass(frozen=True)
class Verdict:
    """The scores of one answer, 0 to 10, and why; ``note`` says what was odd about its reply."""

    scores: Mapping[str, float]
    reasoning: str
    note: str | None = field(default=None, compare=False)
    truncated: bool = field(default=False, compare=False)  # whether its reply ends after the scores

    @property
    def overall(self) -> float:
        return sum(self.scores.values()) / len(self.scores)


@dataclass(frozen=True, slots=True)
class ReplyField:
    """One field of the reply; all but text are scores, within bounds."""

    name: str
    kind: Literal["integer", "number", "text"]
    low: int = 0
    high: int = 10
    required: bool = True
    rescaled: bool = False  # whether its bounds become 0 and 10

    @property
    def schema(self) -> dict[str, Any]:
        if self.kind == "text":
            return {"type": "string"}
        return {"type": self.kind, "minimum": self.low, "maximum": self.high}

    def score(self, value: Any) -> float:
        """The score that a value is; ReplyError where it is none, or out of bounds."""
        if isinstance(value, dict):  # of another scale, for all that is known, if it has a number
            beside = [one for name, one in value.items() if name != "score" and one != self.high]
            value = None if re.search(r"\d|true|null", json.dumps(beside)) else value.get("score")
        if isinstance(value, str):
            text = _SCORE.fullmatch(value)
            if text and float(text[2] or self.high) != self.high:
                raise ReplyError(f"{self.name} is not out of {self.high}")
            value = float(text[1]) if text else None
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not is_number or not math.isfinite(value):
            raise ReplyError(f"{self.name} is not a number")
        if not self.low <= value <= self.high:
            raise ReplyError(f"{self.name} must be from {self.low} to {self.high}")
        if self.kind == "integer" and value != int(value):
            raise ReplyError(f"{self.name} must be an integer")
        if self.rescaled:
            return MAX_SCORE * (float(value) - self.low) / (self.high - self.low)
        return float(value)


@dataclass(frozen=True, slots=True)
class Contract:
    name: str
    fields: tuple[ReplyField, ...]
    assemble: Callable[[JudgeInput], str]  # makes the prompt of a case, whose texts are quoted
    wording: str  # the published text, all of it, for the signature's hash
    max_tokens: int
    protocol: int = 1  # goes up when the same wording can give other scores
    description: str = ""
    # Reads a reply that is no JSON object with the fields; raises ``ReplyError``.
    reader: Callable[[str], Verdict] | None = None
    quotes: bool = True  # whether texts are made harmless, and thoughts taken out of replies
    asked_at_most: int = 3  # where a reply cannot be used: each time with what was wrong
    made_with: tuple[tuple[str, str], ...] = ()  # what else decides the scores, for the signature
    listens: bool = False  # needs the clip and no reference, and is shown a caption as plain text
    # What a provider's whole reply makes of a verdict, such as by the probabilities of its tokens.
    weigh: Callable[[Verdict, str], Verdict] | None = None

    def __post_init__(self) -> None:
        names = [one.name for one in self.fields]
        if not self.dimensions or len(set(map(fold_key, names))) < len(names):
            raise JudgeError(f"contract {self.name!r}: needs a score, and each field once")
        for one in self.fields:
            if not one.rescaled and not 0 <= one.low < one.high <= MAX_SCORE:
                raise JudgeError(
                    f"contract {self.name!r}: {one.name} is from {one.low} to {one.high}; scores "
                    f"are from 0 to {MAX_SCORE}"
                )

    @property
    def dimensions(self) -> tuple[str, ...]:
        return tuple(one.name for one in self.fields if one.kind != "text")

    @property
    def prompt_hash(self) -> str:
        return digest(self.wording)[:12]

    @property
    def schema(self) -> dict[str, Any]:
        return {
            "type": "object",
            "properties": {one.name: one.schema for one in self.fields},
            "required": [one.name for one in self.fields],
            "additionalProperties": False,
        }

    def without_asking(self, case: JudgeInput) -> Verdict | None:
        """An empty prediction scores 0 on everything; None for any other."""
        text = plain(case.prediction) if self.listens else case.prediction
        if as_data(text) if self.quotes else text.strip():
            return None
        return Verdict(dict.fromkeys(self.dimensions, 0.0), "The prediction is empty.")

    def prompt(self, case: JudgeInput) -> str:
        """The words that the judge is given; JudgeError where there are none for this case."""
        if self.listens:
            case = replace(case, prediction=plain(case.prediction))
        with plugin_failures(f"{case.sample_id}: the prompt of contract {self.name!r}", JudgeError):
            return self.assemble(case.quoted() if self.quotes else case)

    def prompt_again(self, case: JudgeInput, problem: str) -> str:
        names = ", ".join(one.name for one in self.fields)
        form = f"with one JSON object that has exactly these fields: {names}"
        if self.reader is not None:
            form = "in the form that was asked for"
        why = f"Your last reply could not be used: {problem}. Reply again {form}."
        return f"{self.prompt(case)}\n\n{why}"

    def parse(self, text: str) -> Verdict:
        """Read a reply; ReplyError says how it does not satisfy the contract."""
        if len(text) > LONGEST_REPLY:
            raise ReplyError(f"the reply is longer than {LONGEST_REPLY:,} characters")
        said = without_thoughts(text, self.wording) if self.quotes else text
        if said is None:
            raise ReplyError("the reply ends before its thinking does")
        if self.reader is not None:
            try:
                verdict = self.reader(said)
                return Verdict(self._scores(verdict.scores), storable(str(verdict.reasoning or "")))
            except ReplyError:
                raise
            except (Exception, SystemExit) as error:  # a plug-in may raise anything
                why = f"({failure_words(error)}){failure_place(error)}"
                raise ReplyError(f"the reply could not be read {why}") from error
        names = {fold_key(one.name): one.name for one in self.fields}
        found = find_objects(said, lambda name: names.get(fold_key(name), fold_key(name)))
        if not found.objects:
            raise ReplyError("there is no JSON object in the reply")
        said_why = [{REASONING: one.pop(REASONING)} for one in found.having((REASONING,))]
        scored = found.having(self.dimensions) or found.objects
        verdicts = [self._checked(({}, *said_why[:1])[-1] | one) for one in scored]
        # What else an object has does not matter, unless it takes the scores back.
        back = [one[key] for one in scored for key in one if _TAKES_BACK.search(key)]
        again = FoundObjects(back, is_cut=False).having(self.dimensions)
        verdicts += map(self._checked, again)
        if any(one.scores != verdicts[0].scores for one in verdicts):
            raise ReplyError("there are JSON objects that contradict each other")
        note = "the reply was cut off after its scores" if found.is_cut else verdicts[0].note
        return replace(verdicts[0], truncated=found.is_cut, note=note)

    def _scores(self, values: Mapping[str, Any]) -> dict[str, float]:
        return {one.name: one.score(values[one.name]) for one in self.fields if one.kind != "text"}

    def _checked(self, values: Mapping[str, Any]) -> Verdict:
        """The verdict of an object; missing words and fields that nobody asked for are noted."""
        known = {one.name for one in self.fields}
        missing = [one for one in self.fields if one.required and one.name not in values]
        for one in missing:
            if one.kind != "text":
                raise ReplyError(f"the field {one.name} is missing")
        scores, words = self._scores(values), values.get(REASONING) or ""
        odd = [f"without {one.name}" for one in missing]
        odd += [f"with {shown(x)}, which nobody asked for" for x in values if x not in known]
        note = f"the reply came {', '.join(odd)}" if odd else None
        words = words if isinstance(words, str) else json.dumps(words, ensure_ascii=False)
        return Verdict(scores, words.strip(), note)


def with_shuffled_references(contract: Contract) -> Contract:
    """The same contract, with references in an order that is not their own where there is one."""

    def assemble(case: JudgeInput) -> str:
        references = shuffled(case.references, case.sample_id)
        return contract.assemble(replace(case, references=references))

    made_with = (*contract.made_with, ("references", "shuffled"))
    return replace(contract, assemble=assemble, made_with=made_with)


def shuffled(references: tuple[str, ...], seed: str) -> tuple[str, ...]:
    """Another order, the same for the same seed; all alike have only one."""
    if len(set(references)) < 2:
        return references
    lot, order = random.Random(f"references of {seed}"), list(references)
    while tuple(order) == references:
        lot.shuffle(order)
    return tuple(order)


def as_data(text: str) -> str:
    """Make text safe to be put between typographic quotes on one line of a prompt."""
    lines = (line.strip() for line in text.replace("\t", " ").splitlines())
    one_line = " ".join(line for line in lines if line)
    if not one_line.isprintable():
        one_line = "".join(one for one in one_line if unicodedata.category(one) not in _INVISIBLE)
    harmless = _DOUBLED_SINGLE_QUOTES.sub('"', one_line.translate(_HARMLESS))
    harmless = _TURN_MARK.sub(r"(\1)", harmless).strip()
    return harmless if len(harmless) <= LONGEST else harmless[:LONGEST] + "…"


def fill(template: str, **values: str) -> str:
    """Put values in the place of ``{names}``, once: what a value contains is never a name."""
    return re.sub(r"\{(\w+)\}", lambda found: values.get(found[1], found[0]), template)
