"""``audiocapbench meta controls``: what metrics make of right, safe and wrong answers."""

from pathlib import Path

from audiocapbench.cli import options
from audiocapbench.cli.console import show_lines, signature_lines
from audiocapbench.cli.meta import meta_app
from audiocapbench.cli.outputs import refuse_overwriting, store_file


@options.command(meta_app.command)
def controls(
    benchmark: str | None = None,
    *,
    data: Path | None = None,
    references: Path | None = None,
    metrics: str | None = None,
    limit: options.Limit = None,
    sample: options.Sample = None,
    seed: options.Seed = 0,
    figure: Path | None = None,
    store: options.Store = options.DEFAULT_STORE,
    json: options.Json = False,
) -> None:
    """See how far metrics set right answers apart from safe and wrong ones, on any benchmark.

    Right is one of the clip's references, safe a generic sentence, wrong another clip's reference.

    Args:
        benchmark (BENCHMARK): A benchmark's name, or a folder with metadata.jsonl.
        data (DIR): The benchmark's folder.
        references (FILE): References without audio: a file, or MECAT's folder.
        metrics (A,B): The benchmark's own by default.
        figure (FILE): Draw the distributions: FILE.svg, .png or .pdf.
    """
    from audiocapbench.benchmarks import Selection
    from audiocapbench.benchmarks.reference_files import subject
    from audiocapbench.cli.tables import show_findings
    from audiocapbench.metrics.names import split_names
    from audiocapbench.report.controls import control_report, control_sheet, score_controls
    from audiocapbench.report.page.plots import figure_writer
    from audiocapbench.store import Store

    refuse_overwriting(figure, [one for one in (references, store_file(store)) if one])
    draw = None if figure is None else figure_writer(figure)
    opened = subject((), benchmark, data, references)
    names = split_names(metrics) if metrics else list(opened.traits.metrics)
    kept = Store.open(store) if any(name.startswith("clap") for name in names) else None
    scores = score_controls(opened, names, Selection((), limit, sample, seed), kept)
    show_findings(control_report(scores), json=json)
    if not json:
        show_lines(*signature_lines(scores.signatures))
    if draw is not None:
        draw(control_sheet(scores))
