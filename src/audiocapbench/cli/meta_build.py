"""``audiocapbench meta build``: a trial as BRACE was built, from captions to votes to pairs."""

from pathlib import Path
from typing import Annotated

from typer import Option

from audiocapbench.asking import RequestOptions
from audiocapbench.cli import options
from audiocapbench.cli.console import print_json, say, show
from audiocapbench.cli.meta import ask_scorers, meta_app
from audiocapbench.cli.outputs import read_to_ask, refuse_overwriting
from audiocapbench.errors import AudioCapBenchError
from audiocapbench.table import Table, shown


@options.command(meta_app.command)
def build(
    *,
    out: Path,
    captions: Path | None = None,
    machine: list[str] | None = None,
    votes: Path | None = None,
    least_votes: Annotated[int, Option(min=1)] = 2,
    voters: Annotated[int, Option(min=1)] = 3,
    scorer: Annotated[str, Option("--filter")] = "metric:similarity",
    sources: Path | None = None,
    data: Path | None = None,
    seed: int = 42,
    asking: RequestOptions,
    session: options.Session,
    json: options.Json = False,
) -> None:
    """Build a trial as BRACE did: pairs for people to vote on; then those that they agree about.

    First with --captions and --machine: pairs of what people and machines wrote of a clip (HH, HM,
    MM), some with a caption broken on purpose (HM_2, MM_2), and blank columns for votes. Then with
    --votes: the pairs that are kept, for 'meta csv' or 'meta brace-main', and Fleiss' kappa.

    Args:
        seed (S): The same seed draws the same pairs.
        out (FILE): The table to vote in as .csv, .tsv or .jsonl; what is kept also as .json,
            BRACE-Main's.
        captions (FILE): What people wrote, as for 'corrupt'.
        machine (SYSTEM=FILE): What a system wrote, id,prediction; may be repeated.
        votes (FILE): The table with votes: a, b or tie.
        least_votes (N): Keep a pair when its votes add up to so many one way.
        voters (N): Columns for votes.
        scorer (KIND:NAME): Leaves out what it cannot tell apart: model:NAME, asked in both orders,
            or metric:NAME, judge:NAME, clap:NAME, which loses the closest quarter.
        sources (FILE): Also write who wrote each caption; voters must not see it.
        data (DIR): Folder with the clips, for who hears them.
    """
    if (votes is None) == (captions is None or not machine):
        raise AudioCapBenchError("give --captions and --machine SYSTEM=FILE, or --votes, not both")
    from audiocapbench.meta.pairs.pair import TABLES, check_form

    check_form(out, (*TABLES, ".json") if votes else TABLES)
    named = [one.partition("=")[::2] for one in machine or ()]
    if wrong := [one for one, both in zip(machine or (), named, strict=True) if not all(both)]:
        raise AudioCapBenchError(f"--machine {wrong[0]!r} is not SYSTEM=FILE")
    given = [*filter(None, (captions, votes)), *(Path(file) for _, file in named)]
    for path in (out, sources):
        refuse_overwriting(path, [*given, *read_to_ask(asking, session)])
    if votes is not None:
        _keep(votes, out, least_votes, json=json)
        return
    from audiocapbench.cli.progress import explain_spending
    from audiocapbench.data.predictions import read_predictions
    from audiocapbench.data.problems import InvalidDataError
    from audiocapbench.engine import Asking
    from audiocapbench.files import csv_text, write_file
    from audiocapbench.meta.build import build_pairs, count_types, filter_pairs, vote_table
    from audiocapbench.meta.corrupt.captions import read_captions
    from audiocapbench.meta.scorers.scorer import TrialSettings

    found = read_captions(captions or out)
    settings = TrialSettings(
        data=data,
        store_url=session.store,
        prompt="simple-ref",
        swap=True,
        **vars(Asking.of(asking)),
    )
    machines = {name: read_predictions(Path(file)) for name, file in named}
    for (_, file), read in zip(named, machines.values(), strict=True):
        if read.bad:
            raise InvalidDataError(Path(file), read.bad)
    pairs, wrote = build_pairs(found, {name: one.texts for name, one in machines.items()}, seed)
    kept = ask_scorers(
        [(scorer, settings)], pairs, lambda made: filter_pairs(pairs, made[0]), yes=session.yes
    )
    explain_spending(settings.budget)
    write_file(out, vote_table(out.suffix.lower(), kept, voters))
    if sources is not None:
        rows = [["id", "source_a", "source_b"], *([one.id, *wrote[one.id]] for one in kept)]
        write_file(sources, csv_text(rows))
    counts, before = count_types(kept), count_types(pairs)
    if json:
        print_json({"pairs": str(out), "made": before, "kept": counts, "filter": scorer})
        return
    types = [{"type": name, "made": n, "kept": counts.get(name, 0)} for name, n in before.items()]
    show(Table("", types))
    set_already = sum(pair.answer_set for pair in kept)
    say(
        f"{scorer} left out {len(pairs) - len(kept):,} of {len(pairs):,} pairs that it cannot tell "
        f"apart; {len(kept) - set_already:,} to vote on and {set_already:,} with a broken caption "
        f"are in {out}. Then: audiocapbench meta build --votes {out} --out FILE"
    )


def _keep(votes: Path, out: Path, least: int, *, json: bool) -> None:
    from audiocapbench.files import write_file
    from audiocapbench.meta.build import count_types, read_votes, vote_table, write_brace

    found = read_votes(votes, least)
    if out.suffix.lower() == ".json":
        write_brace(out, found.kept)
    else:
        voters = max(len(pair.votes) for pair in found.pairs)
        write_file(out, vote_table(out.suffix.lower(), found.kept, voters))
    before, kept = count_types(found.pairs), count_types(found.kept)
    if json:
        kappa = found.agreement._asdict()
        document = {"pairs": str(out), "read": before, "kept": kept, "kappa": kappa}
        print_json(document | {"unvoted": found.unvoted})
        return
    rows = [{"type": name, "read": n, "kept": kept.get(name, 0)} for name, n in before.items()]
    show(Table("", rows))
    kappas = [shown(one, ".2f") for one in found.agreement]
    say(f"Fleiss' kappa: {kappas[0]} over all votes, {kappas[1]} over the pairs kept.")
    if found.unvoted:
        say(f"{found.unvoted:,} pairs have no vote; they are left out.")
    say(f"{len(found.kept):,} of {len(found.pairs):,} pairs written to {out}.")
