"""The silence probe: how many answers about silent clips claim speech, music or sound events.

Claims are found by rules, not by a model: they are the same for everybody and can be looked into.
They read English; denials are no claims.
"""

import re
from collections.abc import Sequence
from functools import cache, partial
from typing import Any

from audiocapbench.benchmarks.mecat.groups import QA, SUBTASKS
from audiocapbench.errors import ReportError
from audiocapbench.metrics.negation import NegationRules, find_denials
from audiocapbench.metrics.shipped import patterns, read_lists, word_set
from audiocapbench.report.mecat.answers import NOTES, QA_SUBTASK, AnswerSet
from audiocapbench.stats.shares import clopper_pearson
from audiocapbench.table import Column, Findings, Row, Table

KINDS = ("speech", "music", "sound")
LONGEST_READ = 20_000
"""Letters of an answer that are read; a claim that comes later is no longer about ten seconds."""

_LISTS = ("audiocapbench.report.mecat", "claims.toml")
_FEW = 4
_P = patterns(*_LISTS)
# What takes the place of a quotation or a phrase: what it claims, and how it is shown.
_MARKS = {
    "quotedwords": ("speech", "quoted words"),
    "toldwords": ("speech", "told words"),
    "soundevent": ("sound", "sound event"),
}
_QUOTED, _TOLD, _EVENT = _MARKS


def claims(text: str) -> dict[str, str]:
    """What a text claims to be audible, and because of which words, in the order of ``KINDS``."""
    found: dict[str, str] = {}
    # Lower case, with quotations and phrases as one word each.
    lowered = _P["not_only"].sub(" ", _P["quote"].sub(_quotation, text[:LONGEST_READ]).lower())
    prepared = _P["sound"].sub(f" {_EVENT} ", _P["speech"].sub(f" {_TOLD} ", lowered))
    for sentence in _P["sentence"].split(prepared):
        words = _P["token"].findall(sentence)
        for place, denier in enumerate(find_denials(words, _negation())):
            kind = _kind_at(words, place)
            if kind is not None and denier is None:
                found.setdefault(kind, _MARKS.get(words[place], ("", words[place]))[1])
    return {kind: found[kind] for kind in KINDS if kind in found}


def readable(text: str) -> bool:
    """Whether the rules can look into a text: half of its letters are Latin, or it is blank."""
    read = text[:LONGEST_READ]
    latin, letters = len(_P["latin"].findall(read)), len(_P["letter"].findall(read))
    return not read.strip() or (latin > 0 and 2 * latin >= letters)


def _quotation(found: re.Match[str]) -> str:
    """What somebody is said to have said; a quoted denial is nothing that was said."""
    said = (found[1] if found[1] is not None else found[2]) or ""
    words = _P["token"].findall(said.lower())
    denials = (_negation().negators, _negation().adjectives, {"silence"})
    empty = not words or (len(words) < _FEW and any(words[0] in one for one in denials))
    # A full stop within the quotation ends the sentence around it as well.
    return f" {'' if empty else _QUOTED} {'.' if said.rstrip().endswith(('.', '!', '?')) else ''}"


def _kind_at(words: Sequence[str], place: int) -> str | None:
    """What is named at a place: "speech recognition" and "speaker hum" name no speech."""
    word = words[place]
    following, second = (*words[place + 1 : place + 3], "", "")[:2]
    # "Guitar-driven" names a guitar as much as "guitar" does.
    kinds = (_kinds().get(part) for part in (word, *word.split("-")))
    kind = _MARKS[word][0] if word in _MARKS else next(filter(None, kinds), None)
    if kind is None or following in _words("about"):
        return None
    if following in _words("between") and second in _words("about"):
        return None
    return None if word.startswith("speaker") and following in _words("loudspeaker") else kind


_words = cache(partial(word_set, *_LISTS))


@cache
def _kinds() -> dict[str, str]:
    return {word: kind for kind in KINDS for word in read_lists(*_LISTS)[kind].split()}


@cache
def _negation() -> NegationRules:
    lists: Any = read_lists(*_LISTS)["negation"]
    return NegationRules(
        **{name: frozenset(words.split()) for name, words in lists.items()},
        endings=("n't", "n’t"),
        reach=60,
        things=_kinds(),
        names=lambda words, place: _kind_at(words, place) is not None,
    )


SILENCE = "000"
ANY = "any"
_LONGEST = 300
_COLUMNS = (
    Column("id", "sample"),
    Column("subtask", "asked for"),
    Column("kinds", "claims", align="left"),
    Column("evidence", "because of", align="left"),
    Column("text", "answer", wraps=True),
)


def silence_report(given: AnswerSet, shown: int | None = None) -> Findings:
    """Look for claims in a model's answers about silent clips; tables list so many, or all."""
    silent = [one for one in given.samples if one.details.get("domain") == SILENCE]
    if not silent:
        raise ReportError(
            f"{given.name} ({given.origin}) has no answers about silent clips (domain {SILENCE})"
        )
    asked = [str(one.details.get("subtask", QA_SUBTASK)) for one in silent]
    offending: list[Row] = []
    unread: list[Row] = []
    for one, subtask in zip(silent, asked, strict=True):
        text, place = given.texts[one.id], {"id": one.id, "subtask": subtask}
        found = claims(text)
        if found:
            kinds, evidence = tuple(found), tuple(found.values())
            offending.append({**place, "kinds": kinds, "evidence": evidence, "text": text})
        elif not readable(text):
            unread.append({**place, "text": text})
    subtasks = [name for name in (*SUBTASKS, QA_SUBTASK) if name in asked]
    shares: dict[str, Row] = {}
    rows: list[Row] = []
    for name in subtasks if len(subtasks) == 1 else [*subtasks, "all"]:
        # How many answers claim something, of those that could be read; 95 % exactly.
        total = sum(name in ("all", one) for one in asked)
        lost = sum(name in ("all", one["subtask"]) for one in unread)
        own = [one["kinds"] for one in offending if name in ("all", one["subtask"])]
        claimed = {kind: sum(kind in kinds for kinds in own) for kind in KINDS} | {ANY: len(own)}
        read = total - lost
        ends = clopper_pearson(len(own), read) if read else (None, None)
        shares[name] = {
            "answers": total,
            "unread": lost,
            "claimed": claimed,
            "share": len(own) / read if read else None,
            "ci": list(ends) if read else None,
        }
        row = {"asked for": name, "low": ends[0], "high": ends[1], **shares[name]}
        rows.append(row | {kind: n / read if read else None for kind, n in claimed.items()})
    notes = [NOTES["rules"], *([NOTES["questions"]] if given.benchmark == QA else [])]
    if unread:
        notes.append(f"{len(unread):,} of {len(silent):,} answers {NOTES['unread']}")
    columns = (
        *(Column(name) for name in ("asked for", "answers", "unread")),
        *(Column(name, form="%") for name in (*KINDS, ANY)),
        Column("ci", "95 %", "{low:%}–{high:%}", folds=True),
    )
    title = f"{given.name} ({given.origin}): answers about silence that claim …"
    tables = [
        Table(title, rows, columns, notes),
        _listed("offending answers", _COLUMNS, offending, shown),
        _listed("answers that the rules cannot read", (*_COLUMNS[:2], _COLUMNS[-1]), unread, shown),
    ]
    records = [
        {
            "model": given.name,
            "id": row["id"],
            "subtask": row["subtask"],
            "claims": " ".join(row.get("kinds", ["unread"])),
            "evidence": ", ".join(row.get("evidence", ())),
            "text": row["text"],
        }
        for row in offending + unread
    ]
    document: Row = {"model": given.name, "origin": given.origin, "subtasks": shares}
    document |= {"offending": offending, "unread": unread, "notes": notes}
    return Findings(tables, document, records)


def _listed(what: str, columns: Sequence[Column], rows: Sequence[Row], most: int | None) -> Table:
    lines = [" ".join(row["text"].split()) for row in rows[:most]]
    cut = [line if len(line) <= _LONGEST else f"{line[:_LONGEST]}…" for line in lines]
    listed = [row | {"text": text} for row, text in zip(rows, cut, strict=False)]
    left = len(rows) - len(listed)
    more = [f"… and {left:,} more; --json lists them all"] * (left > 0)
    return Table(f"{len(rows):,} {what}", listed, columns, more)
