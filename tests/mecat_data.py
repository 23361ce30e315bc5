"""Small made-up MECAT references: clips of every domain, whose captions say what they hold."""

import json
from pathlib import Path
from typing import Any

from audiocapbench.benchmarks.mecat.groups import DIFFICULTIES, DOMAINS, QA_CATEGORIES, SUBTASKS

_THINGS = "kettle violin tractor thunder parrot hammer engine flute crowd river saw bell".split()
_PLACES = "kitchen forest station cellar stadium harbour".split()
_MARKS = {"speech": "S", "music": "M", "sound": "A"}


def captions(domain: str, number: int, things: int = 0) -> dict[str, Any]:
    """The fields of one clip; what its domain lacks is None in the first caption."""
    thing = _THINGS[(number + things) % len(_THINGS)]
    place = _PLACES[(number * 5 + things) % len(_PLACES)]
    fields: dict[str, Any] = {}
    for subtask in SUBTASKS:
        if _MARKS.get(subtask, domain) in domain:
            fields[subtask] = [
                f"The {subtask} of a {thing} in a {place}, take {number}.",
                f"A {thing} in the {place} is heard in the {subtask}, {number} times.",
            ]
        else:
            fields[subtask] = ["None", f"No {subtask} can be heard here."]
    return fields | {"domain": domain}


def clips(count: int = 6, domains: tuple[str, ...] = tuple(DOMAINS)) -> dict[str, dict[str, Any]]:
    """So many clips of each domain by key."""
    return {
        f"clip_{domain}_{number}": captions(domain, number, place)
        for place, domain in enumerate(domains)
        for number in range(count)
    }


def questions(count: int = 6, domains: tuple[str, ...] = tuple(DOMAINS)) -> dict[str, Any]:
    """Six questions, one of each kind, about so many clips of each domain."""
    difficulties = list(DIFFICULTIES)
    return {
        f"clip_{domain}_{number}_{place:08x}": {
            "category": category,
            "difficulty": difficulties[(number + place) % len(difficulties)],
            "question": f"What is number {place} about {_THINGS[number % len(_THINGS)]}?",
            "answer": f"A {_THINGS[(number + place) % len(_THINGS)]} in a {_PLACES[number % 6]}",
            "domain": domain,
        }
        for domain in domains
        for number in range(count)
        for place, category in enumerate(QA_CATEGORIES)
    }


def write_references(root: Path, kind: str, entries: dict[str, dict[str, Any]]) -> Path:
    """Entries as published: a folder for the kind, a file a domain, an object a line."""
    folder = root / f"{kind}_test"
    folder.mkdir(parents=True, exist_ok=True)
    by_domain: dict[str, list[str]] = {}
    for key, fields in entries.items():
        by_domain.setdefault(fields["domain"], []).append(json.dumps({key: fields}))
    for domain, lines in by_domain.items():
        (folder / f"{domain}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return root
