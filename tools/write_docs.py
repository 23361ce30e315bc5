"""Writes what the documentation has from the program itself: ``make docs``.

docs/cli.md is made of the commands; the tables of docs/table1.md, docs/elements.md,
docs/preference.md, docs/install.md and docs/benchmarks/file.md stand between marks. A test holds
that all are current.
"""

import json
import os
import re
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args, get_origin

import typer

from audiocapbench.benchmarks.benchmark_file import (
    published_results,
    read_benchmark_file,
    shelf,
)
from audiocapbench.cli.app import EXIT_CODES, app, examples, load_commands
from audiocapbench.engine.budget import question_cost, thoughts
from audiocapbench.judges.contract import JudgeInput
from audiocapbench.judges.elements import Elements
from audiocapbench.judges.published import audiocapbench_contract
from audiocapbench.library.doctor import EXTRAS
from audiocapbench.models.registry import create_model, price_of

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
WEIGHTS = ROOT / "src/audiocapbench/metrics/preference/weights"
FIGURES = ["people's pairs", "BRACE voted", "BRACE set", "BRACE hallucination", "worst attack"]
JUDGE = "openai/gpt-4.1"
_KEYS = ("OPENAI_API_KEY", "GEMINI_API_KEY")

# Of the published lists: seconds of a clip on average, and how many captions it has.
_SECONDS = {"Clotho": (23.18, 5), "AudioCaps": (9.86, 5), "MusicCaps": (10.0, 1), "Emo": (4.77, 1)}
_QUESTION = "word" * 60  # of about so many tokens
_ANSWER_TOKENS, _TOKENS_A_SECOND, _FIRST_TOKEN_S, _AT_ONCE = 120, 50, 2, 8

_DOG = "A dog barks loudly while a man speaks."
_READ_WELL = (
    (_DOG, "A man talks and a dog barks.", "other words for the same"),
    (_DOG, "A dog barks.", "something left out"),
    (_DOG, "A dog barks while a man speaks and a train passes.", "something invented"),
    (_DOG, "A dog barks softly while a man speaks.", "a wrong attribute"),
    ("A dog barks, then a door slams.", "A door slams, then a dog barks.", "the order turned"),
    (_DOG, "There is no dog.", "what is there denied"),
    (_DOG, "A sound is heard.", "nothing said"),
    (_DOG, "dog, barks, man, speaks, loudly", "key words, no sentence"),
    (_DOG, "A dog barks. A dog barks.", "said twice"),
)
_READ_BADLY = (
    ("A man laughs while a woman speaks.", "A woman laughs while a man speaks.", "who does what"),
    ("Someone walks on gravel.", "Footsteps crunch over small stones.", "a free paraphrase"),
    ("Rain falls on a tin roof.", "Water drums against metal sheets overhead.", "an image"),
    ("A crowd cheers at a stadium.", "The home team has just scored.", "what follows from it"),
    ("A car engine starts.", "A car engine fails to start.", "a negation without a negative word"),
    ("The speaker is not angry.", "The speaker is calm.", "a denial said as its opposite"),
    ("A man plays the bass.", "A man catches a bass.", "two senses of a word"),
)


def main() -> None:
    """Write the pages."""
    for path, text in pages().items():
        path.write_text(text, encoding="utf-8")


def pages() -> dict[Path, str]:
    """Each page that has something computed, as it must be today."""
    names = ("table1", "elements", "preference", "install", "benchmarks/file")
    table1, elements, preference, install, file = (DOCS / f"{name}.md" for name in names)
    return {
        DOCS / "cli.md": "\n".join(_cli()) + "\n",
        table1: _filled(table1, costs=_costs(), seconds=_seconds()),
        elements: _filled(elements, well=_verdicts(_READ_WELL), badly=_verdicts(_READ_BADLY)),
        preference: _filled(preference, **_preference()),
        install: _filled(install, extras=_extras()),
        file: _filled(file, shelf=_shelf()),
    }


def _shelf() -> list[str]:
    lines = [
        "| name | what it is | licence | missing on the hub | facts |",
        "|---|---|---|---|---|",
    ]
    for name, path in shelf().items():
        one = read_benchmark_file(path)
        known = "verified" if one.verified else "unverified"
        cells = (f"`{name}`", one.about, one.licence, one.missing or "–", f"{known}: {one.facts}")
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def _extras() -> list[str]:
    rows = [
        f"| `{name}` | {brings} | {', '.join(modules)} |"
        for name, (brings, *modules) in EXTRAS.items()
    ]
    return ["| extra | brings | modules |", "|---|---|---|", *rows]


def _filled(page: Path, **computed: list[str] | str) -> str:
    """The page with its tables, between marks on lines of their own, and its figures in prose."""
    text = page.read_text(encoding="utf-8")
    for name, lines in computed.items():
        if isinstance(lines, str):
            text = re.sub(rf"(<!-- {name} -->)[^<]*(?=<!-- /{name} -->)", rf"\g<1>{lines}", text)
            continue
        begin, end = f"<!-- {name}: begin -->\n", f"<!-- {name}: end -->"
        before, _, rest = text.partition(begin)
        text = before + begin + "\n".join(lines) + "\n" + end + rest.partition(end)[2]
    return text


class Cost(NamedTuple):
    """What 1,000 questions to a model take."""

    model: str
    usd: float
    minutes: float
    as_of: str


def costs() -> list[Cost]:
    """Dollars and minutes of each model of the paper, by rank, and of its judge last."""
    results, groups = _published()
    given = {key: os.environ.setdefault(key, "none") for key in _KEYS}
    try:
        found = [
            _cost(row.model, [(count, seconds, _QUESTION) for count, seconds, _, _ in groups])
            for row in results.rows
        ]
        judged = [(count, 0.0, _prompt(row, several)) for count, _, several, row in groups]
        return [*found, _cost(JUDGE, judged)]
    finally:
        for key in [key for key, value in given.items() if value == "none"]:
            del os.environ[key]


def _published() -> tuple[Any, list[tuple[int, float, int, Any]]]:
    """The paper's results, and of each source samples, seconds, captions and its row."""
    results = published_results("audiocapbench")
    if results is None:
        raise LookupError("the paper's results are not in the package")
    return results, [
        (row["samples"], *next(own for name, own in _SECONDS.items() if name in row["source"]), row)
        for row in results.composition
    ]


def _cost(name: str, questions: list[tuple[int, float, str]]) -> Cost:
    model, price = create_model(name), price_of(name)
    if price is None:
        raise LookupError(f"{name} has no price")
    usd = sum(
        count * question_cost(price, model, seconds, text).likely_usd
        for count, seconds, text in questions
    )
    written = (_ANSWER_TOKENS + thoughts(model)) / _TOKENS_A_SECOND
    asked = sum(count for count, _, _ in questions)
    minutes = asked / _AT_ONCE * (_FIRST_TOKEN_S + written) / 60
    return Cost(name, usd, minutes, f"{price.as_of}")


def _prompt(row: Any, several: int) -> str:
    """What the judge reads about a clip of this source, by the lengths of its captions."""
    caption = ("word " * row["caption_chars"])[: row["caption_chars"]]
    answer = "word " * _ANSWER_TOKENS
    return audiocapbench_contract().prompt(
        JudgeInput("", answer, (caption,) * several, row["category"])
    )


def _costs() -> list[str]:
    made = costs()
    rows = [
        f"| {'' if one.model == JUDGE else rank} | `{one.model}` | {one.usd:.2f} | "
        f"{one.minutes:.0f} | {one.as_of} |"
        for rank, one in enumerate(made, start=1)
    ]
    total = f"| | all 13, each judged | {_total(made):.2f} | | |"
    return ["| rank | model | USD | minutes | price of |", "|---:|---|---:|---:|---|", *rows, total]


def _seconds() -> str:
    """How long all clips of the paper are."""
    return f"{sum(count * seconds for count, seconds, _, _ in _published()[1]):,.0f}"


def _total(made: list[Cost]) -> float:
    *models, judge = made
    return sum(one.usd for one in models) + len(models) * judge.usd


def _verdicts(examples: tuple[tuple[str, str, str], ...]) -> list[str]:
    judge = Elements()
    rows = []
    for reference, answer, what in examples:
        scores = judge.judge(answer, [reference], "sound", None).scores.values()
        numbers = " | ".join(f"{score:.1f}" for score in scores)
        rows.append(f"| {what} | {reference} | {answer} | {numbers} |")
    head = "| | reference | answer | accuracy | completeness | hallucination |"
    return [head, "|---|---|---|---:|---:|---:|", *rows]


def _cli() -> Iterator[str]:
    load_commands()
    yield "# Command line"
    yield ""
    yield "Made from the commands by `make docs`. Every command has `--help`, which says the same."
    yield ""
    yield EXIT_CODES
    root = typer.main.get_command(app)
    context = typer.Context(root, info_name="audiocapbench")
    for name in root.list_commands(context):  # type: ignore[attr-defined]
        yield from _command(root.commands[name], f"audiocapbench {name}", 2)  # type: ignore[attr-defined]


def _command(command: Any, name: str, level: int) -> Iterator[str]:
    arguments = [one for one in command.params if one.param_type_name == "argument"]
    options = [one for one in command.params if one.param_type_name == "option" and not one.hidden]
    words = [name, *(_argument(one) for one in arguments), *(["[OPTIONS]"] if options else [])]
    yield from ("", f"{'#' * level} {name}", "", "```text", " ".join(words), "```", "")
    yield from (" ".join(part.split()) + "\n" for part in (command.help or "").split("\n\n"))
    yield from ("```text", *examples(command, name.partition(" ")[2]), "```", "")
    if arguments or options:
        yield from ("| | |", "|---|---|")
    for one in arguments:
        yield f"| `{_argument(one).strip('[].')}` | {_cell(one.help or '')} |"
    for one in options:
        yield f"| {_names(one)} | {_cell(_meaning(one))} |"
    told: dict[str, str] = {}
    for sub, found in sorted(getattr(command, "commands", {}).items()):
        made = list(_command(found, f"{name} {sub}", level + 1))
        table = "\n".join(made[made.index("| | |") :]) if "| | |" in made else sub
        if (alike := told.setdefault(table, sub)) != sub:
            made[made.index("| | |") :] = [f"Options are those of `{name} {alike}`."]
        yield from made


def _argument(one: Any) -> str:
    name = (one.metavar or one.name.upper()).strip("[].")
    many = "…" if one.nargs == -1 else ""
    return f"{name}{many}" if one.required else f"[{name}{many}]"


def _names(one: Any) -> str:
    names = [*one.opts, *one.secondary_opts]
    if one.is_flag or one.count:
        return ", ".join(f"`{name}`" for name in names)
    kind = one.type_descriptor.annotation
    choices = (
        get_args(kind) if get_origin(kind) is Literal else list(kind) if _is_enum(kind) else ()
    )
    written = one.metavar or "\\|".join(str(getattr(one, "value", one)) for one in choices)
    metavar = written or {int: "N", float: "X"}.get(kind, "TEXT")
    return ", ".join(f"`{name} {metavar}`" for name in names)


def _is_enum(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, Enum)


def _meaning(one: Any) -> str:
    notes = ["required"] if one.required else []
    notes += ["may be repeated"] if one.multiple else []
    default = ",".join(one.default) if isinstance(one.default, list) else one.default
    plain = isinstance(default, str | int | float | Path) and not isinstance(default, bool)
    if plain and "[default:" not in (one.help or ""):
        notes.append(f"default: `{default}`")
    notes += [f"environment: `{one.envvar}`"] if one.envvar else []
    return f"{one.help or ''}{' (' + '; '.join(notes) + ')' if notes else ''}"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|").replace("[", "\\[").replace("<", "&lt;")


def _preference() -> dict[str, list[str] | str]:
    """Weights of the blends and what was measured, from the files that hold both."""
    made, contrast = (
        json.loads((WEIGHTS / name).read_text("utf-8")) for name in ("blend.json", "contrast.json")
    )
    for part in ("weights", "figures"):
        plain = {f"{kind}`, `contrast=none": own for kind, own in made[part].items()}
        made[part] = contrast[part] | plain
    names = list(dict.fromkeys(name for own in made["weights"].values() for name in own))
    weights = [
        [f"`{kind}`", *(f"{own[name]:.3f}" if name in own else "–" for name in names)]
        for kind, own in made["weights"].items()
    ]
    study = [
        [f"`{kind}`", which, *_figures(own)]
        for kind, figures in made["figures"].items()
        for which, own in figures.items()
    ]
    kinds = list(next(iter(next(iter(made["categories"].values())).values())))
    categories = [
        [name, f"`{metric}`", *(f"{own[kind]:.1f}" for kind in kinds)]
        for name, metrics in made["categories"].items()
        for metric, own in metrics.items()
    ]
    sets = {"": "caption2vec", "-none": "caption2vec`, `contrast=none", "-minilm": "minilm"}
    own = {name: made["figures"][kind]["all features"] for name, kind in sets.items()}
    return {
        **{f"people{name}": f"{one[FIGURES[0]]['all']:.1f}" for name, one in own.items()},
        **{f"voted{name}": f"{one[FIGURES[1]]:.1f}" for name, one in own.items()},
        "weights": _table(["encoder"], names, weights),
        "study": _table(["encoder", "features"], FIGURES, study),
        "categories": _table(["set", "metric"], kinds, categories),
    }


def _figures(own: dict[str, Any]) -> list[str]:
    people = own["people's pairs"]
    low, high = people["interval"]
    attack, loss = min(own["mean loss by attack"].items(), key=lambda one: one[1])
    shares = [f"{own[name]:.1f}" for name in FIGURES[1:4]]
    return [f"{people['all']:.1f} ({low:.1f}–{high:.1f})", *shares, f"{loss:+.3f} {attack}"]


def _table(words: list[str], numbers: list[str], rows: list[list[str]]) -> list[str]:
    """Lines of a table, numbers to the right."""
    marks = ["---"] * len(words) + ["---:"] * len(numbers)
    return [f"| {' | '.join(row)} |" for row in ([*words, *numbers], marks, *rows)]


if __name__ == "__main__":
    main()
