"""The self-test: errors of our own, planted in the annotations at hand, and what the rules catch.

``planted.toml`` has them by class, in wordings that vary, and texts that look alike and are none.
"""

import random
import re
from collections.abc import Mapping, Sequence
from typing import Any

from audiocapbench.annotate.rules import RULES, ClipCase
from audiocapbench.annotate.stage import NONE
from audiocapbench.metrics.shipped import read_lists
from audiocapbench.stats.shares import clopper_pearson

LEAST_CAUGHT, MOST_LOST = 0.9, 0.03
"""The bar below which nothing is published unless somebody accepts it."""

OTHER_CLIP = "another clip's captions"
_TRIALS, _LONG = 24, 960
_CHOICE = re.compile(r"\{([^{}]*\|[^{}]*)\}")


def self_test(
    cases: Sequence[ClipCase], seed: int, others: Sequence[bool] = ()
) -> list[dict[str, Any]]:
    """How many of each class were planted in annotations that pass, and how many caught.

    ``others`` says of captions that were given to another clip whether the filter caught them.
    """
    lists: Any = read_lists("audiocapbench.annotate", "planted.toml")
    # Neither kind is of the clip: to be unlike its captions says nothing of a rule.
    rows, tried = [], [rule for name, rule in RULES.items() if name != "likeness"]
    for name, own in lists["classes"].items():
        draw, found = random.Random(f"{seed} {name}"), dict[str, list[bool]]()
        fit = [one for one in cases if _fits(one, own["place"])]
        for kind in ("errors", "alike"):
            texts = [own[kind][n % len(own[kind])] for n in range(_TRIALS) if fit and own[kind]]
            made = (_planted(draw.choice(fit), own["place"], text, draw, lists) for text in texts)
            found[kind] = [any(any(rule(one)) for rule in tried) for one in made]
        rows.append(_row(name, found["errors"], found["alike"]))
    return [*rows, _row(OTHER_CLIP, others or [False] * bool(cases), [])]


def _fits(case: ClipCase, place: str) -> bool:
    needed = {"no speech": "S" not in case.domain, "no music": "M" not in case.domain}
    return needed.get(place, place != "absent" or NONE in case.annotation.captions["speech"])


def _row(name: str, caught: Sequence[bool], lost: Sequence[bool]) -> dict[str, Any]:
    hits, false = sum(caught), sum(lost)
    row = {"class": name, "planted": len(caught), "caught": hits, "alike": len(lost), "lost": false}
    for part, total in (("recall", len(caught)), ("precision", hits + false)):
        ends = list(clopper_pearson(hits, total)) if total else None
        row |= {part: hits / total if total else None, f"{part}_ci": ends}
    return row


def _planted(
    case: ClipCase, place: str, text: str, draw: random.Random, lists: Mapping[str, Any]
) -> ClipCase:
    made, title = case.annotation.model_copy(deep=True), draw.choice(lists["titles"])
    asked = draw.choice(made.questions)
    views = [own for own in made.captions.values() if (own[0] == NONE) == (place == "absent")]
    views = [made.captions["long"], made.captions["short"]] if place.startswith("no ") else views
    view, number = draw.choice(views), draw.randrange(1 if place == "absent" else 0, 3)
    words = {"caption": view[number], "answer": asked["answer"].rstrip("."), "title": title}
    words["twice"] = f"{view[number].rstrip('.')}. {view[number]}"
    words["long"] = ", ".join([view[number].rstrip(".")] * _LONG)[:_LONG]
    while choice := _CHOICE.search(text):
        text = text.replace(choice[0], draw.choice(choice[1].split("|")), 1)
    text = re.sub(r"\{(\w+)\}", lambda found: words[found[1]], text)
    where: dict[str, list[tuple[Any, Any]]]
    where = {"answer": [(asked, "answer")], "question": [(asked, "question")]}
    where["answers"] = [(one, "answer") for one in made.questions]
    where["views"] = [(own, number) for own in views]
    for whole, part in where.get(place, [(view, number)]):
        whole[part] = text
    return case._replace(annotation=made, about={**case.about, "title": title})


def below_bar(rows: Sequence[Mapping[str, Any]]) -> str:
    """What of the self-test is below the bar, in words; nothing where it is above."""
    caught = [one["recall"] for one in rows if one["planted"]]
    alike, lost = (sum(one[name] for one in rows) for name in ("alike", "lost"))
    if not caught:
        return "its checks were not tried; run 'annotate check' again"
    recall = sum(caught) / len(caught)
    if recall >= LEAST_CAUGHT and lost <= MOST_LOST * alike:
        return ""
    of_good = f"lose {lost:,} of {alike:,} good ones"
    return f"its checks catch {recall:.0%} of planted errors and {of_good}"
