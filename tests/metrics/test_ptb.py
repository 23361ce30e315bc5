"""The Java-free tokenizer equals the original; golden tokens were made by running the original."""

import ast
import csv
import hashlib
import json
import random
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import islice
from pathlib import Path

import pytest

from audiocapbench.metrics.ptb.tokenizer import tokenize
from needs import needs, needs_program

GOLDEN = Path(__file__).with_name("ptb_golden.jsonl")
CHARACTERS = Path(__file__).with_name("ptb_characters_golden.json")
"""Digests of the original's tokens for every character, in each of several surroundings."""
LINE_ENDS = "\n\r\x0b\x0c\x85\u2028\u2029"
PUNCTUATION = {
    *("''", "'", "``", "`", "-LRB-", "-RRB-", "-LCB-", "-RCB-"),
    *(".", "?", "!", ",", ":", "-", "--", "...", ";", ""),
}


def golden() -> list[tuple[str, list[str]]]:
    records = [json.loads(line) for line in GOLDEN.read_text(encoding="utf-8").splitlines()]
    return [(record["text"], record["tokens"]) for record in records]


@pytest.mark.parametrize(("text", "tokens"), golden())
def test_tricky_strings_have_the_tokens_of_the_original(text: str, tokens: list[str]) -> None:
    assert tokenize(text) == tokens


@pytest.mark.parametrize(
    "text", ["", " ", "\n\r\u2028", "...", "?!", "\x00", "😀", "\u200b", "'\"`", "- -- ---"]
)
def test_text_without_words_has_hardly_any_tokens(text: str) -> None:
    assert tokenize(text) in ([], ["?!"])


def characters() -> list[str]:
    """Every character of the first plane but line ends, which captions have none of."""
    codes = [code for code in range(0x10000) if not 0xD800 <= code < 0xE000]
    return [chr(code) for code in codes if chr(code) not in LINE_ENDS]


def surroundings() -> dict[str, str]:
    """Texts in which each character takes the place of the X, and the digest of all tokens."""
    read: dict[str, str] = json.loads(CHARACTERS.read_text(encoding="utf-8"))
    return read


def digest(tokens: Iterable[Sequence[str]]) -> str:
    return hashlib.sha256("\n".join(map(" ".join, tokens)).encode()).hexdigest()


@pytest.mark.slow
@pytest.mark.parametrize("place", surroundings())
def test_every_character_has_the_tokens_of_the_original(place: str) -> None:
    assert own_digest(place) == surroundings()[place], (
        "the test with Java says for which characters"
    )


@cache
def own_digest(place: str) -> str:
    """The digest of our tokens for every character, which two tests ask for."""
    tokens = [tokenize(place.replace("X", one)) for one in characters()]
    assert not any(" " in token for own in tokens for token in own)
    return digest(tokens)


@pytest.mark.slow
def test_every_character_has_the_tokens_that_the_original_gives_it_now(tmp_path: Path) -> None:
    every = [[place.replace("X", one) for one in characters()] for place in surroundings()]
    # Java begins once for all of them.
    theirs = iter(_tokens_of_the_original([text for texts in every for text in texts], tmp_path))
    for place, texts in zip(surroundings(), every, strict=True):
        expected = list(islice(theirs, len(texts)))
        if digest(expected) != own_digest(place):
            pairs = zip(texts, expected, strict=True)
            wrong = [(text, tokens, tokenize(text)) for text, tokens in pairs]
            assert [one for one in wrong if one[1] != one[2]] == []
            pytest.fail(f"the tokens of {place} are equal, but not their digests")


def test_characters_beyond_the_first_plane_leave_no_trace() -> None:
    assert tokenize("a dog \U0001f415\ufe0f barks\U0001d538") == ["a", "dog", "barks"]


@pytest.mark.slow
def test_hostile_text_of_a_megabyte_takes_no_more_than_linear_time() -> None:
    assert tokenize("%." * 500_000 + " end")[-1] == "end"
    # Each piece once took a time that grew with the square of the text: ten seconds or more here,
    # where a fifth of one is enough.
    for piece in ("%.", "1a.", "www.a/", "é%.", "<!a", "a@."):
        assert _seconds(piece, 50_000) < 5, piece


def _seconds(piece: str, size: int) -> float:
    """What this process works on a text of so many characters, whatever else runs beside it."""
    text = piece * (size // len(piece)) + " end"
    begun = time.process_time()
    assert tokenize(text)[-1] == "end"
    return time.process_time() - begun


def test_line_breaks_of_any_kind_are_spaces() -> None:
    for line_break in LINE_ENDS:
        assert tokenize(f"a dog{line_break}barks") == ["a", "dog", "barks"]


def test_tokens_never_contain_what_would_break_a_line_protocol() -> None:
    random.seed(7)
    alphabet = [chr(code) for code in range(0x3000)] + ["😀", "|||", "\n", "\x00", "dog", " "]
    for _ in range(300):
        text = "".join(random.choices(alphabet, k=60))
        joined = " ".join(tokenize(text))
        assert not set(joined) & set("\n\r\x00")
        assert "|||" not in joined


@pytest.mark.parametrize("piece", ["a", "a ", "a,", "a&", "'", "<a ", "@a,", "5 ", "😀", "é.", "&"])
def test_a_caption_of_100_000_characters_is_tokenised_whole(piece: str) -> None:
    # A fifth of it is odd: what takes long to read takes no longer a character.
    odd = piece * (20_000 // len(piece))
    text = odd + "a " * ((100_000 - len(odd)) // 2)
    assert len(text) >= 99_999
    assert "".join(tokenize(f"{text} end"))[-3:] == "end"


@pytest.mark.slow
def test_captions_at_hand_have_the_tokens_of_the_original(shared: Path, tmp_path: Path) -> None:
    every = sorted(set(_captions(shared)))
    assert len(every) > 100_000
    captions = every[::3]
    expected = _tokens_of_the_original(captions, tmp_path)
    wrong = [c for c, tokens in zip(captions, expected, strict=True) if tokenize(c) != tokens]
    assert wrong == []


def test_invented_captions_have_the_tokens_of_the_original(tmp_path: Path) -> None:
    rng = random.Random(11)
    words = " ".join(text for text, _ in golden() if text.isascii() and "\x00" not in text).split()
    joints = [" ", " ", " ", " ", ", ", ". ", "-", "/", "'"]
    captions = [
        "".join(rng.choice(words) + rng.choice(joints) for _ in range(rng.randint(1, 5))).strip()
        for _ in range(20_000)
    ]
    expected = _tokens_of_the_original(captions, tmp_path)
    wrong = [c for c, tokens in zip(captions, expected, strict=True) if tokenize(c) != tokens]
    assert wrong == []


def _tokens_of_the_original(captions: Sequence[str], folder: Path) -> list[list[str]]:
    pycocoevalcap = needs("pycocoevalcap")
    needs_program("java")
    jar = Path(pycocoevalcap.__path__[0], "tokenizer", "stanford-corenlp-3.4.1.jar")
    # A line between captions, because the original looks at the line that follows.
    lines = [line for caption in captions for line in (caption, "zq")]
    source = folder / "captions.txt"
    source.write_text("\n".join(lines), encoding="utf-8")
    tokenizer = ["edu.stanford.nlp.process.PTBTokenizer", "-preserveLines", "-lowerCase"]
    done = subprocess.run(
        ["java", "-Dfile.encoding=UTF-8", "-cp", str(jar), *tokenizer, str(source)],
        capture_output=True,
        check=True,
    )
    answer = done.stdout.decode("utf-8").split("\n")[: len(lines)]
    return [[w for w in line.split(" ") if w not in PUNCTUATION] for line in answer[::2]]


def _captions(shared: Path) -> Iterator[str]:
    csv.field_size_limit(sys.maxsize)
    for path in sorted(shared.rglob("*")):
        if "wordnet" in str(path) or path.suffix not in {".csv", ".json", ".jsonl"}:
            continue
        text = path.read_text(encoding="utf-8")
        if path.suffix == ".csv":
            yield from _csv_texts(text, "\t" if "\t" in text.split("\n", 1)[0] else ",")
        else:
            lines = text.splitlines() if path.suffix == ".jsonl" else [text]
            for line in lines:
                yield from _strings(json.loads(line))


def _csv_texts(text: str, delimiter: str) -> Iterator[str]:
    for row in csv.DictReader(text.splitlines(keepends=True), delimiter=delimiter):
        for column, value in row.items():
            if column in {"mrefs", "mcands", "aspect_list"}:
                yield from _strings(ast.literal_eval(value))
            elif not column.startswith("best_") and value and not value.startswith("["):
                yield from _strings(value)


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str) and value.strip():
        yield " ".join(value.split("\n"))
    elif isinstance(value, dict):
        for part in value.values():
            yield from _strings(part)
    elif isinstance(value, list):
        for part in value:
            yield from _strings(part)
