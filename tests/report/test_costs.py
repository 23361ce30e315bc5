"""Costs: what the ledger of real runs says, and how it stands against a provider's export."""

import json
import re
import shutil
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

import audiocapbench
from audiocapbench.benchmarks import Benchmark, Selection, open_benchmark
from audiocapbench.engine import Budget, RateLimits, RetryPolicy, run_benchmark
from audiocapbench.engine.bills import plain_model
from audiocapbench.engine.runner import RunOptions
from audiocapbench.errors import AudioCapBenchError
from audiocapbench.judges import create_judge, judge_run
from audiocapbench.models import create_model
from audiocapbench.models.price import PRICED, Price
from audiocapbench.report.costs import chosen_rows
from audiocapbench.store import Store, schema
from audiocapbench.store.connect import writing
from audiocapbench.store.ledger import Scope
from audiocapbench.table.terminal import fitted
from command import run_command
from fakes import faults
from fakes.faults import Plan
from fakes.openai_server import OpenAIServer, completion
from folders import write_folder
from made_store import MadeRun, made_samples, put_run

PRICE = Price(2.5, 10, "as gpt-4o-audio-preview", PRICED, 40, 10)
LIMITS = RateLimits(1, retry=RetryPolicy(attempts=4, first_s=0.01, longest_s=0.02))
USAGE = {"prompt_tokens": 1_000, "completion_tokens": 100_000, "total_tokens": 101_000}
ANSWER = 1.00259375  # dollars
VERDICT = json.dumps({"accuracy": 8, "completeness": 6, "hallucination": 9, "reasoning": "so"})


@pytest.fixture(scope="module")
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer(key=None) as running:
        yield running


@pytest.fixture(scope="module")
def tones(tmp_path_factory: pytest.TempPathFactory) -> Benchmark:
    return open_benchmark(str(write_folder(tmp_path_factory.mktemp("tones"), 3)))


@pytest.fixture(scope="module")
def spent(server: OpenAIServer, tones: Benchmark, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Run 1 on project lab: 3 answers at 1 dollar, one of them lost once; run 2 has no price."""
    path = str(tmp_path_factory.mktemp("spent") / "runs.db")
    server.reply = lambda _request: completion(VERDICT) | {"usage": USAGE}
    with Store.open(path) as store:
        server.plan = Plan([faults.half()])
        model = create_model(f"endpoint/gpt-x-2025-06-03@{server.base_url}")
        how: RunOptions = {"rate_limits": LIMITS, "price": PRICE}
        how["budget"] = Budget(project="lab")
        run_benchmark(tones, model, store, **how)
        other = create_model(f"endpoint/own@{server.base_url}")
        run_benchmark(tones, other, store, rate_limits=LIMITS, selection=Selection(limit=2))
        store.catalog.rename(1, "first")
    return path


def test_costs_are_shown_by_model_and_judge_and_by_day(spent: str) -> None:
    found = json.loads(run_command("costs", "--store", spent, "--json").stdout)
    total = found["total"]
    assert total["attempts"] == 4
    assert total["certain_usd"] == pytest.approx(3 * ANSWER)
    assert 0 < total["lost_usd"] < total["lost_at_most_usd"]
    assert total["spent_usd"] == pytest.approx(total["certain_usd"] + total["lost_usd"])
    (model,), days = found["by_model"], found["by_day"]
    assert (model["model"].startswith("endpoint/gpt-x"), model["judge"]) == (True, "")
    assert sum(day["spent_usd"] for day in days) == pytest.approx(total["spent_usd"])
    assert list(found["unpriced"].values()) == [2]
    words = run_command("costs", "--store", spent).stdout
    told = r"4 attempts: \$\d.\d{4} spent, \$\S+ lost, \$\S+ lost at most, \$3.0078 certain."
    assert re.search(told, words)
    assert "without a price: 2." in words
    assert {len(one) for one in re.findall(r"[ $]\d\.(\d+)", words)} == {4}


def test_judges_have_rows_of_their_own(server: OpenAIServer, paid: str) -> None:
    name = f"endpoint/judge@{server.base_url}"
    with Store.open(paid) as store:
        run, judges = store.run(1), [create_judge(name)]
        judge_run(store, run, judges, prices=lambda _name: PRICE, rate_limits=LIMITS)
        model, judge = audiocapbench.costs(1, store=store).records()
        assert (model["judge"], judge["judge"]) == ("", name)
        assert (model["attempts"], judge["attempts"]) == (4, 3)
        assert judge["spent_usd"] == pytest.approx(3 * 1.0025)  # it hears nothing
        store.catalog.delete([1])
        assert audiocapbench.costs(1, store=store, by="judge").facts["total"]["attempts"] == 7


def test_answers_that_a_study_of_a_judge_makes_itself_cost_nothing(
    server: OpenAIServer, tones: Benchmark, tmp_path: Path
) -> None:
    server.reply = lambda _request: completion(VERDICT) | {"usage": USAGE}
    words = ("judges", "check", f"endpoint/judge@{server.base_url}", "--free", "--yes", "--json")
    store = ("--store", str(tmp_path / "runs.db"))
    (tmp_path / "pairs.csv").write_text(
        "audio,caption_a,caption_b,preferred,reference_1\na.wav,A tone hums.,Rain.,a,A tone.\n"
    )
    done = run_command(*words, "--data", str(tones.root), *store, cwd=tmp_path)
    assert done.returncode in (0, 1), done.stderr
    trial = ("meta", "csv", "--pairs", "pairs.csv", "--scorer", f"judge:{words[2]}", *words[3:])
    done = run_command(*trial, *store, cwd=tmp_path)
    assert done.returncode in (0, 1), done.stderr
    with Store.open(store[1]) as opened:
        assert len(opened.runs()) == 7
        assert audiocapbench.costs(store=opened).facts["unpriced"] == {}


@pytest.mark.parametrize("of", ["1", "first", "lab"])
def test_costs_of_a_run_and_of_a_project_are_its_own(spent: str, of: str) -> None:
    found = json.loads(run_command("costs", of, "--store", spent, "--json").stdout)
    assert (found["total"]["attempts"], found["unpriced"]) == (4, {})
    none = run_command("costs", "2", "--store", spent)
    assert (none.returncode, none.stdout) == (0, "")
    assert "2 answers have no price and are in no sum" in none.stderr


def test_a_store_without_attempts_says_so(tmp_path: Path) -> None:
    Store.open(path := str(tmp_path / "runs.db")).close()
    words = run_command("costs", "--store", path).stderr
    assert "no attempt that costs money is on record" in words


def test_rows_have_a_label_where_nobody_is_named(paid: str) -> None:
    assert "the models themselves" in str(audiocapbench.costs(store=paid, by="judge"))
    assert "no project" not in str(audiocapbench.costs(store=paid, by="project"))
    with Store.open(paid) as kept, writing(kept._engine) as connection:
        connection.execute(schema.ledger.update().values(project=None))
    found = audiocapbench.costs(store=paid, by="project")
    assert "no project" in str(found)
    assert found.records()[0]["project"] is None


@pytest.mark.parametrize(
    ("of", "words"),
    [
        ("9", "no run 9"),
        ("labs", "lists them; projects and studies: lab"),
        ("1 lab", "projects and studies: lab"),
        ("--book", "--book needs --reconcile"),
        ("--by day --reconcile x.csv", "--by cannot be given with it"),
    ],
)
def test_names_that_stand_for_nothing_are_refused_with_what_is_known(
    spent: str, of: str, words: str
) -> None:
    done = run_command("costs", *of.split(), "--store", spent)
    assert done.returncode == 2
    assert words in done.stderr


def test_a_model_costs_what_all_its_runs_do() -> None:
    store = Store.open("sqlite://")
    for model in ("one", "other", "one"):
        put_run(store, MadeRun(model), made_samples(1))
    assert chosen_rows(store, ["one"]) == {"run": {1, 3}}


def test_a_name_of_a_run_and_of_a_project_is_refused(spent: str) -> None:
    with Store.open(spent) as store:
        store.catalog.tag(2, ["lab"])
        with pytest.raises(AudioCapBenchError, match="'lab' is a run and a project or study; give"):
            audiocapbench.costs("lab", store=store)
        store.catalog.tag(2, ["lab"], remove=True)
        assert [row["run"] for row in audiocapbench.costs(store=store, by="run").records()] == [1]
        with pytest.raises(AudioCapBenchError, match="dya"):
            audiocapbench.costs(store=store, by="dya")


BAD = "lines_that_cannot_be_read"
OPENAI = "start_time,end_time,start_time_iso,end_time_iso,amount_value,amount_currency,line_item\n"


def days_ago(store: str, days: int = 2) -> date:
    """Move all that the ledger has, at most 5 dollars each, to a day that is over; say which."""
    day = datetime.now(UTC).date() - timedelta(days=days)
    with Store.open(store) as kept, writing(kept._engine) as connection:
        moved = {"made_at": f"{day}T05:30:00.000+00:00", "held_usd": 5.0}
        connection.execute(schema.ledger.update().values(moved))
    return day


def openai_lines(day: date, *items: tuple[str, str]) -> str:
    start = int(datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp())
    span = f"{start},{start + 86_400},{day}T00:00:00+00:00,{day + timedelta(1)}T00:00:00+00:00"
    return OPENAI + "".join(f'{span},{amount},usd,"{item}"\n' for amount, item in items)


@pytest.fixture
def paid(spent: str, tmp_path: Path) -> str:
    return shutil.copy(spent, str(tmp_path / "paid.db"))


def test_an_export_is_held_against_the_ledger_and_booked_once(paid: str, tmp_path: Path) -> None:
    day, file = days_ago(paid), tmp_path / "usage.csv"
    lines = (("2.5", "GPT-X, input"), ("1.507781250", "gpt-x-2025-06-03, output"), ("7", "gpt-5"))
    file.write_text(openai_lines(day, *lines, ("", "")))
    call = ("costs", "--reconcile", str(file), "--store", paid)
    found = json.loads(run_command(*call, "--json").stdout)
    (row,) = found["days"]
    assert (row["day"], row["model"], row["says"]) == (str(day), "gpt-x", "within")
    assert row["theirs_usd"] == pytest.approx(3 * ANSWER + 1)
    assert row["difference_usd"] == pytest.approx(1 - row["lost_usd"])
    assert (found["not_asked_here"], found["not_in_the_file"], found["booked"]) == (
        ["gpt-5"],
        [],
        0,
    )
    assert found["columns"]["model"] == "line_item"
    assert found[BAD] == []
    words = run_command(*call, "--book").stdout
    assert "day from 'start_time_iso', model from 'line_item', usd from 'amount_value'" in words
    assert "1 not asked here: gpt-5" in words
    assert f"Booked: 1 correction, {row['difference_usd']:+.4f}" in words
    (total,) = (Store.open(paid).ledger.sums(project="lab"),)[0]
    assert total["spent_usd"] == pytest.approx(3 * ANSWER + 1)
    assert (total["attempts"], total["lost_at_most_usd"]) == (4, 0)  # the provider has told
    again = json.loads(run_command(*call, "--book", "--json").stdout)
    assert (again["booked"], again["days"][0]["says"]) == (0, "as booked")
    with Store.open(paid) as store:
        (fix,) = store.ledger.entries(kind="corrected")
        assert (fix.project, fix.run, fix.why, fix.state) == ("lab", 1, "usage.csv", "corrected")
        assert store.ledger.standing(Scope("project", "lab", "me", 9.0)).spent_usd == pytest.approx(
            3 * ANSWER + 1
        )


def test_an_export_is_booked_on_the_whole_store_alone(paid: str, tmp_path: Path) -> None:
    (tmp_path / "usage.csv").write_text(openai_lines(days_ago(paid), ("5", "gpt-x")))
    with pytest.raises(audiocapbench.AudioCapBenchError, match="an export names no run"):
        audiocapbench.costs(1, store=paid, reconcile=tmp_path / "usage.csv", book=True)


def test_corrections_go_back_and_forth_as_the_exports_do(paid: str, tmp_path: Path) -> None:
    day, file = days_ago(paid), tmp_path / "usage.csv"
    for amount in ("5", "4", "5", "2.5"):
        file.write_text(openai_lines(day, (amount, "gpt-x")))
        found = audiocapbench.costs(store=paid, reconcile=file, book=True)
        assert found.facts["booked"] == 1
        (total,) = (audiocapbench.costs("lab", store=paid).facts["total"],)
        assert total["spent_usd"] == pytest.approx(float(amount))


def test_a_day_that_is_not_over_and_answers_that_are_outstanding_are_not_booked(
    paid: str, tmp_path: Path
) -> None:
    file = tmp_path / "usage.csv"
    file.write_text(openai_lines(days_ago(paid, -1), ("5", "gpt-x")))
    assert audiocapbench.costs(store=paid, reconcile=file, book=True).facts["booked"] == 0
    file.write_text(openai_lines(days_ago(paid), ("5", "gpt-x")))
    with Store.open(paid) as kept, writing(kept._engine) as connection:
        change = {"usd": None, "batch": "b", "kind": "held"}
        connection.execute(schema.ledger.update().values(change))
    found = audiocapbench.costs(store=paid, reconcile=file, book=True)
    assert (found.facts["booked"], found.records()[0]["says"]) == (0, "within")
    assert "1 not booked: " in str(found)
    assert found.facts["not_booked"] == [f"{days_ago(paid)} gpt-x (outstanding)"]


@pytest.mark.parametrize("batch", [None, "b"])
def test_days_without_a_question_are_not_booked_unless_a_batch_of_the_day_before_is_billed(
    paid: str, tmp_path: Path, batch: str | None
) -> None:
    day, file = days_ago(paid), tmp_path / "usage.csv"
    with Store.open(paid) as kept, writing(kept._engine) as connection:
        connection.execute(schema.ledger.update().values(batch=batch))
    after = openai_lines(day + timedelta(1), ("0.5", "gpt-x")).removeprefix(OPENAI)
    file.write_text(openai_lines(day, ("5", "gpt-x")) + after)
    found = audiocapbench.costs(store=paid, reconcile=file, book=True)
    verdict, left_out = ("not asked here", [f"{day + timedelta(1)} gpt-x (not asked here)"])
    assert found.facts["not_booked"] == ([] if batch else left_out)
    assert found.records()[1]["says"] == ("above" if batch else verdict)
    total = audiocapbench.costs(store=paid).facts["total"]
    assert total["spent_usd"] == pytest.approx(5.5 if batch else 5)


def test_days_of_google_begin_at_midnight_of_the_pacific(paid: str, tmp_path: Path) -> None:
    day, file = days_ago(paid), tmp_path / "report.csv"  # at 05:30 UTC
    spent = audiocapbench.costs(store=paid).facts["total"]["spent_usd"]
    with Store.open(paid) as kept, writing(kept._engine) as connection:
        connection.execute(schema.ledger.update().values(model="gemini/gemini-2.5-flash-preview"))
    head = "Date,Service description,SKU description,Usage amount,Unrounded subtotal ($)\n"
    lines = [
        f"{day - timedelta(1)},Gemini API,Generate content {which},9,{usd}"
        for which, usd in (
            ("input token count gemini 2.5 flash short input audio", f"${spent:.6f}"),
            ("output token count gemini 2.5 flash lite text batch", "4"),
        )
    ]
    file.write_text(head + "\n".join([*lines, ",,,,7.0091"]) + "\n")
    found = audiocapbench.costs(store=paid, reconcile=file)
    (row,) = found.records()
    assert (row["day"], row["says"]) == (str(day - timedelta(1)), "as booked")
    assert (found.facts["not_asked_here"], found.facts[BAD]) == (["gemini-2.5-flash-lite"], [])


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("openai/gpt-4o-audio-preview", "gpt-4o-audio-preview-2025-06-03, audio input"),
        ("openai/gpt-4.1[temperature=0]", "gpt-4.1-2025-04-14"),
        ("gemini/gemini-3-flash-preview", "Generate_content input token count for gemini 3 flash"),
        ("gemini/gemini-2.0-flash-001", "Gemini 2.0 Flash Text Input - Predictions"),
    ],
)
def test_names_of_models_are_matched(ours: str, theirs: str) -> None:
    assert plain_model(ours) == plain_model(theirs) != plain_model("gpt-4o")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("start_time,model,input_tokens\n1,gpt-x,7\n", "has no column 'usd' (or amount_value"),
        ("date,model,cost (€)\n2026-01-01,gpt-x,7\n", "export costs in dollars by day and model"),
        (
            "date,model,cost\n2026-01-01,gpt-5,7\n",
            "no model of it was asked here: gpt-5; here: gpt-x",
        ),
        ("", "has no column 'day'"),
        ("date,model,cost\n18/11/2026,gpt-x,7\n", "date 18/11/2026 cannot be read; 2026-11-18"),
    ],
)
def test_exports_that_do_not_say_enough_are_refused(
    spent: str, tmp_path: Path, content: str, words: str
) -> None:
    (tmp_path / "usage.csv").write_text(content)
    done = run_command("costs", "--reconcile", str(tmp_path / "usage.csv"), "--store", spent)
    assert done.returncode == 2
    assert words in done.stderr


@pytest.mark.parametrize(
    "line",
    [
        *("2026-01-01,gpt-x,nan", "2026-01-01,gpt-x,1e999", "2026-01-01,gpt-x,=1+1"),
        *("2026-01-01,gpt-x,1_0", "2026-01-01,gpt-x,'+1,5'", "2026-01-01,gpt-x\0,1"),
        *("01/02/2026,gpt-x,1", "99999999999,gpt-x,1", ",gpt-x,1", '2026-01-01,"gpt-x,1'),
        *("2026-01-01,gpt-x,1,EUR", "0001-01-01T00:00+14:00,gpt-x,1"),
    ],
)
def test_lines_that_cannot_be_read_are_counted_and_shown(
    spent: str, tmp_path: Path, line: str
) -> None:
    file, line = tmp_path / "usage.csv", line if line.endswith("EUR") else f"{line},usd"
    file.write_text(f"date,model,cost,currency\n2026-01-01,gpt-x,2,USD\n{line}\n")
    found = audiocapbench.costs(store=spent, reconcile=file)
    assert [one[:17] for one in found.facts[BAD]] == ["usage.csv line 3:"]
    assert {(row["theirs_usd"], row["says"]) for row in found.records()} == {(None, "not readable")}
    assert "1 lines that cannot be read" in str(found)
    done = run_command("costs", "--store", spent, "--reconcile", str(file), "--book")
    assert done.returncode == 2
    assert "1 unreadable line: usage.csv line 3: " in done.stderr
    assert done.stderr.endswith("; nothing is booked\n")


def test_a_line_that_cannot_be_read_leaves_other_days_and_models_alone(
    paid: str, tmp_path: Path
) -> None:
    day, file = days_ago(paid), tmp_path / "usage.csv"
    lines = f'{day - timedelta(1)},gpt-x,"0,50"\n18.11.2026,other,1\n'
    file.write_text(f"date,model,cost\n{day},gpt-x,9\n{lines}")
    found = audiocapbench.costs(store=paid, reconcile=file)
    assert [row["says"] for row in found.records()] == ["not readable", "above"]
    assert found.facts[BAD] == [
        "usage.csv line 3: 0,50 is no amount of dollars",
        "usage.csv line 4: date 18.11.2026 cannot be read; 2026-11-18 and seconds since 1970 can",
    ]


def test_the_verdict_and_what_was_spent_are_shown_in_80_columns(paid: str, tmp_path: Path) -> None:
    day, file = days_ago(paid), tmp_path / "usage.csv"
    with Store.open(paid) as kept, writing(kept._engine) as connection:
        for number, row in enumerate(kept.ledger.entries()):
            kind = {"kind": ("billed", "estimated", "lost", "corrected")[number]}
            change = kind | {"judge": f"endpoint/a-judge-{number}", "usd": 1.0}
            connection.execute(schema.ledger.update().filter_by(id=row.id).values(change))
    after = openai_lines(day + timedelta(1), ("0.5", "gpt-x")).removeprefix(OPENAI)
    file.write_text(openai_lines(day, ("5", "gpt-x")) + after)
    for found, first in (
        (audiocapbench.costs(store=paid), ("spent",)),
        (
            audiocapbench.costs(store=paid, reconcile=file),
            ("says", "difference", "theirs", "spent"),
        ),
    ):
        columns, left_out = fitted(found.tables()[0], 80)
        headings = [one.heading[0] for one in columns]
        assert {*first} <= {*headings}
        assert not {"outstanding at most", *first} & {*left_out}
        assert left_out[-1:] in ([], ["certain"], ["attempts"])


@pytest.mark.parametrize("moment", ["yesterday", "", "2026-13-01T00:00:00.000+00:00"])
def test_a_damaged_moment_is_named_as_damage(spent: str, tmp_path: Path, moment: str) -> None:
    copy, export = shutil.copy(spent, tmp_path / "runs.db"), tmp_path / "costs.csv"
    export.write_text("date,line_item,cost_usd\n2026-11-01,gpt-x,1\n")
    with Store.open(str(copy)) as store, writing(store._engine) as connection:
        connection.exec_driver_sql("UPDATE ledger SET made_at = ?", (moment,))
    for more in ((), ("--reconcile", str(export))):
        result = run_command("costs", "--store", str(copy), *more)
        assert result.returncode == 2
        assert "is damaged" in result.stderr
        assert "Traceback" not in result.stderr
