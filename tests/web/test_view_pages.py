"""``view`` in a real browser: the report's front end on a store, live while runs go on."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from needs import needs, needs_program

needs("uvicorn", "playwright")
needs_program("chromium")

from audiocapbench.data.outcome import Outcome, Reply, Status
from audiocapbench.engine import score_run
from audiocapbench.store import Store
from audiocapbench.store.claims import TaskKey, Worker
from audiocapbench.store.unsaved import AnswerRecord
from browser import Opener, launched, visits
from four_models import IDS, JUDGE, SAMPLES, put_models, put_unscored
from made_store import MadeRun, begin_run, put_run
from report_pages import EVIL, write_hostile_page
from showing import Shown, showing

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with Store.open(str(tmp_path_factory.mktemp("kept") / "runs.db")) as store:
        put_models(store)
        yield store


@pytest.fixture(scope="module")
def shown(kept: Store) -> Iterator[Shown]:
    with showing(kept) as found:
        found.board()
        yield found


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store in which every text that can come from outside is hostile."""
    folder = tmp_path_factory.mktemp("hostile")
    write_hostile_page(folder)
    return folder / "runs.db"


@pytest.fixture(scope="module")
def browser(shown: Shown, hostile: Path) -> Iterator[Any]:
    yield from launched()


@pytest.fixture
def visit(browser: Any) -> Iterator[Opener]:
    yield from visits(browser, ("http://127.0.0.1:", "blob:http://127.0.0.1:"))


def test_every_view_opens_and_axe_finds_nothing_wrong(visit: Opener, shown: Shown) -> None:
    needs_program("axe-core")
    seen = visit(f"{shown.address}/", bypass_csp=True)
    for tab in ("leaderboard", "matrix", "compare", "explore", "trials", "made"):
        seen.page.click(f"#tab-{tab}")
        seen.until(f"document.body.dataset.shown === '{tab}'")
        assert seen.violations() == [], tab


def test_samples_are_searched_sorted_and_read(visit: Opener, shown: Shown) -> None:
    seen = visit(f"{shown.address}/#explore")
    seen.counted("40 of 40 samples")
    seen.opened("s0000")
    seen.page.fill("#search", "times near s0007")
    seen.counted("1 of 40 samples")
    seen.page.keyboard.press("Enter")
    seen.opened("s0007")
    seen.page.wait_for_selector("#clip .answer mark.hit:text-is('s0007')")
    seen.page.click("button[type=reset]")
    seen.counted("40 of 40 samples")
    seen.page.select_option("#status", "refused")
    seen.counted("3 of 40 samples")
    seen.becomes(seen.ids, IDS[:3])
    again = visit(seen.page.evaluate("location.href"))
    again.counted("3 of 40 samples")
    wrong = "sort=constructor&score=__proto__&model=toString&low=abc&hide=__proto__&q=%zz"
    odd = ("low=1e999", "low=-1e300&high=-1e299", "q=%00", "q=" + "x%20" * 900, "status=%00")
    for asked in (wrong, *odd):
        again.go(f"{shown.address}/#explore&{asked}")
        again.counted("0 of 40 samples")


def test_a_store_of_trials_alone_says_what_lists_them(visit: Opener, tmp_path: Path) -> None:
    with Store.open(str(tmp_path / "runs.db")) as store:
        begin_run(store, MadeRun("some/judge", kind="trial"), SAMPLES, "trial/pairs")
        with showing(store) as shown:
            seen = visit(f"{shown.address}/", bypass_csp=True)
            seen.says("main .live", "“audiocapbench runs --trials” lists those of trials")
            assert seen.violations() == []
            seen.page.close()


def test_a_link_to_a_benchmark_that_is_not_there_says_so(visit: Opener, shown: Shown) -> None:
    seen = visit(f"{shown.address}/?benchmark=other%3Cb%3E#explore")
    seen.says("main .live", "there is no benchmark other<b> in the store")


def test_two_models_are_compared(visit: Opener, shown: Shown) -> None:
    seen = visit(f"{shown.address}/#compare&a=acme%2Falpha&b=zeta%2Fgamma")
    seen.says("#compare .verdict", "acme/alpha beats zeta/gamma by")
    seen.says("#compare tbody", "< 0.001")
    seen.page.wait_for_selector("#compare .beside .answer mark.only")


def test_a_run_that_goes_on_is_seen_as_it_goes(visit: Opener, tmp_path: Path) -> None:
    with Store.open(str(tmp_path / "runs.db")) as store:
        put_models(store)
        with showing(store) as shown:
            seen = visit(f"{shown.address}/", bypass_csp=True)
            run = put_unscored(store, "new/model")
            worker = Worker(600.0)
            tasks = [TaskKey("", one) for one in IDS]
            store.claims.take(run.id, worker, tasks, {})
            answer = Reply("A cat purrs <b>twice</b>.", cost_usd=0.25)
            store.add_records(run.id, [AnswerRecord(Outcome(IDS[0], answer, None, 5.0, 0.5))])
            failed = Reply("", Status.FAILED, error="no answer")
            store.add_records(run.id, [AnswerRecord(Outcome(IDS[1], failed, None, 5.0, 0.5))])
            seen.says("#live", "1 task going on · 2 / 40 · $0.25")
            seen.says(".live .task", "1 failure")
            seen.says(".newest", "A cat purrs <b>twice</b>.")
            assert seen.violations() == []
            for one in IDS[2:]:
                store.add_records(
                    run.id, [AnswerRecord(Outcome(one, Reply("A dog."), None, 5.0, 0.5))]
                )
            seen.says("#live", "40 / 40")
            store.claims.release(worker)
            score_run(store, run, ["rouge_l"])
            seen.page.wait_for_selector("#leaderboard th.model:has-text('new/model')")
            seen.page.close()


def test_what_ranks_stays_while_runs_arrive(visit: Opener, tmp_path: Path) -> None:
    with Store.open(str(tmp_path / "runs.db")) as store:
        put_models(store)
        with showing(store) as shown:
            seen = visit(f"{shown.address}/")
            scores = {"rouge_l": dict.fromkeys(IDS, 0.9)}
            for number in range(4):  # as many without the judge as with it: it is no default now
                put_run(store, MadeRun(f"new/model-{number}", scores), SAMPLES)
            seen.says("#leaderboard .notice", "would now be ranked by rouge_l")
            assert seen.page.input_value("#rank") == f"{JUDGE}: overall"
            names = seen.page.locator("#leaderboard .board tbody .full")
            assert set(names.all_text_contents()[:2]) == {"acme/alpha", "acme/beta"}
            seen.page.click("#leaderboard .notice button")
            seen.says(".lead", "Ranked by rouge_l")
            seen.until(lambda: names.all_text_contents()[0].startswith("new/model"))
            assert seen.page.locator("#leaderboard .notice button").count() == 0
            seen.says("#leaderboard .notice", "New since the page was opened: new/model-")
            seen.page.close()


def test_a_store_without_scores_fills_itself(visit: Opener, tmp_path: Path) -> None:
    with Store.open(str(tmp_path / "runs.db")) as store:
        run = put_unscored(store, "new/model")
        with showing(store) as shown:
            seen = visit(f"{shown.address}/")
            seen.says(".live", "no scored run")
            for one in IDS:
                store.add_records(
                    run.id, [AnswerRecord(Outcome(one, Reply("A dog."), None, 5.0, 0.5))]
                )
            score_run(store, run, ["rouge_l"])
            seen.page.wait_for_selector("#leaderboard th.model:has-text('new/model')")
            seen.page.close()


def test_hostile_text_is_only_text(visit: Opener, hostile: Path) -> None:
    with Store.open(str(hostile)) as store, showing(store) as shown:
        shown.board()
        seen = visit(f"{shown.address}/#explore")
        seen.page.fill("#search", "onerror")
        seen.page.wait_for_selector("#list mark.hit")
        seen.counted("2 of 2 samples")
        seen.page.click("[role=option] >> nth=0")
        seen.until("document.querySelector('#clip h2').textContent.startsWith('a ')")
        assert seen.page.inner_text("#clip h2") == f"a {EVIL}"
        seen.page.wait_for_selector(".sound[data-drawn=yes]")
        for tab in ("leaderboard", "matrix", "compare", "trials", "made"):
            seen.page.click(f"#tab-{tab}")
            seen.until(f"document.body.dataset.shown === '{tab}'")
        assert seen.page.evaluate("window.hit") is None
        assert seen.page.locator("img").count() == 0
        seen.page.close()


def test_a_store_that_goes_away_is_said_and_what_failed_is_shown_when_it_is_back(
    visit: Opener, tmp_path: Path
) -> None:
    place, other = tmp_path / "runs.db", tmp_path / "away"
    with Store.open(str(place)) as store:
        put_models(store)
        with showing(store) as shown:
            seen = visit(f"{shown.address}/#explore")
            seen.opened("s0000")
            seen.excused.append("503")  # the browser notes it of its own accord, now or late
            other.mkdir()
            files = [one for one in tmp_path.iterdir() if one.name.startswith("runs.db")]
            for one in files:
                one.rename(other / one.name)
            seen.says("#live", "the store cannot be read; trying again")
            seen.page.click("#tab-compare")
            seen.says("#trouble", "was removed or replaced while in use")
            for one in files:
                (other / one.name).rename(one)
            seen.page.wait_for_selector("#compare .beside .answer")
            seen.page.wait_for_selector("#trouble", state="hidden")
            seen.page.close()
