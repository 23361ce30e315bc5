"""Signatures: two numbers are compared when they were made alike, whatever version made them."""

import json
import subprocess
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audiocapbench.signature import UNSIGNED, Signature, sign
from audiocapbench.store import Store
from audiocapbench.version import VERSION
from command import run_command
from folders import write_folder
from forks import Forked

# A process in which the whole package is imported anew, and all of it as of another version.
PRETENDING = """
import sys
for name in [one for one in sys.modules if one.partition(".")[0] == "audiocapbench"]:
    del sys.modules[name]
import audiocapbench.version
audiocapbench.version.VERSION = sys.argv.pop(1)
from audiocapbench.cli import main
main()
"""
HOSTILE = st.text(st.characters() | st.sampled_from("|:%\n\r\x00\x85\u2028\ud800+0A"))
SIGNATURES = st.builds(
    Signature, HOSTILE, st.lists(st.tuples(HOSTILE, HOSTILE)).map(tuple), st.integers(0, 99)
)


@given(SIGNATURES)
def test_every_signature_is_read_back_from_its_text(signature: Signature) -> None:
    text = str(signature)
    assert Signature.parse(text) == signature
    assert len(text.splitlines()) <= 1
    assert "\x00" not in text
    text.encode()


@given(HOSTILE)
def test_any_text_is_read_and_then_keeps_its_form(text: str) -> None:
    read = Signature.parse(text)
    assert Signature.parse(str(read)) == read


def test_the_text_form_is_the_one_that_is_cited() -> None:
    made = sign("meteor", variant="nltk", tok="split", stem=True, beta=1.2, seed=7)
    assert str(made) == "meteor|variant:nltk|tok:split|stem:yes|beta:1.2|seed:7|protocol:1"
    assert str(sign("m", url="http://h:8000/v1|x")) == "m|url:http://h:8000/v1%7Cx|protocol:1"
    assert made.get("beta") == "1.2"
    assert made.get("gamma", "none") == "none"
    assert hash(made) == hash(Signature.parse(str(made)))


@pytest.mark.parametrize(
    "ending", ["|v:0.1.0", "|v:0.1.1", "|v:1.0.0rc1", "|v:1", "", "|protocol:1"]
)
def test_a_version_at_the_end_is_protocol_1(ending: str) -> None:
    assert Signature.parse(f"bleu_4|tok:split{ending}") == sign("bleu_4", tok="split")


def test_a_protocol_of_ones_own_stays_apart() -> None:
    assert Signature.parse("letters|v:2") == sign("letters", protocol=2) != sign("letters")
    assert Signature.parse("rouge_l|v:other").get("v") == "other"


def test_an_unescaped_bar_of_old_belongs_to_the_value_before_it() -> None:
    assert Signature.parse("m|model:a|b|prompt:x|v:0.1.0") == sign("m", model="a|b", prompt="x")


def test_fields_are_added_at_the_end_and_changed_in_place() -> None:
    made = sign("m", a=1, protocol=3).with_fields(b=True, a=2)
    assert str(made) == "m|a:2|b:yes|protocol:3"


def test_several_are_joined_whatever_their_order() -> None:
    several = [sign("m", a=1, b=1), sign("m", a=2, b=1), sign("m", a=2, b=1, c=3, protocol=2)]
    joined = Signature.join(several)
    assert str(joined) == "m|a:by-group|b:1|c:by-group|protocols:by-group|protocol:2"
    assert Signature.join(reversed(several)) == joined
    assert Signature.join([several[0], UNSIGNED]) == several[0]
    assert Signature.join([]) == UNSIGNED
    assert not UNSIGNED
    assert str(UNSIGNED) == ""


def test_with_another_version_between_two_runs_there_is_one_board(tmp_path: Path) -> None:
    folder = tmp_path / "tones"
    folder.mkdir()
    write_folder(folder, 8)

    def ask(version: str, *words: str) -> None:
        told = ("-c", PRETENDING, version, *words, "--store", "made.db")
        process = Forked(*told, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        _, said = process.communicate(timeout=120)
        assert process.returncode == 0, said

    def read(*words: str) -> Any:
        """What this process, of a third version, reads."""
        done = run_command(*words, "--json", "--store", "made.db", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    scored = ("--metrics", "rouge_l,bleu", "--judge", "elements")
    ask("0.0.1", "run", "tones", "--model", "control/right", *scored)
    ask("99.0.0", "run", "tones", "--model", "control/safe", *scored)
    with closing(Store.open(str(tmp_path / "made.db"))) as store:
        made = {store.run(1).made_by, store.run(2).made_by}
    assert len({*made, VERSION}) == 3
    boards = read("leaderboard")["boards"]
    assert [len(board["runs"]) for board in boards] == [2]
    assert boards[0]["signature"].endswith("|protocol:1")
    compared = read("compare", "1", "2")
    assert set(compared["signatures"]) >= {"elements: overall", "rouge_l", "bleu_4"}


def test_two_numbers_that_differ_make_two_signatures() -> None:
    assert str(sign("x", share=0.1234567)) != str(sign("x", share=0.1234568))
    assert str(sign("x", share=0.1, whole=1.0)) == "x|share:0.1|whole:1|protocol:1"
    assert str(sign("x", big=1e16 + 2.0)) == "x|big:1.0000000000000002e+16|protocol:1"


@pytest.mark.parametrize("end", ["protocol:" + "9" * 5000, "v:" + "9" * 5000, "protocol:٣"])
def test_a_protocol_that_is_none_is_read_as_it_stands(end: str) -> None:
    found = Signature.parse(f"x|{end}")
    assert found.protocol == 1
    assert Signature.parse(str(found)) == found
