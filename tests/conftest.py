"""Fixtures that more than one room's tests use."""

import gc
import os
import signal
from collections.abc import Callable, Generator, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, settings

from needs import TESTS, needs_shared, slow_import, undeclared_imports
from reporting import (
    Reporting,
    add_options,
    check_options,
    elsewhere_first,
    leave_out,
    named_apart,
    ran_whole,
)

if TYPE_CHECKING:
    from audiocapbench.store import Store

# Files that take ten seconds of a processor or more, the dearest first. Side by side with the
# others they cost little, but the last one alone keeps the whole suite waiting.
LONG = (
    "engine/test_ray.py",
    "test_docs.py",
    "metrics/test_human_pairs.py",
    "web/test_rating_pages.py",
    "report/test_board_page.py",
    "web/test_view_pages.py",
    "judges/test_local_llm.py",
    "meta/test_pairwise.py",
    "metrics/test_ptb.py",
    "annotate/test_whole_way.py",
    "report/test_explorer.py",
    "report/test_page.py",
    "metrics/test_meteor_java.py",
    "bridges/test_inspect.py",
    "meta/test_corrupt_leaks.py",
    "data/test_build_faults.py",
    "meta/test_corrupt_model_leaks.py",
    "report/test_site.py",
    "metrics/test_wordnet.py",
    "test_install.py",
    "data/test_build.py",
    "bridges/test_trackers.py",
    "metrics/test_preference_cheats.py",
    "engine/test_batch_faults.py",
    "judges/test_sensitivity.py",
    "engine/test_soak.py",
    "engine/test_sharing.py",
    "engine/test_store_away.py",
    "meta/test_published_trials.py",
    "cli/test_preview.py",
    "annotate/test_check.py",
    "study/test_race.py",
    "cli/test_judges.py",
)

# As many tests run at once as there are processors; each library that takes all of them for itself
# makes all of the tests slower.
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

# The same examples each time, however long one takes: a slow machine is no failure.
settings.register_profile(
    "suite", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("suite")

# Tests see their own plug-ins, whatever else is installed beside them.
os.environ["AUDIOCAPBENCH_PLUGINS"] = "test-*"

# A shell's background job ignores Ctrl-C, and so would every process that a test starts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser: pytest.Parser) -> None:
    """What ``make`` and CI say about which tests run."""
    add_options(parser)


def pytest_configure(config: pytest.Config) -> None:
    """Refuse tests that forget what they need; show how far it is."""
    # Have pytest-xdist take files in their order, and not those with few tests last.
    config.option.loadscopereorder = False
    if hasattr(config, "workerinput"):
        return
    check_options(config)
    faults = [fault for path in sorted(TESTS.rglob("*.py")) for fault in undeclared_imports(path)]
    if faults:
        raise pytest.UsageError("\n".join(["Not part of the core, see tests/needs.py:", *faults]))
    config.pluginmanager.register(Reporting(config))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """The tests of a file stay together, and files with torch, whose import takes up to 15 s.

    Only the longest is by itself: it imports torch in processes of its own. So do those with NLTK,
    which brings SciPy and, where it is there, scikit-learn.
    """
    from xdist.scheduler import LoadFileScheduling  # type: ignore[import-untyped]

    files = [path for path in TESTS.rglob("test_*.py") if path != TESTS / LONG[0]]
    slow = {os.path.relpath(path, config.rootpath): slow_import(path) for path in files}

    class OneImport(LoadFileScheduling):  # type: ignore[misc]
        def _split_scope(self, nodeid: str) -> str:
            name = nodeid.partition("::")[0]
            alike = slow.get(name)
            return alike if alike and find_spec(alike) else name

    return OneImport(config, log) if config.option.dist == "loadfile" else None


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Files of which every test ran already are not imported."""
    return ran_whole(config, collection_path) or None


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Bytes name no test: what is packed anew has the second in it, and processes would differ."""
    return argname if isinstance(val, bytes) else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """The long files first; without those that ran already, where that is asked."""
    leave_out(config, items)
    order = {TESTS / name: place for place, name in enumerate(LONG)}
    assert all(path.is_file() for path in order), "a long file was renamed; see LONG"
    items.sort(key=lambda item: (order.get(item.path, len(order)), item.path))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Whole files that are skipped are counted one by one; files are compiled once."""
    report = yield
    named_apart(collector, report)
    if isinstance(collector, pytest.Directory):
        report.result = elsewhere_first(collector.config, report.result)
    return report


class Statements(dict[Any, Any]):
    """SQL that was compiled for a store, for all others of its kind: a test opens a new one."""

    def get(self, key: Any, default: Any = None) -> Any:
        return super().get((key[0].name, *key[1:]), default)

    def __setitem__(self, key: Any, value: Any) -> None:
        super().__setitem__((key[0].name, *key[1:]), value)


def compiled_once(compiled: Callable[..., Any]) -> Callable[..., Any]:
    """What makes the SQL of a table or an index, once for each kind of database."""
    made: dict[Any, Any] = {}

    def known(self: Any, dialect: Any, **options: Any) -> Any:
        if any((*options.values(), getattr(self, "include_foreign_key_constraints", None))):
            return compiled(self, dialect, **options)
        key = (self.element, dialect.name)
        if key not in made:
            made[key] = compiled(self, dialect)
        return made[key]

    return known


def pytest_collection_finish() -> None:
    """What was collected stays: garbage need not be looked for in it again and again."""
    from sqlalchemy import Engine
    from sqlalchemy.schema import CreateIndex, CreateTable

    known = Statements()
    Engine._compiled_cache = property(lambda _: known, lambda *_: None)  # type: ignore[assignment]
    # Neither are the tables of a new store: nothing changes them.
    for kind in (CreateTable, CreateIndex):
        kind._compiler = compiled_once(kind._compiler)  # type: ignore[method-assign]
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real development data, which is never part of the repository."""
    return needs_shared()


@pytest.fixture
def store(tmp_path: Path) -> Iterator["Store"]:
    """An empty store."""
    from audiocapbench.store import Store

    with Store.open(str(tmp_path / "runs.db")) as opened:
        yield opened
