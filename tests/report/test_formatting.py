"""What is said where formatting alone moves a published metric."""

import audiocapbench as acb
from audiocapbench.scores.formatting import formatting_warnings

BARE = ["a dog barks", "rain falls on a roof", "a man speaks", "birds sing in a tree"] * 5
REFERENCES = [[text, f"{text} loudly"] for text in BARE]


def test_quotation_marks_that_cost_bleu_are_said_with_both_numbers() -> None:
    quoted = [f'"{text}"' for text in BARE[:16]] + BARE[16:]
    (said,) = formatting_warnings(["bleu_4", "preference"], quoted, REFERENCES)
    assert said.startswith("of 20 captions 16 stand in quotation marks; without that bleu_4 would")
    result = acb.score(quoted, REFERENCES, ["bleu_4"])
    assert said in result.notes
    assert f"not {result['bleu_4'].value:.3f}" in said
    assert f"be {acb.score(BARE, REFERENCES, ['bleu_4'])['bleu_4'].value:.3f}" in said


def test_labels_and_markdown_are_named() -> None:
    for text, what in (("Caption: {}", "begin with a label"), ("**{}**", "have markdown")):
        (said,) = formatting_warnings(["bleu_1"], [*map(text.format, BARE)], REFERENCES)
        assert what in said


def test_nothing_is_said_of_captions_as_people_write_them() -> None:
    for texts in (BARE, [f"{text.capitalize()}." for text in BARE], ['"a dog" he says'] * 20):
        assert formatting_warnings(["bleu_1", "rouge_l"], texts, REFERENCES) == []
    assert formatting_warnings(["preference"], [f'"{text}"' for text in BARE], REFERENCES) == []
