"""``audiocapbench corrupt``: new trials from any caption set, and proof that they give no hint."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from audiocapbench.asking import ModelOptions
from audiocapbench.cli import options
from audiocapbench.cli.app import app
from audiocapbench.cli.console import say, show_result
from audiocapbench.errors import AudioCapBenchError, check_known
from audiocapbench.table import Column, Findings, Table, ValueWithInterval

if TYPE_CHECKING:
    from audiocapbench.meta.corrupt.captions import CaptionSet
    from audiocapbench.meta.corrupt.make import Check, CorruptionResult

_FEW = 0.25  # of captions: below, it is said how many can be changed at all
_KINDS = {
    "noun": "one thing for another",
    "attribute": "the opposite quality, another number or time",
}
_ALL, _SAID = ",".join(_KINDS), "; ".join(f"{name}: {one}" for name, one in _KINDS.items())


@options.command(app.command)
def corrupt(
    captions: Path,
    *,
    out: options.NewFile,
    kinds: Annotated[str, Option(metavar="A,B", help=f"What to change. {_SAID}.")] = _ALL,
    per_kind: Annotated[int | None, Option(min=2)] = None,
    seed: int = 42,
    check: Annotated[bool, Option("--check/--no-check")] = True,
    model: str | None = None,
    session: options.Session,
    json: bool = False,
) -> None:
    """Make pairs of a caption as a person wrote it and one that was made wrong.

    One false caption of every caption that has one which reads as well: what words alone could
    tell is left out. 'audiocapbench meta csv' then shows which scorers can tell them apart.

    Args:
        captions: CSV with id,reference, a row a reference; JSONL with id and references; or a
            dataset folder.
        out (FILE): Pairs as .csv, .tsv or .jsonl, or .json in BRACE-Hallucination's form.
        per_kind (N): Most pairs of a kind. [default: one of every caption that has one]
        check: Also train a classifier on the words of half of the pairs, and try it on the rest.
        model (MODEL): Have a language model make false captions beside the rules, and check all.
    """
    from audiocapbench.cli.progress import carry_out
    from audiocapbench.meta.corrupt import by_model, make
    from audiocapbench.meta.corrupt.captions import read_captions
    from audiocapbench.meta.scorers.scorer import TrialSettings
    from audiocapbench.models import create_model
    from audiocapbench.plan import TaskPlan

    make.check_form(out)
    options.refuse_overwriting(out, [captions, *session.files])
    names = [name.strip() for name in kinds.split(",") if name.strip()]
    for name in names or [kinds]:
        check_known("kind", name, _KINDS, AudioCapBenchError)
    chosen = [kind for name in dict.fromkeys(names) for kind in make.RULES if kind == name]
    wanted = make.CorruptionSettings(chosen, per_kind, seed, captions.resolve().stem)
    captioned = read_captions(captions)
    if model is None:
        results = make.make_pairs(captioned, wanted)
    else:
        how = session.asking()
        asked = create_model(model, how.model_settings(ModelOptions()))
        settings = TrialSettings(store_url=session.store, **vars(how))
        plan = TaskPlan(
            how,
            lambda: by_model.preview_by_model(captioned, asked, settings, wanted),
            lambda host: by_model.make_by_model(
                captioned, asked, replace(settings, progress=host.advance), wanted
            ),
        )
        results = carry_out(plan, yes=session.yes)
    total = sum(len(one.pairs) for one in results)
    if not total:
        raise AudioCapBenchError(
            f"{captions}: no pair could be made of its {captioned.total:,} captions; "
            "the rules need English captions of sounds, and several of them"
        )
    make.write_pairs(out, results)
    checked = make.check_words([pair for one in results for pair in one.pairs], seed, train=check)
    show_result(_findings(out, captioned, results, checked), json=json)
    if not json:
        say("Accuracy of scorers that never hear the clip, in percent; 50 is chance, a tie half.")
        refused = [(one.kind, *why) for one in results for why in sorted(one.rejected.items())]
        say(*(f"{kind}: {count} refused: {reason}" for kind, reason, count in refused))
        for one in results:
            made = len(one.pairs)
            share, able = made / one.captions, (made + one.left_out) / one.captions
            if share < _FEW:
                say(
                    f"{one.kind}: {share:.1%} of captions, because {able:.1%} hold what can be "
                    "made false for sure, and what is put in has to be taken out as often."
                )
        say(f"{total:,} pairs written to {out}.")
    for line in make.warnings(checked):
        say(f"Warning: {line}.")


def _findings(
    out: Path, captions: "CaptionSet", results: "list[CorruptionResult]", checked: "Check"
) -> Findings:
    from audiocapbench.meta.corrupt.make import control_facts, warnings

    kinds: dict[str, dict[str, Any]] = {
        one.kind: {
            "made": len(one.pairs),
            "share": len(one.pairs) / max(1, one.captions),
            "not_applicable": one.captions - len(one.pairs) - one.left_out,
            "left_out": one.left_out,
            "able": len(one.pairs) + one.left_out,
            "rejected": dict(one.rejected),
        }
        for one in results
    }
    names = list(dict.fromkeys(name for figures in checked.values() for name in figures))
    rows = []
    for group in [*kinds, "all"]:
        row: dict[str, Any] = {"kind": group, **kinds.get(group, {})}
        for name in names:
            figure = checked.get(group, {}).get(name)
            row[name] = figure and ValueWithInterval(figure.accuracy, figure.interval)
        rows.append(row)
    columns = [
        *(Column("kind"), Column("made")),
        Column("share", "of captions", ".0%"),
        *(Column("not_applicable"), Column("left_out")),
        *(Column(name, name, ".1f") for name in names),
    ]
    controls, trained = control_facts(checked)
    facts = {"pairs": str(out), "captions": captions.total, "kinds": kinds}
    facts |= {"n": sum(len(one.pairs) for one in results), "controls": controls, "trained": trained}
    facts["warnings"] = warnings(checked)
    return Findings([Table("", rows, columns)], facts)
