"""A project file that is wrong is refused with its line, and so is what it names."""

import json
from pathlib import Path
from typing import Any

import pytest

from audiocapbench.errors import AudioCapBenchError
from audiocapbench.store import Store
from audiocapbench.web.rating.items import load_items
from audiocapbench.web.rating.project import KINDS, RatingError, read_project
from audiocapbench.web.rating.routes import RatingDesk
from rating_project import write_project


def changed(path: Path, field: str, value: Any) -> Path:
    """The project with one line written otherwise, or left out."""
    lines = path.read_text(encoding="utf-8").splitlines()
    kept = [line for line in lines if not line.startswith(f"{field} =")]
    new = [] if value is None else [f"{field} = {value}"]
    path.write_text("\n".join([*kept, *new]) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("name", None, r"project\.toml: name: is missing"),
        ("name", '"../x"', r"line 7: name: is '\.\./x'"),
        ("name", '""', "line 7: name: is ''"),
        ("kind", '"votes"', "line 7: kind: is 'votes': input should be 'pairs', 'judge'"),
        ("people", "[]", "line 7: people: is"),
        ("people", '["ana", "ana"]', "line 7: people: names a person twice"),
        ("people", '["ana", " "]', "line 7: people: has ' ', which is no name"),
        ("people", '["\\u001b[2J"]', "line 7: people: has .* which is no name"),
        ("people", '"ana"', "line 7: people: is 'ana'"),
        ("each", "0", "line 7: each: is 0"),
        ("each", "3", "line 7: each: is 3, and there are only 2 people"),
        ("each", "1.5", "line 7: each: is 1.5"),
        ("items", None, "items: name either a file of items, or runs"),
        ("run", "1", "line 5: items: name either"),
        ("audio", None, "audio: is missing; name the folder"),
        ("listen", "2", "line 7: listen: is 2"),
        ("listen", "nan", "line 7: listen: is nan"),
        ("claim_minutes", "0", "line 8: claim_minutes: is 0"),
        ("seed", "-1", "line 8: seed: is -1"),
        ("url", '"javascript:alert(1)"', "line 8: url: is 'javascript:"),
        ("colour", '"red"', "line 8: colour: is no key; keys here are name, kind"),
        ("root", '"/"', "line 8: root: is no key"),
        ("title", '"a" b', r"project\.toml: is not TOML: .*line 8"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(
    tmp_path: Path, field: str, value: str | None, said: str
) -> None:
    path = changed(write_project(tmp_path), field, value)
    with pytest.raises(RatingError, match=said) as error:
        read_project(path)
    assert "\n" not in str(error.value)


def test_a_file_that_is_not_there_or_no_text_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(RatingError, match=r"none\.toml: cannot be read \(No such file"):
        read_project(tmp_path / "none.toml")
    (tmp_path / "bytes.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(RatingError, match="is not UTF-8 text"):
        read_project(tmp_path / "bytes.toml")
    with pytest.raises(RatingError, match="cannot be read"):
        read_project(tmp_path)


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (["id,audio,caption_a,caption_b"], "holds no items; there is nothing to rate"),
        (["id,audio,caption_a", "x,0.wav,a"], "has no column 'caption_b'"),
        (["id,caption_a,caption_b", "x,a,b"], "has no column 'file_name'"),
        (["audio,caption_a,caption_b", "0.wav,a,"], "line 2: caption_b: is missing, blank"),
        (["audio,caption_a,caption_b", "../0.wav,a,b"], "leads out of the folder"),
        (["audio,caption_a,caption_b", "/etc/passwd,a,b"], "is not a name within a folder"),
        (["audio,caption_a,caption_b", "none.wav,a,b"], r"none\.wav: is not in"),
        (["audio,caption_a,caption_b", "project.toml,a,b"], r"project\.toml"),
        (["audio,caption_a,caption_b,gold", "0.wav,a,b,c"], "gold: is 'c', not a, b or tie"),
        (["audio,caption_a,caption_b,gold", "0.wav,a,b,a"], "all its rows have an answer"),
        (["id,audio,caption_a,caption_b", "x,0.wav,a,b", "x,1.wav,a,b"], "'x' names two items"),
        ([f"audio,caption_a,caption_b\n0.wav,{'a' * 20_001},b"], "more than 20,000 characters"),
    ],
)
def test_items_that_cannot_be_rated_are_refused(tmp_path: Path, rows: list[str], said: str) -> None:
    path = write_project(tmp_path)
    (tmp_path / "items.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    (tmp_path / "tones" / "project.toml").write_text("no sound")
    with (
        Store.open(str(tmp_path / "a.db")) as store,
        pytest.raises(AudioCapBenchError, match=said),
    ):
        load_items(read_project(path), store)


def test_lines_of_json_are_read_too_and_text_that_no_store_keeps_is_refused(
    tmp_path: Path,
) -> None:
    path = changed(write_project(tmp_path, "rel"), "items", '"items.jsonl"')
    row = {"id": 7, "file_name": "0.wav", "prediction": "a dog", "model": "m", "domain": "S00"}
    (tmp_path / "items.jsonl").write_text(json.dumps(row), encoding="utf-8")
    with Store.open(str(tmp_path / "a.db")) as store:
        (item,) = load_items(read_project(path), store)[0].values()
        assert (item.id, item.captions, item.systems, item.group) == (
            "7",
            ("a dog",),
            ("m",),
            "S00",
        )
        (tmp_path / "items.jsonl").write_text(json.dumps(row | {"prediction": "\ud800"}))
        with pytest.raises(AudioCapBenchError, match="line 1"):
            load_items(read_project(path), store)


def test_the_table_of_meta_build_is_read_with_its_broken_captions_as_gold(tmp_path: Path) -> None:
    path = write_project(tmp_path)
    (tmp_path / "items.csv").write_text(
        "id,audio,caption_a,caption_b,preferred,type,vote_1,vote_2,reference_1\n"
        "0/HM_1,0.wav,one,two,,HM_1,,,a reference\n"
        "0/HM_2,0.wav,three,four,b,HM_2,,,\n"
        "1/HM_1,1.wav,five,six,a,HM_1,a,a,\n"
    )
    with Store.open(str(tmp_path / "a.db")) as store:
        items, _, _ = load_items(read_project(path), store)
    assert {key: one.gold for key, one in items.items()} == {
        "0/HM_1": "",
        "0/HM_2": "b",
        "1/HM_1": "",
    }
    assert items["0/HM_1"].references == ("a reference",)


def test_a_project_goes_on_with_what_is_new_and_refuses_what_was_changed(tmp_path: Path) -> None:
    path = write_project(tmp_path, "rel", count=2)
    with Store.open(str(tmp_path / "a.db")) as store:
        desk = RatingDesk(read_project(path), store)
        assert sorted(desk.invited) == ["", "ana", "ben"]
        token = desk.next("ana")["item"]["token"]
        from audiocapbench.web.rating.routes import RatingRequest

        sent = {"item": token, "key": "k" * 16, "answer": {"rel": 3}, "played_s": 1.0}
        desk.save("ana", RatingRequest.model_validate(sent))
        rated = store.ratings.of("trial")[0].item
        changed(path, "people", '["ana", "ben", "caro"]')
        table = (tmp_path / "items.csv").read_text(encoding="utf-8")
        more = table + "secret-9,1.wav,other words,m,tones,\n"
        (tmp_path / "items.csv").write_text(more, encoding="utf-8")
        desk = RatingDesk(read_project(path), store)
        assert list(desk.invited) == ["caro"]
        assert len(desk.items) == 3
        number = rated.removeprefix("secret-")
        other = more.replace(f"words on {number}", "what nobody has rated")
        (tmp_path / "items.csv").write_text(other, encoding="utf-8")
        with pytest.raises(AudioCapBenchError, match=f"'{rated}' of 'trial' was rated with"):
            RatingDesk(read_project(path), store)
        left = "\n".join(line for line in more.splitlines() if rated not in line) + "\n"
        (tmp_path / "items.csv").write_text(left, encoding="utf-8")
        desk = RatingDesk(read_project(path), store)
        assert rated not in desk.items
        assert len(store.ratings.of("trial")) == 1, "what was said of what is gone is kept"
        assert desk.back("ana", None) is None
        with pytest.raises(AudioCapBenchError, match="is of kind rel with seed 0"):
            RatingDesk(read_project(changed(path, "seed", "1")), store)


@pytest.mark.parametrize(
    ("kind", "text", "answer", "right"),
    [
        ("pairs", "a", {"vote": "a"}, True),
        ("pairs", "A ", {"vote": "tie"}, False),
        ("pairs", "tie", {"vote": "tie"}, True),
        ("rel", "4-5", {"rel": 4}, True),
        ("rel", "4-5", {"rel": 3}, False),
        ("rel", "rel 2", {"rel": 2}, True),
        ("pick", "3", {"pick": 3}, True),
        ("judge", "accuracy 8-10; hallucination 9-10", {"accuracy": 8, "hallucination": 10}, True),
        ("judge", "accuracy 8-10; hallucination 9-10", {"accuracy": 8, "hallucination": 8}, False),
    ],
)
def test_gold_questions_have_right_answers(
    kind: str, text: str, answer: dict[str, Any], right: bool
) -> None:
    assert KINDS[kind].is_right(text, answer) is right


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        *(("pairs", "c"), ("pairs", "1"), ("rel", "6"), ("rel", "5-4"), ("rel", "0"), ("rel", "x")),
        *(("judge", "8-10"), ("judge", "warmth 3"), ("judge", "accuracy 11"), ("pick", "5")),
    ],
)
def test_other_gold_is_refused(kind: str, text: str) -> None:
    with pytest.raises(RatingError, match="is '"):
        KINDS[kind].is_right(text, {})


def test_a_choice_is_about_the_caption_and_not_its_side() -> None:
    assert KINDS["pairs"].read_answer({"choice": 1}, [1, 0]) == {"vote": "b"}
    assert KINDS["pairs"].read_answer({"choice": "bad"}, [1, 0]) == {"vote": "both_bad"}
    assert KINDS["pick"].read_answer({"choice": 4}, [2, 0, 3, 1]) == {"pick": 2}
    others: list[Any] = [3, "both_bad", True, None, ["a"]]
    for given in ({"choice": one} for one in others):
        with pytest.raises(RatingError):
            KINDS["pairs"].read_answer(given, [0, 1])
