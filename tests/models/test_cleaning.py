"""Output cleaning as published."""

import pytest

from audiocapbench.models.replies import clean


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A dog barks.", "A dog barks."),
        ("  A dog barks.\n", "A dog barks."),
        ("A dog [source](http://a.b/c) barks.", "A dog  barks."),
        ("![spectrogram](a.png)A dog barks.", "A dog barks."),
        ("See https://a.b/c?d=e#f now", "See  now"),
        ("See HTTP://A.B and www.a.b/c", "See  and"),
        ("one\n\n\n\n\ntwo\n\nthree\nfour", "one\n\ntwo\n\nthree\nfour"),
        ("a [bracket] and (a note)", "a [bracket] and (a note)"),
        ("[1](https://a.b) [2](https://c.d)", ""),
        ("Привет \U0001f415 \u202eabc", "Привет \U0001f415 \u202eabc"),
        ('{"why": "see https://a.b/c"}', '{"why": "see "}'),
        (r'{"why": "\"https://a.b\"\nand www.a.b"}', r'{"why": "\"\"\nand "}'),
        ("{'why': 'see https://a.b/c'}", "{'why': 'see '}"),
        ("", ""),
    ],
)
def test_links_images_addresses_and_empty_lines_go(text: str, expected: str) -> None:
    assert clean(text, emphasis=False) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("**A dog** barks *loudly*.", "A dog barks loudly."),
        ("***A dog*** barks.", "A dog barks."),
        ("**[a](http://b.c)** dog", "dog"),
        ("2 * 3", "2 * 3"),
        ("a ** b", "a ** b"),
    ],
)
def test_emphasis_goes_where_it_is_asked_for(text: str, expected: str) -> None:
    assert clean(text, emphasis=True) == expected


def test_emphasis_stays_where_it_is_not_asked_for() -> None:
    assert clean("**A dog** barks *loudly*.", emphasis=False) == "**A dog** barks *loudly*."


@pytest.mark.parametrize("unit", ["[", "![", "[a](", "*", "**a", "http://", "\n", "](", "\0"])
def test_a_hostile_answer_is_cleaned_without_stalling(unit: str) -> None:
    text = unit * (100_000 // len(unit))
    assert len(clean(text, emphasis=True)) <= len(text)
