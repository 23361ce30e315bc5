"""What was spent, as the store's ledger and a provider's own account have it."""

from typing import get_args

from audiocapbench.errors import check_known
from audiocapbench.library import scoring
from audiocapbench.library.running import RunResult, StoreLike, opened_store
from audiocapbench.report import costs as report
from audiocapbench.store import DEFAULT_STORE
from audiocapbench.table import Findings


@scoring.checked
def costs(
    *of: int | str | RunResult,
    store: StoreLike = DEFAULT_STORE,
    by: str | None = None,
    project: str | None = None,
) -> Findings:
    """What models and judges cost, with what is certain, estimated, lost and outstanding.

    Args:
        of: Runs by number, name or tag, or the name of a project or study; all by default.
        store: A file, a database URL or an open store.
        by: ``model``, ``judge``, ``day``, ``run``, ``command``, ``owner`` or ``project``; by model
            and judge, and by day, by default.
        project: Of this project or study, where a run has the same name.

    Raises:
        ReportError: There is no such project.
        StoreError: There is no such run.
    """
    if by is not None:
        check_known("by", by, get_args(report.By), scoring.ArgumentError)
    names = [one if isinstance(one, str) else scoring.run_number(one) for one in of]
    with opened_store(store, create=False) as opened:
        wanted = report.chosen_rows(opened, names, project)
        return report.cost_report(opened, wanted, by)  # type: ignore[arg-type]


acosts = scoring.in_thread(costs)
