"""Replies of a language model that merges, as good and as bad as tests need them."""

import json
import re
from typing import Any

from fakes.http_server import Request

SOUNDS = (
    "barking dog,ringing bell,running tap,passing train,crackling fire,singing robin,slamming door,"
    "ticking clock,howling wind,revving engine,buzzing bee,splashing wave"
).split(",")
PLACES = (
    "in a yard,by a river,on a hill,at a harbour,in a church,near a road,under a bridge,"
    "in a cellar,on a beach,at a market,in a forest,behind a wall"
).split(",")
ABSENT = {
    "speech": ["None", "No one speaks.", "Speech is absent."],
    "music": ["None", "There is no music.", "Music is absent."],
    "sound": ["None", "No other sound is heard.", "Sound events are absent."],
}
_PRESENT = {
    "speech": ["A calm voice near a {}", "A voice by a {} talks", "Somebody speaks beside a {}"],
    "music": ["A soft tune near a {}", "Gentle music by a {}", "A quiet melody beside a {}"],
    "sound": ["A {} is heard", "One hears a {}", "There is a {}"],
}
_LEVELS = ("basic", "intermediate", "advanced", "complex", "intermediate")
_KINDS = (
    "direct perception,sound characteristics,environmental perception,quality assessment,"
    "inference judgment"
).split(",")


def good_fields(number: int, domain: str) -> dict[str, Any]:
    """A whole annotation of the clip of a number, in appendix D's fields."""
    sound, place = SOUNDS[number % len(SOUNDS)], PLACES[number % len(PLACES)]
    own: dict[str, list[str]] = {
        "Short": [f"A {sound} outdoors", f"Outdoor {sound}", f"Outside, a {sound}"],
        "Main": [
            f"A {sound} {place}.",
            f"There is a {sound} {place}.",
            f"{place.capitalize()}, a {sound}.",
        ],
        "Environment": [
            "A clean recording",
            "The recording is clean",
            "The recording is free of noise",
        ],
    }
    for letter, view in zip("SMA", ("speech", "music", "sound"), strict=True):
        texts = [one.format(sound) for one in _PRESENT[view]]
        own[view.capitalize()] = texts if letter in domain else ABSENT[view]
    fields: dict[str, Any] = {
        "Confidence": "High",
        "Possible Conflicts": "None",
        "Reasoning": "The experts agree.",
    }
    for name, texts in own.items():
        keys = (f"{name}-Caption", *(f"{name}-Caption-Variants-{n}" for n in (1, 2)))
        fields |= dict(zip(keys, texts, strict=True))
    for n, (level, kind) in enumerate(zip(_LEVELS, _KINDS, strict=True), 1):
        head = f"QA-Pair-{n}"
        fields |= {f"{head}-id": str(n), f"{head}-difficulty": level, f"{head}-category": kind}
        fields |= {f"{head}-question": f"What is heard at moment {n}?"}
        fields |= {f"{head}-answer": f"At moment {n} it is a {sound}."}
    return fields


def reply(fields: dict[str, Any]) -> str:
    """The fields as a chatty model writes them."""
    return f"Here is my analysis:\n```json\n{json.dumps(fields, indent=1)}\n```\nI hope it helps."


def asked_about(request: Request) -> tuple[int, str, bool]:
    """The number of the clip that a request is about, its domain, and whether it is a repair."""
    text = json.dumps(request.json["messages"])
    number = re.search(r"clip (\d+)", text)
    domain = re.search(r'\\"domain\\": \\"(\w+)\\"', text.replace('\\\\\\"', '\\"'))
    assert number
    assert domain
    return int(number[1]), domain[1], "You have answered this before" in text
