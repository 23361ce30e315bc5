"""Captions that callers give are paired as they mean, or refused: no order is taken for ids."""

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import numpy as np
import pytest

import audiocapbench as acb
from needs import needs

TEXTS = ["a dog barks at a cat", "rain falls on a roof", "wind blows", "a man is talking"]
REFERENCES = [
    ["a dog barks at a cat", "a big dog is barking"],
    ["rain falls on a roof", "it rains on the roof"],
    ["the wind blows hard"],
    "a man talks",
]
IDS = ["c", "a", "d", "b"]
TURNED = [3, 0, 2, 1]

Scorer = Callable[..., acb.ScoreResult]


def updated(predictions: Any, references: Any) -> acb.ScoreResult:
    metric = acb.AudioCaptionMetric("cider_d,rouge_l")
    metric.update(predictions, references)
    return metric.compute()


def scored(predictions: Any, references: Any) -> acb.ScoreResult:
    return acb.score(predictions, references, "cider_d,rouge_l")


both = pytest.mark.parametrize("score", [scored, updated])


def assert_paired(result: acb.ScoreResult) -> None:
    expected = scored(TEXTS, REFERENCES)
    for name in ("cider_d", "rouge_l"):
        assert result[name].value == pytest.approx(expected[name].value, abs=1e-12)
        assert result[name].n == len(TEXTS)


def by_id(values: list[Any], ids: list[Any] = IDS) -> dict[Any, Any]:
    return dict(zip(ids, values, strict=True))


def turned(values: dict[str, Any]) -> dict[str, Any]:
    """The same in another order."""
    items = list(values.items())
    return dict(items[place] for place in TURNED)


def generated(values: list[Any]) -> Iterator[Any]:
    yield from values


@both
def test_lists_tuples_arrays_and_generators_are_read_in_order(score: Scorer) -> None:
    ways: list[Callable[[list[Any]], Any]] = [list, tuple, generated]
    for one, other in product([*ways, np.array], ways):
        assert_paired(score(one(TEXTS), other(REFERENCES)))
    square = score(np.array(TEXTS[:2]), np.array(REFERENCES[:2]))
    assert square["rouge_l"].value == 1.0


@both
def test_dicts_meet_by_their_ids_in_whatever_order(score: Scorer) -> None:
    assert_paired(score(by_id(TEXTS), turned(by_id(REFERENCES))))
    numbered = by_id(REFERENCES, [2, 4, 6, 8])
    assert_paired(score(by_id(TEXTS, ["2", "4", "6", "8"]), dict(reversed(numbered.items()))))


@both
def test_what_has_no_counterpart_by_id_is_counted(score: Scorer) -> None:
    predictions = by_id(TEXTS) | {"b": None, "x": "a bird"}
    found = score(predictions, by_id(REFERENCES))
    assert (found.scores.missing, found.scores.surplus) == (("b",), ("x",))
    assert found["rouge_l"].n == 3
    in_order = score([*TEXTS[:3], None], REFERENCES)
    assert in_order["cider_d"].value == pytest.approx(found["cider_d"].value, abs=1e-12)
    files = score({"c.wav": TEXTS[0], "a.wav": TEXTS[1]}, {"a": REFERENCES[1], "c": REFERENCES[0]})
    assert files["rouge_l"].value == 1.0
    assert "only by extension, folder, case or zeros" in str(files)


@both
def test_ids_against_order_is_refused_unless_both_say_the_same(score: Scorer) -> None:
    for predictions, references in (
        (by_id(TEXTS), REFERENCES),
        (TEXTS, by_id(REFERENCES)),
        (by_id(TEXTS, [1, 2, 3, 4]), REFERENCES),
        (by_id(TEXTS, [1, 0, 2, 3]), REFERENCES),
        (by_id(TEXTS), generated(REFERENCES)),
    ):
        with pytest.raises(acb.AudioCapBenchError, match="give both in lists, or both by id"):
            score(predictions, references)
    assert_paired(score(by_id(TEXTS, [0, 1, 2, 3]), REFERENCES))


@both
def test_a_file_has_ids_and_a_list_has_none(score: Scorer, tmp_path: Any) -> None:
    path = tmp_path / "p.csv"
    path.write_text("id,prediction\n1,rain\n0,a dog\n")
    with pytest.raises(acb.AudioCapBenchError, match="references are in order"):
        score(path, ["rain", "a dog"])
    assert score(path, {"0": "a dog", "1": "rain"})["rouge_l"].value == 1.0


@both
@pytest.mark.parametrize("odd", [None, True, 1.0, float("nan"), "", ("a", 1)])
def test_an_id_is_a_text_or_a_whole_number(score: Scorer, odd: Any) -> None:
    with pytest.raises(acb.AudioCapBenchError, match="is no id"):
        score({odd: "a"}, {"a": "a"})


def test_categories_are_paired_as_captions_are() -> None:
    with pytest.raises(acb.AudioCapBenchError, match="groups are in order"):
        acb.score(by_id(TEXTS), by_id(REFERENCES), "rouge_l", groups=["x", "y", "x", "y"])
    groups = turned(by_id(["x", "y", "x", "y"]))
    found = acb.score(by_id(TEXTS), by_id(REFERENCES), "rouge_l", groups=groups)
    assert found.to_dict()["by_group"].keys() == {"x", "y"}


def test_the_ids_of_a_batch_are_paired_as_its_captions_are() -> None:
    metric = acb.AudioCaptionMetric("rouge_l")
    with pytest.raises(acb.AudioCapBenchError, match="ids are in order"):
        metric.update(by_id(TEXTS), by_id(REFERENCES), ids=["1", "2", "3", "4"])
    with pytest.raises(acb.AudioCapBenchError, match="not about the same samples"):
        metric.update({"a": "x", "b": "x"}, {"a": "x"}, ids={"a": 1})
    metric.update({"a": "rain", "b": "a dog"}, {"b": "a dog", "a": "rain"}, ids={"b": 2, "a": 1})
    assert metric.compute().samples["rouge_l"] == {"1": 1.0, "2": 1.0}


# Series and frames of pandas.


@both
def test_two_series_meet_by_their_index(score: Scorer) -> None:
    series = needs("pandas").Series
    references = turned(by_id(REFERENCES))
    assert_paired(score(series(by_id(TEXTS)), series(references)))
    assert_paired(score(series(by_id(TEXTS)), references))
    eights = by_id(REFERENCES, [8, 9, 10, 11])
    assert_paired(score(series(TEXTS, index=range(8, 12)), series(dict(reversed(eights.items())))))
    assert_paired(score(series(TEXTS), series(REFERENCES)))
    assert_paired(score(series(TEXTS), REFERENCES))
    assert_paired(score(TEXTS, series(REFERENCES, index=[0, 1, 2, 3])))


@both
def test_a_series_with_an_index_of_its_own_is_refused_beside_order(score: Scorer) -> None:
    series = needs("pandas").Series
    for index in (IDS, TURNED, range(4, 8), range(3, -1, -1)):
        for other in (TEXTS, series(TEXTS), np.array(TEXTS)):
            with pytest.raises(acb.AudioCapBenchError, match="are in order"):
                score(other, series(REFERENCES, index=index))


@both
def test_an_index_that_repeats_is_refused_on_either_side(score: Scorer) -> None:
    series = needs("pandas").Series
    whole, twice = series(TEXTS, index=IDS), series(TEXTS, index=["a", "b", "a", "c"])
    for pair in ((twice, whole), (whole, twice), (twice, twice), (TEXTS, twice)):
        with pytest.raises(acb.AudioCapBenchError, match="more than once, such as 'a'"):
            score(*pair)


@both
def test_a_missing_value_of_any_library_is_missing(score: Scorer) -> None:
    pandas = needs("pandas")
    for empty in (None, float("nan"), np.float32("nan"), pandas.NA, pandas.NaT):
        texts, known = [empty, *TEXTS[1:]], [[*REFERENCES[0], empty], *REFERENCES[1:]]
        frame = pandas.DataFrame({"prediction": texts, "references": listed(known)})
        named = frame.assign(id=IDS)
        ways: list[tuple[Any, Any]] = [
            (texts, known),
            (pandas.Series(texts, index=IDS), pandas.Series(known, index=IDS)),
            (frame, frame),
            (named, named),
        ]
        for way in ways:
            found = score(*way)
            assert (found["rouge_l"].n, len(found.scores.missing)) == (3, 1)
        for none in (empty, [empty]):
            with pytest.raises(acb.AudioCapBenchError, match="sample 0 has no reference"):
                score(TEXTS, [none, *REFERENCES[1:]])
    with pytest.raises(acb.AudioCapBenchError, match=r"sample a: 7.0 is no text"):
        score({"a": 7.0, "b": "x"}, {"a": "x", "b": "x"})


def tables(rows: list[dict[str, Any]]) -> Iterator[Any]:
    """The same table as libraries have it."""
    yield rows
    yield generated(rows)
    yield needs("pandas").DataFrame(rows)
    yield needs("pyarrow").Table.from_pylist(rows)
    yield needs("datasets").Dataset.from_list(rows)


def listed(values: list[Any]) -> list[list[str]]:
    return [[one] if isinstance(one, str) else one for one in values]


@both
def test_a_table_is_read_as_a_file_is(score: Scorer) -> None:
    texts = [{"fname": key, "output": text} for key, text in by_id(TEXTS).items()]
    rows = [{"id": key, "captions": one} for key, one in turned(by_id(listed(REFERENCES))).items()]
    long = [{"id": row["id"], "caption": text} for row in rows for text in row["captions"]]
    wide = [{"id": row["id"], "caption_1": row["captions"][0]} for row in rows]
    for place, row in enumerate(rows):
        wide[place]["caption_2"] = [*row["captions"], None][1]
    cells = [{"id": row["id"], "references": repr(row["captions"])} for row in rows]
    for references in (rows, long, wide, cells):
        assert_paired(score(texts, references))
        assert_paired(score(by_id(TEXTS), references))


@both
def test_a_table_of_any_library_is_welcome(score: Scorer) -> None:
    whole = [
        {"audio_path": f"clips/{key}.wav", "prediction": text, "references": references}
        for key, text, references in zip(IDS, TEXTS, listed(REFERENCES), strict=True)
    ]
    for one, other in zip(tables(whole), tables(whole[::-1]), strict=True):
        assert_paired(score(one, other))
    unnamed = [{key: row[key] for key in ("prediction", "references")} for row in whole]
    for one, other in zip(tables(unnamed), tables(unnamed), strict=True):
        assert_paired(score(one, other))
        assert_paired(score(TEXTS, needs("pandas").DataFrame(unnamed)))
    later = [unnamed[0], {"id": "x", **unnamed[1]}]
    with pytest.raises(acb.AudioCapBenchError, match="id: is missing"):
        score(later, list(later))
    kept = needs("pandas").DataFrame(whole).set_index("audio_path", drop=False)
    assert_paired(score(kept, kept[::-1]))
    stream = needs("datasets").Dataset.from_list(whole).to_iterable_dataset()
    assert_paired(score(stream, stream))
    with pytest.raises(acb.AudioCapBenchError, match="sample test: IterableDataset"):
        score(needs("datasets").DatasetDict({"test": stream}), kept)
    frame = needs("pandas").DataFrame(unnamed, index=IDS)
    assert_paired(score(frame, frame[::-1]))
    assert_paired(score(frame, frame))
    with pytest.raises(acb.AudioCapBenchError, match="are in order"):
        score(TEXTS, frame)
    with pytest.raises(acb.AudioCapBenchError, match="4 predictions and 3 references"):
        score(unnamed, unnamed[:3])


@both
def test_a_table_with_ids_twice_or_cells_without_a_text_is_refused(score: Scorer) -> None:
    twice = [{"id": "a", "prediction": "x"}, {"id": "a", "prediction": "y"}]
    with pytest.raises(acb.AudioCapBenchError, match="'a' has another prediction above"):
        score(twice, {"a": "x"})
    frame = needs("pandas").DataFrame({"id": ["a", "b"], "prediction": ["x", ["y", "z"]]})
    with pytest.raises(
        acb.AudioCapBenchError, match="predictions row 2: b: its prediction is a list"
    ):
        score(frame, {"a": "x", "b": "x"})
    with pytest.raises(acb.AudioCapBenchError, match="its prediction is missing"):
        score(frame[["id"]], {"a": "x", "b": "x"})
    with pytest.raises(acb.AudioCapBenchError, match="names a column twice"):
        score(frame[["id", "prediction", "id"]], {"a": "x", "b": "x"})


def test_columns_can_be_named(tmp_path: Any) -> None:
    rows = [{"clip no": key, "said": text} for key, text in by_id(TEXTS).items()]
    columns = {"id": "clip no", "prediction": "said"}
    assert_paired(acb.score(rows, by_id(REFERENCES), "cider_d,rouge_l", columns=columns))
    path = tmp_path / "p.csv"
    path.write_text("clip no,said\n" + "".join(f"{a},{b}\n" for a, b in by_id(TEXTS).items()))
    assert_paired(acb.score(path, by_id(REFERENCES), "cider_d,rouge_l", columns=columns))
    with pytest.raises(acb.AudioCapBenchError, match="no column 'sid'"):
        acb.score(rows, by_id(REFERENCES), columns={**columns, "prediction": "sid"})
    both = [row | {"prediction": "x", "output": "y"} for row in rows]
    with pytest.raises(acb.AudioCapBenchError, match="say which: `columns` prediction=prediction"):
        acb.score(both, by_id(REFERENCES), columns={"id": "clip no"})
    for wrong in ({"predictions": "said"}, {"id": "clip no"}):
        with pytest.raises(acb.AudioCapBenchError, match="column"):
            acb.score(TEXTS, REFERENCES, columns=wrong)


@both
def test_a_list_that_was_written_as_a_text_is_read_as_a_list(score: Scorer) -> None:
    found = score(TEXTS, [repr(one) for one in listed(REFERENCES)])
    assert_paired(found)
    assert "hold lists, and were read as such" in str(found)
    with pytest.raises(acb.AudioCapBenchError, match="give each sample a list"):
        score(TEXTS, [*TEXTS[:3], "a man talks|a man speaks"])
    for way in (str, list):
        assert_paired(score([way([text]) for text in TEXTS], REFERENCES))
    with pytest.raises(acb.AudioCapBenchError, match="is no text"):
        score([str(TEXTS), *TEXTS[1:]], REFERENCES)
    one = score(["a|b", "c"], [["a|b"], ["c"]])
    assert one["rouge_l"].value == 1.0
    semicolons = ["; ".join(one * 2) for one in listed(REFERENCES)]
    split = score(TEXTS, semicolons)
    assert (
        split["cider_d"].value
        == scored(TEXTS, [2 * one for one in listed(REFERENCES)])["cider_d"].value
    )
    assert any("split at ';'" in note for note in split.notes)
    listed_twice = score(TEXTS, [[repr(one)] for one in listed(REFERENCES)])
    assert_paired(listed_twice)
    assert any("hold lists" in note for note in listed_twice.notes)
    for doubtful in (["rain; wind", "a dog"], [["['rain', 'wind', 'sea']"], ["a dog"]]):
        with pytest.raises(acb.AudioCapBenchError, match="give each sample a list of its texts"):
            score(["rain; wind", "a dog"], doubtful)
    assert score(["rain; wind", "a dog"], [["rain; wind"], ["a dog"]])["rouge_l"].value == 1.0


@both
def test_a_result_says_what_was_read_and_what_is_to_be_doubted(score: Scorer) -> None:
    found = score(TEXTS, [TEXTS[place] for place in range(4)])
    document = found.to_dict()
    assert document["read"]["references_per_sample"] == {"min": 1, "median": 1, "max": 1}
    assert document["read"]["pairs"][0]["prediction"] in TEXTS
    assert any("stand among their references word for word" in one for one in document["warnings"])
    assert set(document["warnings"]) <= set(found.notes)
    assert "stand among their references word for word" in str(found)
    assert score(SAID, CLIPS).notes == ()
    assert scored(TEXTS, REFERENCES).to_dict()["read"]["how"] == "in order"


# Lists of references that were turned round.

CLIPS = [
    ["a dog barks loudly", "the dog is barking", "barking of a loud dog"],
    ["rain falls on a tin roof", "heavy rain hits the roof", "it rains on tin"],
    ["a man speaks to a crowd", "speech of a man", "the man talks to the crowd"],
]
SAID = ["a loud dog barks", "rain on a roof", "a man talks to a crowd"]


def collated(rows: list[list[str]], kind: Callable[[Any], Any] = tuple) -> list[Any]:
    """As torch's default collation has a batch of lists."""
    return [kind(column) for column in zip(*rows, strict=True)]


@both
@pytest.mark.parametrize("kind", [tuple, list, np.array])
@pytest.mark.parametrize("count", [1, 2, 3, 5])
def test_references_that_were_turned_round_are_refused(
    score: Scorer, kind: Callable[[Any], Any], count: int
) -> None:
    rows, texts = (CLIPS * 2)[:count], (SAID * 2)[:count]
    with pytest.raises(acb.AudioCapBenchError, match="collate_fn"):
        score(texts, collated(rows, kind))


def test_turned_batches_that_were_put_together_are_refused() -> None:
    whole = [row for _ in range(3) for row in collated(CLIPS)]
    with pytest.raises(acb.AudioCapBenchError, match="collate_fn"):
        acb.score(SAID * 3, whole, "rouge_l")


def test_small_batches_that_were_turned_round_are_refused_when_there_are_enough() -> None:
    metric = acb.AudioCaptionMetric("rouge_l")
    rows = [row[:2] for row in (*CLIPS, ["wind blows", "the wind blows"])] * 4

    def loop(turn: Callable[[list[list[str]]], list[list[str]]]) -> None:
        for start in range(0, len(rows), 2):
            batch = rows[start : start + 2]
            metric.update([f"{row[1]} here" for row in batch], turn(batch))

    with pytest.raises(acb.AudioCapBenchError, match="alike by column and not by row"):
        loop(lambda batch: collated(batch, list))
    loop(list)


@both
def test_references_as_they_should_be_are_taken(score: Scorer) -> None:
    assert score(SAID, CLIPS)["cider_d"].n == 3
    assert score(tuple(SAID), tuple(map(tuple, CLIPS)))["cider_d"].n == 3
    # Who has tuples in a list has to say that they are not torch's.
    assert score(by_id(SAID, [7, 8, 9]), by_id(list(map(tuple, CLIPS)), [7, 8, 9])).scores.ids
    # A style that all texts of a column have does not make them alike.
    styled = [[f"{name}", f"in this recording one can hear {name}"] for name in ("dogs", "rain")]
    assert score(["dogs", "rain"], styled)["rouge_l"].value == 1.0


def by_sample(batch: list[Any]) -> list[Any]:
    return list(zip(*batch, strict=True))


@pytest.mark.slow
@pytest.mark.parametrize("size", [1, 2, 3, 6])
def test_a_loader_that_turns_references_round_is_refused_and_one_that_does_not_is_right(
    size: int,
) -> None:
    data = needs("torch").utils.data
    samples = list(zip(SAID * 2, CLIPS * 2, "abcdef", strict=True))
    for batch in data.DataLoader(samples, batch_size=size):
        with pytest.raises(acb.AudioCapBenchError, match="collate_fn"):
            acb.AudioCaptionMetric("rouge_l").update(*batch)
    metric = acb.AudioCaptionMetric("rouge_l")
    for batch in data.DataLoader(samples, batch_size=size, collate_fn=by_sample):
        metric.update(*batch)
    assert metric.compute().value == acb.score(SAID * 2, CLIPS * 2, "rouge_l").value


def test_dicts_are_read_as_json_files_are() -> None:
    said = {"a": "A dog barks.", "b": "Rain falls."}
    held = {"a": ["A dog is barking.", "Dog."], "b": ["It is raining.", "Rain."]}
    expected = acb.score(said, held, "rouge_l").samples
    predictions: list[Any] = [
        {key: [{"caption": text}] for key, text in said.items()},
        {key: {"prediction": text, "loss": float("nan")} for key, text in said.items()},
        {"id": list(said), "prediction": list(said.values())},
        dict(enumerate({"id": key, "output": text} for key, text in said.items())),
        {"prediction": said},
        {"id": {0: "a", 1: "b"}, "prediction": dict(enumerate(said.values()))},
        {"index": list(said), "columns": ["pred"], "data": [[text] for text in said.values()]},
    ]
    references: list[Any] = [
        {key: [{"caption": text} for text in texts] for key, texts in held.items()},
        {"id": list(held), "references": list(held.values())},
        {"id": list(held), "caption_1": ["A dog is barking.", "It is raining."]}
        | {"caption_2": ["Dog.", "Rain."]},
        {key: {"captions": texts} for key, texts in held.items()},
    ]
    for one in predictions:
        assert acb.score(one, held, "rouge_l").samples == expected
    for one in references:
        assert acb.score(said, one, "rouge_l").samples == expected
    in_order = {"prediction": list(said.values()), "loss": [0, 1]}
    assert acb.score(in_order, list(held.values()), "rouge_l").value > 0.3


def test_a_result_without_scores_says_why() -> None:
    result = acb.score({"a": None}, {"a": ["A dog."]}, "rouge_l")
    with pytest.raises(KeyError, match="no sample has a prediction to score"):
        result["rouge_l"]
    with pytest.raises(AttributeError, match="no sample has a prediction"):
        _ = result.value
