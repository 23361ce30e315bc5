"""Scorers on trial: tables for the terminal, and a self-contained page without scripts."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from audiocapbench.files import write_file
from audiocapbench.meta import trial as trying
from audiocapbench.meta.blind import measured_scores
from audiocapbench.meta.build import count_types
from audiocapbench.meta.cheat import ATTACKS, CheatTrial
from audiocapbench.meta.corrupt.make import check_words, control_facts, warnings
from audiocapbench.meta.pairs import Pairs, PairSet
from audiocapbench.meta.trial import NAMES, ORDERS, Agreement, ScorerTrial, Trials
from audiocapbench.meta.votes import one_against_rest
from audiocapbench.report.page.board import cell
from audiocapbench.report.page.drawing import Bar, draw_bars
from audiocapbench.report.page.html import source_hash
from audiocapbench.report.page.rendering import joined, render
from audiocapbench.scores.estimate import Estimate
from audiocapbench.table import (
    Column,
    Findings,
    Row,
    Table,
    ValueWithInterval,
    shown,
    signature_notes,
)
from audiocapbench.version import VERSION

_FORM = ".2f"  # as the papers print a measure
_EVEN = 50.0  # what votes at random give who always chooses
_KINDS = ("metric", "judge", "clap", "model", "control")
_READINGS = {
    "certain": "certain alone",
    "likely": "with likely ones",
    "others_wrong": "if others were wrong",
    "others_right": "if others were right",
}
_TITLES = {
    "f1": "F1",
    "accuracy": "accuracy",
    "macro_f1": "macro-F1",
    "balanced_accuracy": "balanced",
}


def trial_tables(
    tried: Trials,
    controls: Trials,
    pairs: PairSet,
    agreement: Agreement,
    person: ScorerTrial | None = None,
) -> list[Table]:
    """Tables of scorers and controls; what one person has, held to the others, stands above all."""
    trials = sorted([*tried, *controls], key=lambda one: one.score, reverse=True)
    first, people = trials[0], [person] if person else []
    tables = [_whole_table([*people, *trials])]
    orders: list[Row] = [
        {"scorer": one.scorer, "measure": _TITLES[name]}
        | {order: one.orders[order][name] for order in ORDERS}
        for one in sorted(tried, key=lambda one: one.score, reverse=True)
        if one.orders is not None
        for name in dict.fromkeys([first.headline, "accuracy"])
    ]
    if orders:
        columns = [Column(one, one, _FORM) for one in ORDERS]
        title = "Both orders; the published one is as given"
        tables.append(Table(title, orders, [Column("scorer"), Column("measure"), *columns]))
    by_reading: list[Row] = [
        {"scorer": one.scorer, **one.readings}
        for one in tried
        if one.readings and {*one.diagnostics.columns["reading"]} & {"likely", "unread"}
    ]
    if by_reading:
        columns = [Column(key, words, _FORM) for key, words in _READINGS.items()]
        measure = _TITLES[first.headline]
        title = f"{measure} by how answers were read; the published one has likely ones"
        tables.append(Table(title, by_reading, [Column("scorer"), *columns]))
    # Accuracy means the same in every group.
    groupings = {"type of pair": "type", "subtype": "subtype", "dataset": "dataset"}
    if set(first.groups["subtype"]) == set(first.groups["type"]):
        del groupings["subtype"]
    if person is not None:
        groupings["strength of the vote (votes to spare)"] = "strength"
    for words, field in groupings.items():
        groups = dict(first.groups[field])
        if person is not None and field == "strength":
            groups = dict(sorted((dict(person.groups[field]) | groups).items()))
        names = ["accuracy", *([first.headline] if field != "strength" else [])]
        for name in dict.fromkeys(names) if len(groups) > 1 else ():
            rows: list[Row] = [
                {"scorer": one.scorer}
                | {f"in {key}": one.groups[field][key][name] for key in groups if key in own}
                for one in (*people, *trials)
                for own in (one.groups[field],)
            ]
            columns = [
                Column(f"in {group}", f"{group} ({one[name].n:,})", _FORM)
                for group, one in groups.items()
            ]
            title = f"{_TITLES[name][0].upper()}{_TITLES[name][1:]} by {words}"
            tables.append(Table(title, rows, [Column("scorer"), *columns]))
    notes = _notes(tried, controls, pairs, agreement, person)
    return [*tables[:-1], replace(tables[-1], notes=notes)]


def _notes(
    tried: Trials,
    controls: Trials,
    pairs: PairSet,
    agreement: Agreement,
    person: ScorerTrial | None,
) -> list[str]:
    """What figures hang on: the order of captions, chance, who hears nothing, votes, signatures."""
    notes: list[str] = []
    for one in (*tried, *controls):
        if one.position:
            same, chosen = map(_percent, (one.position["consistency"], one.position["first"]))
            words = f"the same in both orders {same}, the caption shown first chosen {chosen}"
            notes.append(f"{one.scorer}: {words}")
    for one in (one for one in (*tried, *controls) if one.chance < _EVEN):
        without = f"no choice for {100 - 2 * one.chance:.1f} % of the pairs, which counts as wrong"
        notes.append(f"{one.scorer}: {without}: votes at random give it {one.chance:.1f} %")
    for one in tried:
        found = measured_scores(one.scorer, str(one.signature))
        words = ", ".join("{blind.value:.2f} on {corpus}".format_map(row) for row in found)
        notes += [f"{one.scorer}: a caption that hears nothing gets {words}"] if found else []
    undecided = f"; {pairs.left_out:,} left out as undecided" if pairs.left_out else ""
    notes.append(f"{(*tried, *controls)[0].n:,} pairs, captions {pairs.text}{undecided}")
    if person is not None:
        held = f"{person.n:,} votes, each held to the others on its pair"
        notes.append("; ".join([f"{person.scorer}: {held}", *person.diagnostics.notes]))
    if agreement.before.value is not None and agreement.after.value is not None:
        words = f"{agreement.before} over all votes, {agreement.after} over the pairs kept"
        notes.append(f"Fleiss' kappa: {words}")
    notes += signature_notes(one.signature for one in tried)
    return notes


def _percent(share: Estimate) -> str:
    ends = share.interval
    between = f" ({ends.low:.1f}–{ends.high:.1f})" if ends else ""
    return "–" if share.value is None else f"{share.value:.1f} %{between}"


def _whole_table(trials: Trials) -> Table:
    headline = trials[0].headline
    grades = ("certain", "likely", "read")
    shares = ("first", "second", "tie", "unknown", *grades)
    voted = any(one.voted for one in trials)
    rows: list[Row] = []
    for trial in trials:
        row: Row = {"scorer": trial.scorer, **trial.whole}
        row["voted"] = (trial.voted or trial.whole)[headline] if voted else None
        row |= {name: count / trial.n for name, count in trial.answers.items()}
        found = trial.diagnostics.columns.get("reading")
        row |= {name: found and list(found).count(name) / trial.n for name in grades}
        row["same"] = trial.position and trial.position["consistency"].value
        row["speed"] = trial.n / trial.seconds if trial.seconds > 0.001 else None
        rows.append(row)
    # All measures, the published one first.
    measures = [Column(one, _TITLES[one], _FORM) for one in dict.fromkeys([headline, *NAMES])]
    columns = [
        Column("scorer"),
        measures[0],
        Column("voted", f"{_TITLES[headline]}, voted", _FORM, importance=9),
        *measures[1:],
        *(Column(one, one, "%", importance=5) for one in shares),
        Column("same", "same in both orders", ".1f", importance=4),
        Column("speed", "pairs/s", ",.0f", importance=3),
    ]
    ends = any(one.interval for one in trials[0].whole.values())
    intervals = ", with 95 % intervals over clips" if ends else " (too few clips for intervals)"
    return Table(f"Agreement with people in percent{intervals}", rows, columns)


def write_trials(
    path: Path, name: str, tables: Sequence[Table], trials: Trials, person: ScorerTrial | None
) -> None:
    """A page of the tables of trials, with a chart of the published measure, from 0 to 100."""
    style = joined(("trial.css",))
    trials = sorted(trials, key=lambda one: one.score, reverse=True)
    headline, (constant, answer) = trials[0].headline, trials[0].constant
    bars = [
        Bar(one.scorer, one.scorer.partition(":")[0], cell(one.whole[headline]))
        for one in [*([person] if person else []), *trials]
    ]
    kinds = list(dict.fromkeys([*_KINDS, *(bar.provider for bar in bars)]))
    line = (constant, f"always {answer}: {constant:.2f}")
    chart = draw_bars(bars, partial(shown, form=_FORM), 100.0, kinds, line)
    page = render(
        "trial.html",
        version=VERSION,
        style=style,
        policy=f"default-src 'none'; style-src '{source_hash(style)}'; base-uri 'none'; "
        "form-action 'none'",
        title=f"Scorers on trial: {name}",
        trials=trials,
        headline=_TITLES[headline],
        constant=answer,
        chart=chart.html(
            f"{_TITLES[headline]} of each scorer with its 95 percent interval, and the line of the "
            "best constant answer; the same numbers are in the table below"
        ),
        tables=[(one.title, one.text_columns()) for one in tables],
        notes=tables[-1].notes,
    )
    write_file(path, page)


def votes_report(found: Pairs, kept: Pairs, least: int, seed: int) -> tuple[Findings, list[str]]:
    """What votes left of pairs, how far people agree, and what the words of the pairs give away."""
    kappa, person = trying.agreement(found, least), one_against_rest(found)
    checked = check_words(kept, seed, train=True) if kept else {}
    before, after = count_types(found), count_types(kept)
    people = {**(person.groups["subtype"] if person else {}), "all": person and person.whole}
    rows: list[Row] = []
    for name in (*before, "all"):
        row: Row = {"type": name, "read": before.get(name, len(found))}
        row["kept"] = after.get(name, 0) if name in before else len(kept)
        row["one_against_rest"] = own["accuracy"] if (own := people.get(name)) else None
        for key, one in checked.get(name, {}).items():
            row[key] = ValueWithInterval(one.accuracy, one.interval)
        rows.append(row)
    names = dict.fromkeys(key for own in checked.values() for key in own)
    columns = [Column(one) for one in ("type", "read", "kept")]
    columns += [Column(one, one, ".1f") for one in ("one_against_rest", *names)]
    unvoted = sum(not pair.votes for pair in found)
    controls, trained = control_facts(checked)
    facts = {"read": before, "kept": after, "unvoted": unvoted, "kappa": kappa.to_dict()}
    facts |= {"ceiling": person and trying.trial_facts(person)}
    lines = [
        "Accuracy of one person against the rest, and of what never hears the clip, in percent.",
        *(f"Warning: {line}." for line in warnings(checked)),
        f"Fleiss' kappa: {kappa.before} over all votes, {kappa.after} over the pairs kept.",
    ]
    if unvoted:
        lines.append(f"{unvoted:,} pairs have no vote; they are left out.")
    shown = Findings([Table("", rows, columns)], facts | {"controls": controls, "trained": trained})
    return shown, lines


def cheat_tables(trials: Sequence[CheatTrial]) -> list[Table]:
    columns = (
        "attack",
        Column("mean", "score", ".3f"),
        Column("gain", form="+.3f"),
        Column("wins", "wins %", ".0f"),
        Column("clips", align="right"),
    )
    tables = []
    for trial in trials:
        rows: list[Row] = []
        for name, one in trial["attacks"].items():
            of = f" of {one['n'] + one['missing']:,}" if one["missing"] else ""
            row = {"attack": f"{name}{' (cheats)' * one['succeeds']}", "mean": one["score"]}
            row |= {"gain": ValueWithInterval(one["gain"], one["ci"]), "wins": one["wins"]}
            rows.append(row | {"clips": f"{one['n']:,}{of}"})
        title = f"{trial['scorer']}: gain over the honest caption, which has {trial['honest']:.3f}"
        tables.append(Table(title, rows, columns, signature_notes([trial["signature"]])))
    words = [f"{name}: {words}" for name, words in ATTACKS.items()]
    return [*tables[:-1], replace(tables[-1], notes=[*words, *tables[-1].notes])]
