"""The library: what a call returns prints itself, can be cited, and works inside a running loop."""

import asyncio
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, get_type_hints

import pytest

import audiocapbench as acb
from audiocapbench.benchmarks.benchmark_file import write_new
from audiocapbench.library.running import JudgeSettings, RunSettings
from command import run_command
from folders import write_folder
from needs import needs
from printed import ROOT, blocks, lay_out, page

METRICS = ["meteor", "rouge_l"]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A store with two judged runs over twelve tones."""
    folder = tmp_path_factory.mktemp("library")
    tones = write_folder(folder / "tones", 12)
    kept = str(folder / "library.db")
    for name in ("control/right", "control/wrong"):
        acb.run(tones, name, metrics=METRICS, judge="elements", store=kept)
    return kept


@pytest.fixture(scope="module")
def results(store: str) -> list[acb.Result]:
    """One result of every kind."""
    texts = ["a dog barks", "rain <b>falls</b>\x1b[31m", "wind"]
    scored = acb.score(texts, [["a dog is barking"], ["rain falls"], ["wind blows"]], METRICS)
    return [
        scored,
        acb.judge(1, "elements", store=store),
        _imported(Path(store).parent),
        acb.compare(1, 2, store=store),
        acb.leaderboard(store=store),
    ]


def _imported(place: Path) -> acb.ImportResult:
    (place / "texts.csv").write_text("id,prediction\na,a dog\nb,rain\nx,nothing\n")
    (place / "refs.csv").write_text("id,reference\na,a dog barks\nb,rain falls\nc,wind\n")
    own = {"references": place / "refs.csv", "model": "mine", "store": place / "own.db"}
    result = acb.import_run(place / "texts.csv", **own, metrics=METRICS)  # type: ignore[arg-type]
    assert result.end is not None
    assert (result.end.missing, result.end.surplus) == (("c",), ("x",))
    assert result.answers == {"a": "a dog", "b": "rain", "c": ""}
    assert "1 about no sample" in str(result)
    return result


def test_every_result_is_a_short_table_a_cell_a_dictionary_and_rows(
    results: list[acb.Result],
) -> None:
    for one in results:
        shown = str(one)
        assert shown == repr(one)
        assert 2 < len(shown.splitlines()) < 80
        assert "\x1b" not in shown
        assert "<table>" in one._repr_html_()
        assert "<b>" not in one._repr_html_()
        json.dumps(one.to_dict(), allow_nan=False)
        columns = {tuple(row) for row in one.records()}
        assert len(columns) == 1


def test_a_frame_has_a_row_for_each_record(results: list[acb.Result]) -> None:
    needs("pandas")
    for one in results:
        frame = one.to_frame()
        assert len(frame) == len(one.records())
        assert list(frame.columns) == list(one.records()[0])


def test_without_a_frame_library_that_is_one_sentence(
    results: list[acb.Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    import sys

    for name in ("pandas", "polars"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(acb.AudioCapBenchError, match="needs pandas or polars"):
        results[0].to_frame()


def test_captions_come_in_order_by_id_and_from_files(tmp_path: Path) -> None:
    texts, references = ["a dog barks", "rain"], [["a dog is barking", "dog"], "it rains"]
    listed = acb.score(texts, references, METRICS)
    by_id = acb.score(
        dict(zip("ab", texts, strict=True)), dict(zip("ab", references, strict=True)), METRICS
    )
    (tmp_path / "p.csv").write_text("id,prediction\na,a dog barks\nb,rain\n")
    (tmp_path / "r.jsonl").write_text(
        '{"id": "a", "references": ["a dog is barking", "dog"]}\n'
        '{"id": "b", "references": ["it rains"]}\n'
    )
    files = acb.score(tmp_path / "p.csv", str(tmp_path / "r.jsonl"), "meteor,rouge_l")
    values = [[one[name].value for name in METRICS] for one in (listed, by_id, files)]
    assert values[0] == values[1] == values[2]
    assert str(listed["meteor"].signature).startswith("meteor|")
    assert listed["meteor"].n == 2
    with pytest.raises(KeyError, match="there are meteor, rouge_l"):
        _ = listed["cider"]


def test_categories_of_captions_give_scores_by_group() -> None:
    found = acb.score(["a", "b", "a"], ["a", "a", "a"], "rouge_l", groups=["x", "y", "x"])
    by_group = {row["group"]: row["score"] for row in found.records()}
    assert by_group == {"all": pytest.approx(2 / 3), "x": 1.0, "y": 0.0}


@pytest.mark.parametrize(
    ("predictions", "references", "words"),
    [
        (["a", "b"], ["a"], "2 predictions and 1 references; give one of each"),
        ("a dog barks", ["a dog"], "captions themselves come in a list"),
        ([1], ["a"], "sample 0: 1 is no text"),
        (["a"], [[]], "sample 0 has no reference"),
        (["a"], ["  "], "sample 0 has no reference, or a blank one"),
        ([], [], "no references"),
        ({"a", "b"}, ["a", "b"], "a set has no order"),
        ({"a": "x"}, {"b": "x"}, "no prediction has references under its id"),
        ({1: "x", "1": "y"}, {"1": "x"}, "1 ids more than once, such as '1'"),
    ],
)
def test_captions_that_do_not_fit_are_one_sentence(
    predictions: Any, references: Any, words: str
) -> None:
    with pytest.raises(acb.AudioCapBenchError, match=words):
        acb.score(predictions, references, METRICS)


def test_a_missing_prediction_is_counted_and_shown() -> None:
    found = acb.score({"a": "x"}, {"a": "x", "b": "y"}, "rouge_l")
    assert found["rouge_l"].as_zero == pytest.approx(0.5)
    assert "1 without a prediction" in str(found)
    assert found.to_dict()["missing_ids"] == ["b"]


def test_the_same_number_wherever_it_is_asked_for(store: str) -> None:
    run = acb.judge(1, "elements", store=store)
    # As earlier versions had them, by attributes of their own.
    board = acb.leaderboard(store=store, judge="elements").records()
    compared = acb.compare(1, 2, store=store, judges=["elements"]).to_dict()
    assert run["elements"].value == next(row["score"] for row in board if row["run"] == 1)
    overall = next(one for one in compared["differences"] if one["scorer"] == "elements: overall")
    assert run["elements"].value == pytest.approx(overall["a"])


def test_all_calls_work_inside_a_running_loop_and_as_async(store: str, tmp_path: Path) -> None:
    tones = write_folder(tmp_path / "tones", 4)

    async def cell() -> list[acb.Result]:
        own = str(tmp_path / "loop.db")
        blocking: list[acb.Result] = [
            acb.run(tones, "control/right", metrics="rouge_l", judge="elements", store=own),
            acb.judge(1, "elements", store=own, fresh=True),
            acb.score(["a"], ["a"], "rouge_l"),
            acb.compare(1, 2, store=store),
            acb.leaderboard(store=store),
        ]
        awaited: list[acb.Result] = [
            await acb.arun(tones, "control/right", metrics="rouge_l", judge="elements", store=own),
            await acb.ajudge(1, "elements", store=own),
            await acb.ascore(["a"], ["a"], "rouge_l"),
            await acb.acompare(1, 2, store=store),
            await acb.aleaderboard(store=store),
        ]
        assert [str(one) for one in blocking] == [str(one) for one in awaited]
        return awaited

    assert len(asyncio.run(cell())) == 5


def test_a_model_and_a_benchmark_of_ones_own_can_be_given(tmp_path: Path) -> None:
    class Echo(acb.SimpleModel):
        contract = acb.AudioContract("none")

        async def answer(self, question: acb.Question) -> acb.Reply:
            return acb.Reply(f"A tone. {question.sample_id}")

    benchmark = acb.open_benchmark(str(write_folder(tmp_path / "tones", 3)))
    with acb.Store.open(str(tmp_path / "own.db")) as store:
        result = acb.run(benchmark, Echo("own/echo"), metrics="rouge_l", store=store)
        assert len(store.runs()) == 1
    assert result.run.model == "own/echo"
    assert set(result.answers) == {sample.id for sample in benchmark.samples}
    assert all(text.startswith("A tone.") for text in result.answers.values())


def test_reprs_stay_short_however_large_the_thing_is(tmp_path: Path) -> None:
    benchmark = acb.open_benchmark(str(write_folder(tmp_path / "tones", 40)))
    many = acb.compute(["rouge_l"], ["a dog"] * 500, [["a dog"]] * 500)[0]
    with acb.Store.open(str(tmp_path / "r.db")) as store:
        result = acb.run(benchmark, "control/right", metrics="rouge_l", store=store)
        run = store.run(result.run.id)
        things = [benchmark, many, run, store, store.dataset(run.dataset), result["rouge_l"]]
        things += [result.summary, benchmark.samples[0], store.runs()[0]]
        for one in things:
            assert len(repr(one)) < 700, repr(one)[:900]
            assert len(str(one)) < 700


def public_imports(text: str) -> Iterator[str]:
    for names in re.findall(
        r"^\s*from audiocapbench[.\w]* import \(?([^)\n]+)", text, re.MULTILINE
    ):
        yield from (name.strip() for name in names.split(",") if name.strip())
    yield from re.findall(r"\bacb\.(\w+)", text)


def test_the_docs_import_only_public_names() -> None:
    pages = ["README.md", *(str(one.relative_to(ROOT)) for one in (ROOT / "docs").rglob("*.md"))]
    for name in pages:
        for block in blocks(page(name), "python"):
            assert "from audiocapbench." not in block, name
            assert set(public_imports(block)) <= set(acb.__all__), name


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("docs/library.md", ["Run 1: control/right on demo", "meteor|variant:nltk", "'meteor'?"]),
        ("docs/recipes.md", ["2000 ", "step-1000", "step-2000"]),
        ("docs/threads.md", ["control/right", "control/safe", "rouge_l", "n=2/2"]),
    ],
)
def test_the_examples_of_pages_about_the_library_run(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    name: str,
    words: list[str],
) -> None:
    clips = blocks(page("docs/benchmarks/your-own.md"), "json")[0]
    monkeypatch.chdir(lay_out(tmp_path, clips))
    names: dict[str, Any] = {}
    for block in blocks(page(name), "python"):
        exec(compile(block, name, "exec"), names)
    shown = capsys.readouterr().out
    assert [one for one in words if one not in shown] == []


def test_the_notebook_runs_in_a_real_kernel(tmp_path: Path) -> None:
    nbclient = needs("nbclient")
    needs("ipykernel")
    nbformat = needs("nbformat")
    notebook = nbformat.read(ROOT / "docs" / "library.ipynb", as_version=4)
    settings = {"metadata": {"path": str(tmp_path)}}
    nbclient.NotebookClient(notebook, timeout=300, resources=settings).execute()
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    outputs = [cell.outputs for cell in cells if cell.outputs]
    assert [len(one) for one in outputs] == [1] * len(outputs)  # a result is shown once
    assert all(one.data["text/plain"].strip() for (one,) in outputs)
    tables = [one.data["text/html"] for (one,) in outputs if "text/html" in one.data]
    assert len(tables) >= 4
    assert all('overflow-x:auto"><table>' in one and "<pre" not in one for one in tables)
    assert (tmp_path / "notebook.db").is_file()


def test_a_judge_is_named_by_a_text_with_a_slash(
    store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(acb.AudioCapBenchError, match=r"OPENAI_API_KEY|audiocapbench\[openai\]"):
        acb.judge(1, "openai/gpt-4.1", store=store)


def test_errors_name_arguments_in_python_and_options_in_a_command(tmp_path: Path) -> None:
    (tmp_path / "text.db").write_text("no database" * 1000)
    calls: dict[str, Callable[[], object]] = {
        "takes no `data`; it": lambda: acb.open_benchmark("demo", tmp_path),
        "choose another `store`": lambda: acb.compare(1, 2, store=str(tmp_path / "text.db")),
        "`store` is empty": lambda: acb.run("demo", "control/safe", store=""),
        "`benchmark` or `references`": lambda: acb.import_run(str(tmp_path / "text.db")),
    }
    for words, call in calls.items():
        with pytest.raises(acb.AudioCapBenchError, match=words) as raised:
            call()
        assert "--" not in str(raised.value)
    said = run_command("run", "demo", "--model", "control/safe", "--data", str(tmp_path))
    assert "takes no --data" in said.stderr
    known = {
        name
        for hints in (RunSettings, JudgeSettings, acb.import_run, acb.costs, write_new)
        for name in get_type_hints(hints)
    }
    source = Path(acb.__file__).parent.rglob("*.py")
    lines = [line for path in source for line in path.read_text("utf-8").splitlines()]
    named = re.findall(r"(?<!`)`([a-z_]+)`(?!`)", "\n".join(one for one in lines if '"' in one))
    assert {"data", "store", "hears"} <= set(named) <= known


def test_a_command_in_an_error_can_be_typed(tmp_path: Path) -> None:
    with pytest.raises(acb.AudioCapBenchError, match="'audiocapbench run --store "):
        acb.compare(1, 2, store=str(tmp_path / "a b.db"))


def test_options_that_a_call_does_not_have_are_refused(store: str, tmp_path: Path) -> None:
    unknown: dict[str, Any] = {"temperature": 0.7}
    with pytest.raises(TypeError, match="no option 'temperature'"):
        acb.run("demo", "listener", **unknown)
    with pytest.raises(TypeError, match="no option 'temperature'"):
        acb.compare(1, 2, **unknown)
    with pytest.raises(TypeError, match="no option 'temperature'"):
        acb.leaderboard(**unknown)
    with pytest.raises(TypeError, match="no option 'return'; there are store, "):
        acb.leaderboard(**{"return": 1})  # type: ignore[arg-type]


def test_a_category_called_all_does_not_replace_the_whole() -> None:
    found = acb.score(["a dog", "b"], ["a dog", "c"], "rouge_l", groups=["all", "y"])
    assert [row["score"] for row in found.records()] == [0.5, 1.0, 0.0]


def test_runs_of_two_benchmarks_over_the_same_samples_keep_their_boards(tmp_path: Path) -> None:
    benchmark = acb.open_benchmark(str(write_folder(tmp_path / "tones", 12)))
    kept = str(tmp_path / "two.db")
    for name, contract in (("ba", "audiocapbench"), ("bb", "mecat-qa")):
        traits = acb.Traits(metrics=("rouge_l",), judge=contract)
        own = acb.Benchmark(name, benchmark.root, benchmark.samples, traits=traits)
        acb.run(own, "control/right", store=kept)
    boards = acb.leaderboard(store=kept).to_dict()["boards"]
    assert {board["benchmark"] for board in boards} == {"ba", "bb"}
    from audiocapbench.library.running import judge_plan

    with acb.Store.open(kept) as store:
        [judge] = judge_plan(2, "endpoint/m@http://127.0.0.1:9/v1", {}, store).judges
    assert "mecat-qa" in str(judge.signature)


def test_the_index_of_a_series_is_its_ids() -> None:
    pandas = needs("pandas")
    texts = pandas.Series(["a dog barks", "rain falls"], index=["b", "a"])
    references = pandas.Series(["rain falls", "a dog barks"], index=["a", "b"])
    assert acb.score(texts, references, "rouge_l")["rouge_l"].value == 1.0


def test_intervals_are_promised_only_where_there_are_some() -> None:
    one = str(acb.score(["a dog"], [["a dog barks"]], "rouge_l"))
    assert one.startswith("1 sample (fewer than 10 samples: no intervals)")
    texts = [f"dog {number} barks" for number in range(10)]
    many = str(acb.score(texts, [[f"a {text}"] for text in texts], "rouge_l"))
    assert many.startswith("10 samples, with 95 % intervals")
