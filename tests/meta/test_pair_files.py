"""Pair files of every kind: read whole, or refused with every reason at once."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from audiocapbench.data.problems import InvalidDataError
from audiocapbench.errors import DatasetError, TrialError
from audiocapbench.meta.pairs import KINDS, normalised, pair_set, read_pairs
from pair_files import REFERENCES, human_clip, main_clip, write

TABLE = (
    "audio,caption_a,caption_b,preferred,type,reference_1,reference_2\n"
    'a.wav,"A dog barks. ","  a  cat",a,HH,a dog,A dog barks. \n'
    "b.wav,rain,wind,B,HM,rain falls,\n"
    "c.wav,one,two,tie,HM,three,\n"
)


def test_main_pairs_carry_the_answer_of_their_votes(tmp_path: Path) -> None:
    pairs = read_pairs("brace-main", [write(tmp_path / "AudioCaps_Main.json", [main_clip()])])
    assert [(pair.subtype, pair.type, pair.answer) for pair in pairs] == [
        ("HH", "HH", 0),
        ("HM_1", "HM", 1),
        ("MM_2", "MM", 1),
        ("MM_3", "MM", None),
    ]
    assert {pair.dataset for pair in pairs} == {"AudioCaps"}
    assert pairs[0].audio == "1.wav"


def test_no_caption_is_held_to_itself_or_to_its_rival(tmp_path: Path) -> None:
    pairs = read_pairs("brace-main", [write(tmp_path / "m.json", [main_clip()])])
    assert pairs[0].references_first == tuple(REFERENCES[1:3] + REFERENCES[4:])
    assert pairs[2].references_first == pairs[2].references_second == tuple(REFERENCES)


def test_a_pair_without_two_votes_to_spare_leaves_and_is_counted(tmp_path: Path) -> None:
    pairs = read_pairs("brace-main", [write(tmp_path / "m.json", [main_clip()])])
    kept = pair_set("brace-main", pairs)
    assert [pair.subtype for pair in kept.pairs] == ["HH", "HM_1", "MM_2"]
    assert kept.left_out == 1


def test_hallucination_pairs_prefer_what_people_wrote(tmp_path: Path) -> None:
    clip = {
        "file_name": "1.wav",
        "caption_1": ["a dog", "a dragon.", "human", "hallucination", {"references": ["a hound"]}],
        "caption_2": ["a piano", "a dog", "hallucination", "human", {"references": ["a hound"]}],
    }
    path = write(tmp_path / "Clotho_Hallu.json", [clip])
    found = pair_set("brace-hallucination", read_pairs("brace-hallucination", [path]))
    assert [pair.answer for pair in found.pairs] == [0, 1]
    assert found.pairs[0].second == "a dragon"
    assert found.text == "normalised"
    assert found.pairs[0].dataset == "Clotho"


def test_human_pairs_are_held_to_the_references_of_the_protocol(tmp_path: Path) -> None:
    content = [human_clip(references=["a dog barks", "a dog", "a dog barks", "a hound", "a hound"])]
    pairs = {one.subtype: one for one in read_pairs("human", [write(tmp_path / "h.json", content)])}
    assert list(pairs) == ["HC", "HI", "MM_1"]
    assert pairs["HC"].references_first == ("a dog", "a hound", "a hound", "a dog")
    assert pairs["HC"].references_second == ("a dog barks", "a dog barks", "a hound", "a hound")
    assert pairs["HI"].references_second == pairs["HI"].references_first
    assert len(pairs["MM_1"].references_first) == 5
    assert pairs["MM_1"].answer is None


def test_undecided_human_pairs_stay_in_the_corpus_and_out_of_the_count(tmp_path: Path) -> None:
    pairs = read_pairs("human", [write(tmp_path / "h.json", [human_clip()])])
    kept = pair_set("human", pairs)
    assert len(kept.pairs) == 3
    assert len(kept.decided) == 2
    assert kept.left_out == 1


def test_a_plain_table_is_a_pair_set(tmp_path: Path) -> None:
    path = tmp_path / "pairs.csv"
    path.write_text(TABLE, encoding="utf-8-sig")
    found = pair_set("csv", read_pairs("csv", [path]))
    assert [pair.answer for pair in found.decided] == [0, 1]
    assert (found.pairs[0].first, found.pairs[0].second) == ("A dog barks", "a cat")
    assert found.pairs[0].references_first == ("a dog",)
    assert [pair.type for pair in found.pairs] == ["HH", "HM"]
    assert found.left_out == 1
    as_written = pair_set("csv", read_pairs("csv", [path]), as_is=True)
    assert as_written.pairs[0].first == "A dog barks. "
    assert as_written.text == "as-is"


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        (" A  dog\tbarks . ", "A dog barks"),
        ("rain...", "rain"),
        ("a\u00a0dog", "a dog"),
        ("...", "..."),
        ("Mr. Fox", "Mr. Fox"),
    ],
)
def test_normalising_takes_white_space_and_final_stops_alone(text: str, plain: str) -> None:
    assert normalised(text) == plain


def test_every_problem_of_a_file_is_listed(tmp_path: Path) -> None:
    content = [
        "no object",
        main_clip(file_name=None),
        main_clip(**{"Human-Human": ["a", "b", "c", "d", [2, 0, 0]]}),
        main_clip(**{"Human-Human": ["a", " ", "c", "d", [1, 0, 0]]}),
        main_clip(**{"Dog-Cat": ["a", "b", "c", "d"]}),
        main_clip(**{"Human-Human": {"a": 1}}),
        main_clip(references="text"),
    ]
    with pytest.raises(InvalidDataError) as caught:
        read_pairs("brace-main", [write(tmp_path / "m.json", content)])
    words = str(caught.value)
    for expected in (
        "clip 0: is not a JSON object",
        "clip 1: file_name: is not text",
        "clip 2: Human-Human[4][0]: input should be 1, 0 or -1",
        "clip 3: Human-Human[1]: is blank",
        "clip 4: Dog-Cat[4]: is missing",
        "clip 5: Human-Human: is not a list",
        "clip 6: references: is not a list",
    ):
        assert expected in words
    odd = {"Dog-Cat": main_clip()["Human-Human"]}
    twice = [main_clip(), main_clip(), main_clip("2.wav", **odd)]
    with pytest.raises(InvalidDataError) as caught:
        read_pairs("brace-main", [write(tmp_path / "m.json", twice)])
    assert "'m/1.wav/HM_1' names 2 pairs" in str(caught.value)
    assert "clip 2: Dog-Cat: is no pair of brace-main; there are Human-Human" in str(caught.value)


@pytest.mark.parametrize("kind", [name for name in KINDS if name != "csv"])
@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"[]",
        b"{}",
        b"[NaN]",
        b"\xff\xfe",
        b"[" * 100_000,
        b'["\\ud800"]',
        b"[[[[1]]]]",
        b'[{"file_name": "\\u0000"}, null, 3]',
    ],
)
def test_hostile_json_is_refused_in_words(kind: str, content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "pairs.json"
    path.write_bytes(content)
    if content.startswith(b'[{"file_name"') and kind != "human":
        with pytest.raises(InvalidDataError, match="is not a JSON object"):
            read_pairs(kind, [path])
        return
    with pytest.raises(DatasetError, match=r"pairs\.json"):
        read_pairs(kind, [path])


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"audio,caption_a\n", "no column 'caption_b'"),
        (b"audio,audio,caption_a,caption_b,preferred\n", "names a column twice"),
        (b"audio,caption_a,caption_b,preferred\n", "holds no pairs"),
        (b"audio,caption_a,caption_b,preferred\nx,a,b,c\ny,,b,a\n", "2 problems"),
        (b"audio,caption_a,caption_b,preferred\nx,a,\xff,a\n", "line 2: is not UTF-8"),
        (b"audio,caption_a,caption_b,preferred\nx,a,b,a,more\n", "has 5 fields and not 4"),
        (b"audio,caption_a,caption_b,preferred\nx,a,b\n", "line 2: has 3 fields and not 4"),
    ],
)
def test_hostile_tables_are_refused_in_words(content: bytes, words: str, tmp_path: Path) -> None:
    path = tmp_path / "pairs.csv"
    path.write_bytes(content)
    with pytest.raises(DatasetError, match=words):
        pair_set("csv", read_pairs("csv", [path]))


def test_odd_text_is_kept_as_it_is(tmp_path: Path) -> None:
    odd = ["\u202eabc", "😀 " * 3, "x" * 100_000, "a\x00b"]
    clips = [main_clip(f"{n}.wav", **{"Human-Machine_1": [text, "b", "x", "y", [1, 1, 1]]})
             for n, text in enumerate(odd)]  # fmt: skip
    pairs = read_pairs("brace-main", [write(tmp_path / "m.json", clips)])
    assert [pair.first for pair in pairs if pair.subtype == "HM_1"] == odd


def test_the_same_pairs_twice_are_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "m.json", [main_clip()])
    with pytest.raises(DatasetError, match="is in another file as well"):
        read_pairs("brace-main", [path, path])


def test_a_missing_file_and_an_unknown_kind_are_named(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="cannot be read"):
        read_pairs("human", [tmp_path / "none.json"])
    with pytest.raises(TrialError, match="there are human, brace-main"):
        read_pairs("poems", [])


def test_the_real_files_are_read_whole(shared: Path) -> None:
    brace = shared / "brace"
    main = pair_set("brace-main", read_pairs("brace-main", [brace / "AudioCaps_Main.json"]))
    assert Counter(pair.type for pair in main.pairs) == {"HH": 139, "HM": 445, "MM": 561}
    assert len({pair.clip for pair in main.pairs}) == 275
    found = read_pairs("brace-hallucination", [brace / "AudioCaps_Hallu.json"])
    assert len(found) == 3825
    human = pair_set("human", read_pairs("human", [shared / "fense" / "audiocaps_eval_pairs.json"]))
    counted = Counter(pair.type for pair in human.decided)
    assert counted == {"HC": 203, "HI": 247, "HM": 239, "MM": 794}


@pytest.mark.parametrize(
    ("clip", "told", "asked"),
    [(human_clip, "human", "brace-main"), (main_clip, "brace-main", "human")],
)
def test_a_file_of_another_kind_is_told_in_one_line(
    tmp_path: Path, clip: Callable[[], object], told: str, asked: str
) -> None:
    path = write(tmp_path / "pairs.json", [clip(), clip()])
    with pytest.raises(DatasetError) as error:
        read_pairs(asked, [path])
    assert str(error.value) == (
        f"{path}: holds pairs of the kind {told}, not {asked}; write 'audiocapbench meta {told}'"
    )


def test_a_table_may_have_votes(tmp_path: Path) -> None:
    table = tmp_path / "votes.csv"
    table.write_text(
        "audio,caption_a,caption_b,vote_1,vote_2,vote_3\n"
        "a.wav,one,two,a,a,b\nb.wav,one,two,b,tie,b\nc.wav,one,two,a,b,tie\n"
    )
    pairs = read_pairs("csv", [table])
    assert [pair.answer for pair in pairs] == [0, 1, None]
    assert [pair.votes for pair in pairs] == [(1, 1, -1), (-1, 0, -1), (1, -1, 0)]
    assert [pair.answer for pair in read_pairs("csv", [table], 2)] == [None, 1, None]
    table.write_text("audio,caption_a,caption_b,vote_1\na.wav,one,two,perhaps\n")
    with pytest.raises(InvalidDataError, match="vote_1"):
        read_pairs("csv", [table])
