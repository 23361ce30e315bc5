"""The stage check: a reason for every rejection, and nothing rejected or kept in silence."""

import json
import re
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from annotate.conftest import Merger
from annotate.test_merge import annotate, heard, merged
from annotations import good_fields, reply
from audiocapbench.annotate.check import near_duplicates, part_margins
from audiocapbench.annotate.merge import read_annotation
from audiocapbench.annotate.rules import RULES, ClipCase, sentences
from audiocapbench.annotate.self_test import below_bar, self_test
from audiocapbench.annotate.stage import prompt
from audiocapbench.store.cache import Finding
from command import run_command
from fakes.http_server import Request
from fakes.openai_server import OpenAIServer, completion
from needs import needs

Fields = dict[str, Any]


def case(
    domain: str = "S0A",
    said: dict[str, Fields] | None = None,
    about: dict[str, str] | None = None,
    **change: Any,
) -> ClipCase:
    fields = good_fields(0, domain) | {key.replace("_", "-"): one for key, one in change.items()}
    found = {
        name: Finding("0" * 64, name, "", "ok", document) for name, document in (said or {}).items()
    }
    return ClipCase(read_annotation(reply(fields)), domain, found, 0.1, about or {})


def failed(one: ClipCase) -> dict[str, list[str]]:
    return {name: found for name, rule in RULES.items() if (found := list(rule(one)))}


def test_a_good_annotation_passes_every_rule_in_every_domain() -> None:
    for domain in ("000", "00A", "0M0", "0MA", "S00", "S0A", "SM0", "SMA"):
        assert failed(case(domain)) == {}


@pytest.mark.parametrize(
    ("change", "rule", "words"),
    [
        ({"Confidence": "Low"}, "confidence", "low"),
        (
            {"Short_Caption": "A dog barks while a cat runs up a tree and down to the old pond"},
            "wording",
            "15 words or more",
        ),
        ({"Main_Caption": "One. Two. Three."}, "wording", "more than 2 sentences"),
        ({"Main_Caption": "A dog (large)."}, "wording", "parentheses"),
        ({"Environment_Caption": "Noise［loud］"}, "wording", "parentheses"),
        ({"Main_Caption": "A clock at 88 BPM."}, "wording", "technical figure"),
        ({"Main_Caption": "A bell of 1987 rings."}, "wording", "technical figure"),
        ({"Main_Caption": "A bell rings in Ohio."}, "wording", "names somebody"),
        ({"Main_Caption": "A bell rings, as noted by Claude."}, "wording", "names somebody"),
        ({"Main_Caption": "A bell rings. Excellent match."}, "wording", "praise of itself"),
        ({"Main_Caption": "A bell rings, or perhaps a pan."}, "wording", "guesses"),
        ({"Main_Caption": "A bell rings und ein Hund bellt laut."}, "language", "not in English"),
        ({"Main_Caption": "A voice discusses news #daily"}, "wording", "markup"),
        ({"QA_Pair_1_answer": "Nothing"}, "wording", "says nothing"),
        ({"QA_Pair_1_answer": "Its MOS is poor."}, "wording", "technical figure"),
        ({"Main_Caption": "Hum at 50 Hz."}, "wording", "technical figure"),
        ({"Main_Caption": "A clip from a video about dogs."}, "wording", "metadata"),
        ({"Main_Caption": "According to the analysis, a dog barks."}, "wording", "metadata"),
        ({"QA_Pair_2_question": "What does the metadata say?"}, "wording", "metadata"),
        ({"Short_Caption_Variants_1": "Paraphrased version 1"}, "wording", "placeholder"),
        ({"Environment_Caption_Variants_1": "A clean recording."}, "repetition", "are the same"),
        ({"Speech_Caption": "None"}, "domain", "is None, and its domain is S0A"),
        ({"Music_Caption": "A tune plays"}, "domain", "is not None"),
        ({"Music_Caption_Variants_1": "A tune plays"}, "domain", "describes some"),
        ({"QA_Pair_2_question": "What is heard at moment 1?"}, "questions", "asked twice"),
        ({"QA_Pair_1_answer": "What is heard at moment 1"}, "questions", "repeats"),
        ({"QA_Pair_1_question": "Is it at moment 1 a barking dog?"}, "questions", "its answer"),
        ({"QA_Pair_1_question": "Loud barks."}, "questions", "no question"),
        ({f"QA_Pair_{n}_answer": "A barking dog" for n in (1, 3, 5)}, "repetition", "answers"),
        ({"Sound_Caption": "I am sorry, but this is not for me."}, "wording", "itself"),
        ({"Main_Caption": "Sure, a dog is barking."}, "wording", "itself"),
        ({"Main_Caption": "Ein Hund bellt im Hof."}, "language", "not in English"),
        ({"Main_Caption": "院子里有狗叫声。"}, "language", "not in English"),
        ({"QA_Pair_1_answer": "Brmf grolt snee plarg"}, "language", "not in English"),
        ({"Main_Caption": "A clock ticks sixty times a minute."}, "wording", "technical figure"),
        ({"Main_Caption": "A dog, rated four out of five."}, "wording", "technical figure"),
        ({"Main_Caption": "The tagger labels this a dog."}, "wording", "models"),
        ({"Speech_Caption": "SPEAKER_01 greets Speaker 2."}, "wording", "number of a speaker"),
        ({"Sound_Caption": "Barking"}, "wording", "single word"),
        ({"Sound_Caption": "A dog barks, " + "far away, " * 60}, "wording", "more than 70 words"),
        ({"Sound_Caption": "A dog barks in the"}, "wording", "cut off"),
        ({"Sound_Caption": "Caption: a dog barks"}, "wording", "heading"),
        ({"Sound_Caption": "A <b>dog</b> barks"}, "wording", "markup"),
        ({"Sound_Caption": "A dog barks a dog barks"}, "repetition", "repeats itself"),
        ({"Sound_Caption": "A barking dog in a yard!"}, "repetition", "say the same"),
        ({"Sound_Caption": "No sound is heard."}, "domain", "that there is none"),
        ({"Main_Caption": "A piano plays in a yard."}, "agreement", "claims music"),
        ({"Main_Caption": "Various sounds can be heard."}, "wording", "says nothing"),
        ({"Sound_Caption": "What animal is it that barks?"}, "wording", "is a question"),
        ({"Sound_Caption": "In bark-7.wav a dog barks."}, "wording", "markup"),
        ({"Sound_Caption": "Maybe a dog barks, or possibly a fox."}, "wording", "guesses"),
        ({"Sound_Caption": "Step 4: a dog barks."}, "wording", "placeholder"),
        ({"Sound_Caption": "Describe a dog that barks."}, "wording", "itself"),
        ({"Main_Caption": "None"}, "wording", "single word"),
        ({"Main_Caption": "Stock prices fell sharply again."}, "likeness", "unlike its other"),
        ({"Sound_Caption": "A dog barks through heavy distor"}, "wording", "cut off"),
        ({"Sound_Caption": "No parentheses may be used in the text."}, "wording", "reads like"),
        ({"Sound_Caption": "A dog barks, classified as 00A."}, "wording", "prompt's own"),
        ({"Sound_Caption": "After three seconds a dog barks."}, "wording", "technical figure"),
        ({"Sound_Caption": "A dog barks beside Lena Brook."}, "wording", "names somebody"),
        ({"Sound_Caption": "A guitar is strummed near a dog."}, "agreement", "claims music"),
        ({"QA_Pair_1_answer": "Cannot be determined"}, "wording", "doubt that says nothing"),
        ({"QA_Pair_1_answer": "No way to tell"}, "wording", "doubt that says nothing"),
        ({"QA_Pair_1_answer": "Not discernible"}, "wording", "says nothing"),
        ({"Main_Caption": "Entry to this file was denied."}, "wording", "reads like a"),
        ({"Main_Caption": "A dog barks. Tell me if more is wanted."}, "wording", "end of a chat"),
        ({"QA_Pair_1_answer": "Whatever it was escapes us."}, "wording", "itself"),
        ({"Main_Caption": "Weighing all labels, a dog barks."}, "wording", "speaks of itself"),
        ({"Main_Caption": "A dog barks under a violet-grey sky."}, "wording", "pictures"),
        ({"QA_Pair_1_answer": "It makes sense to wear gloves in winter."}, "likeness", "unlike"),
        ({"QA_Pair_1_answer": "Wear gloves whenever wood is cut."}, "likeness", "unlike"),
        ({"QA_Pair_1_answer": "The voice recogniser hears a bark."}, "wording", "names a tool"),
        ({"Main_Caption": "As per Whisper, a dog barks."}, "wording", "names a tool"),
        ({"Main_Caption": "Lena Brook sings near a dog."}, "wording", "names somebody"),
        ({"Main_Caption": "A dog barks twice a second."}, "wording", "technical figure"),
        ({"Main_Caption": 'A dog barks", "Short": "A dog'}, "wording", "markup"),
        ({"QA_Pair_1_answer": "Stock prices fell sharply again."}, "likeness", "unlike"),
        ({"QA_Pair_1_answer": "A dog barks in front of the"}, "wording", "cut off"),
        ({"Sound_Caption": "Office environment with printer hum"}, "wording", "prompt"),
        ({"Main_Caption": "The owner of the dog bought it last year."}, "wording", "nobody hears"),
        ({"QA_Pair_1_question": "Which moment has the dog barking?"}, "questions", "its answer"),
        ({"Sound_Caption": "A dog and a dog and a dog and a dog"}, "repetition", "repeats itself"),
        ({"Sound_Caption": "barking dogs barking dogs"}, "repetition", "repeats itself"),
        (
            {"Speech_Caption": "A dog barks", "Speech_Caption_Variants_1": "Barks of a dog"}
            | {"Speech_Caption_Variants_2": "One hears a dog"},
            "domain",
            "something else",
        ),
    ],
)
def test_what_breaks_a_rule_is_rejected_with_the_reason(
    change: Fields, rule: str, words: str
) -> None:
    found = failed(case(**change))
    assert rule in found
    assert words in "; ".join(found[rule])


@pytest.mark.parametrize(
    "text",
    [
        "Video game music plays in a hall.",
        "A title fight is announced by Mr. Smith.",
        "A Russian and a Tamil voice by a Hammond organ.",
        "A bell rings in the final seconds, perhaps outdoors.",
        "A voice through a speaker grille explains a metadata upload.",
        "Three dogs bark at 5 o'clock.",
        "A model train passes the most beautiful house.",
        "Moss is scraped; a decibel meter clicks.",
        "A man talks about a video he made for this channel.",
        "A woman says “I cannot open it” near a barking dog.",
        "Two voices discuss the tempo of a model aeroplane.",
        "A 1980s tune in 4/4 with an 808 kick.",
        "Bird song in a field recording, at a moderate tempo with a 4/4 beat.",
        "A woman talks about refining a song mix.",
        "A woman hints at the next video of hers.",
        "Loud comments by a boy on what happens on the screen.",
        "A lecture on large language models.",
        "A brass band plays Easter Morning.",
        "An accordion tune like La Paloma.",
        "Whispering winds near singing bowls.",
        "A clock goes tick and tock",
        "A lorry comes close, then drives by.",
        "A dog in a shed with no heater to speak of.",
        "A plane crosses in front of us and rumbles from the sky.",
    ],
)
def test_ordinary_words_are_not_taken_for_figures_or_metadata(text: str) -> None:
    assert failed(case("SMA", Main_Caption=text)).keys() <= {"likeness"}


def test_what_sings_is_no_music_where_it_is_an_animal() -> None:
    birds = ("A robin sings", "Birds are loudly singing", "A wren's song", "The song of a thrush")
    for text in (*birds, "A choir of frogs sings", "Song fragments", "Cries of a crowd"):
        assert "agreement" not in failed(case("00A", Main_Caption=f"{text} by a barking dog."))
    for text in ("A woman singing with birds", "Birds and a man who sings", "A choir sings"):
        assert "agreement" in failed(case("00A", Main_Caption=f"{text} by a barking dog."))


def test_what_talks_in_a_figure_of_speech_is_no_speech() -> None:
    for text in ("Thunder mutters", "Whispering drums", "Quarrelling gulls", "An engine coughs"):
        assert "agreement" not in failed(case("00A", Sound_Caption=f"{text} by a barking dog."))
    assert "agreement" in failed(case("00A", Sound_Caption="A man mutters by a barking dog."))


def test_few_words_are_a_question_or_a_denial_too() -> None:
    change: Fields = {"QA_Pair_1_question": "What barks?", "Speech_Caption_Variants_1": "No voice."}
    change |= {"QA_Pair_1_answer": "A dog", "Speech_Caption_Variants_2": "There isn't any talk."}
    assert failed(case("00A", **change)) == {}


def test_a_word_in_quotation_marks_is_a_label_and_nothing_that_is_said() -> None:
    assert failed(case("00A", Sound_Caption="A barking dog with a 'happy' character")) == {}


def test_voices_without_words_are_of_speech_and_titles_of_songs_are_music() -> None:
    keys = ("{}_Caption", "{}_Caption_Variants_1", "{}_Caption_Variants_2")
    texts = {
        "Speech": ("A man grunts and coughs", "Coughs and grunts of a man", "A man coughs"),
        "Music": ("A march, 'The Old Mill'", "Flutes play 'The Old Mill'", "'The Old Mill' again"),
    }
    for view, own in texts.items():
        change: Fields = dict(zip((key.format(view) for key in keys), own, strict=True))
        assert "domain" not in failed(case("SMA", **change))


@pytest.mark.parametrize(
    ("question", "answer", "is_held"),
    [
        ("Given the low hum of a fan, what is heard?", "The hum of a fan", True),
        ("What hums, fans for example?", "A fan", True),
        ("Is it a loud fan or a quiet one?", "A quiet one", False),
        ("Is the low hum of an old fan loud or soft?", "A low hum of an old fan", True),
        ("Is there any natural sound?", "No natural sound is present", False),
        ("Would one say: yes, a fan hums?", "Yes, a fan hums", True),
    ],
)
def test_a_question_holds_its_answer_in_any_form_of_its_words(
    question: str, answer: str, is_held: bool
) -> None:
    made = case(QA_Pair_1_question=question, QA_Pair_1_answer=answer)
    assert ("questions" in failed(made)) == is_held


@pytest.mark.parametrize("text", ["A siren goes by", "A concert-like hall", "Nothing like speech"])
def test_what_only_looks_like_speech_or_music_claims_none(text: str) -> None:
    assert "agreement" not in failed(case("00A", Main_Caption=text))


def test_a_language_may_be_an_answer() -> None:
    assert failed(case(QA_Pair_1_answer="Portuguese")) == {}


def test_what_is_no_speech_may_be_said_to_be_none() -> None:
    change: Fields = {
        "Speech_Caption_Variants_1": "Non-linguistic vocals",
        "Sound_Caption": "Wordless cries",
    }
    assert failed(case("00A", **change)) == {}


@pytest.mark.parametrize(
    ("text", "asr", "is_kept"),
    [
        ("A dog barks during Ann's Trip to Garda.", "", False),
        ("A dog near lake garda 2019", "", False),
        ("A dog barks in the yard of a house.", "", True),
        ("A voice mentions Ann's Trip to Garda.", "This is Ann's trip to Garda", True),
    ],
)
def test_words_of_a_title_are_kept_only_where_they_were_said(
    text: str, asr: str, is_kept: bool
) -> None:
    about = {"title": "Ann's Trip to Garda", "description": "Lake Garda 2019. A dog barks in it."}
    said: dict[str, Fields] = {"asr": {"text": asr}, "speech": {"speech_share": 0.9}}
    assert ("title" in failed(case(said=said, about=about, Main_Caption=text))) != is_kept


def test_sentences_are_counted_as_people_do() -> None:
    assert sentences("A dog barks") == 1
    assert sentences("A dog barks. A cat, too.") == 2
    assert sentences("“Stop!” she says. Then silence") == 2
    assert sentences("It is 3.5 metres away... and gone.") == 1


@pytest.mark.parametrize(
    ("text", "share", "caption", "words"),
    [
        ("Thank you for watching.", 0.5, "A voice says thank you for watching", "hallucination"),
        ("The dogs sit by the door", 0.0, "A man says the dogs sit by the door", "no speech"),
        ("The dogs sit by the door", 0.5, "A man says the dogs sit by the door", ""),
        ("Thank you for watching.", 0.5, "A calm voice speaks", ""),
        ("The dogs sit by the door", 0.0, "A calm voice speaks", ""),
    ],
)
def test_a_transcript_is_quoted_only_where_somebody_spoke(
    text: str, share: float, caption: str, words: str
) -> None:
    said: dict[str, Fields] = {"asr": {"text": text}, "speech": {"speech_share": share}}
    found = failed(case(said=said, Speech_Caption=caption))
    assert bool(words) == bool(found)
    assert words in str(found)


def test_a_voice_may_sing_and_a_mood_is_quoted_where_there_is_music() -> None:
    for text in ("A soft tune with a distorted voice", "Gentle music, strongly 'dark/deep'"):
        assert "agreement" not in failed(case("0M0", Music_Caption=text))
    assert "agreement" in failed(case("00A", Main_Caption="A voice near a barking dog."))
    assert "agreement" in failed(case("0M0", Music_Caption="A man speaks over a soft tune"))


def test_a_view_or_a_wording_in_words_of_its_own_that_no_caption_has_is_noticed() -> None:
    odd = [
        "Access to the waveform was denied, hence no summary is available.",
        "Describing this recording falls outside of what can be done in this conversation.",
        "It would be dishonest to describe a recording that nobody has played.",
    ]
    keys = ("Main_Caption", "Main_Caption_Variants_1", "Main_Caption_Variants_2")
    texts: dict[str, Any] = dict(zip(keys, odd, strict=True))
    for key, text in texts.items():
        assert "likeness" in failed(case(**{key: text}))
    whole = failed(case(**texts))
    assert any("the long captions read like" in one for one in whole["likeness"])


def test_captions_of_another_clip_are_no_more_like_the_questions_than_those_of_others() -> None:
    made = [read_annotation(reply(good_fields(number, "00A"))) for number in range(12)]
    own = {str(n): ClipCase(one, "00A", {}, 0.1, {}) for n, one in enumerate(made)}
    margins = {clip: (apart, wrong) for clip, apart, wrong in part_margins(own, 0)}
    assert all(apart > 0.2 >= wrong for apart, wrong in margins.values())
    mixed = made[3].model_copy(update={"captions": made[5].captions})
    found = {
        c: apart
        for c, apart, _ in part_margins(own | {"3": own["3"]._replace(annotation=mixed)}, 0)
    }
    assert min(found, key=found.__getitem__) == "3"


@pytest.mark.parametrize("views", [("speech", "music", "sound"), ("sound",)])
def test_views_of_another_clip_are_odd_beside_the_rest(views: tuple[str, ...]) -> None:
    made = [read_annotation(reply(good_fields(number, "00A"))) for number in range(12)]
    taken = made[3].captions | {view: made[5].captions[view] for view in views}
    made[3] = made[3].model_copy(update={"captions": taken})
    cases = {str(n): ClipCase(one, "00A", {}, 0.1, {}) for n, one in enumerate(made)}
    margins = {clip: apart for clip, apart, _ in part_margins(cases, 0)}
    assert min(margins, key=margins.__getitem__) == "3"
    assert margins["3"] <= 0 < min(one for clip, one in margins.items() if clip != "3")


def test_checks_that_compare_clips_are_not_run_on_few_and_that_is_said(
    place: Path, merger: Merger
) -> None:
    heard(place)
    merger.own = dict.fromkeys(range(6), lambda _n, _d, _again: "no")
    merged(place, merger, "--repairs", "0")
    said = json.loads(annotate(place, "check", "clips", "--clap", "none", "--json").stdout)
    few = "6 annotations are left, and each is compared with 6 others"
    assert said["not_run"] == {
        "coherence": few,
        "similarity": few,
        "verified": "no second model is named",
    }
    assert "coherence (not run)" in {one["step"] for one in said["survival"]}


def test_near_duplicates_are_found_and_the_first_stays() -> None:
    texts = {
        "a": "A dog barks in a yard.",
        "b": "Rain falls on a tin roof.",
        "c": "a dog barks, in a yard",
        "d": "A dog barks in the yard.",
    }
    assert near_duplicates(texts, 0.98) == {"c": "a", "d": "a"}
    assert near_duplicates({}, 0.9) == {}


def test_every_rejection_has_its_reason_and_is_counted_at_its_step(
    place: Path, merger: Merger
) -> None:
    def changed(**change: Any) -> Callable[[int, str, bool], str]:
        own = {key.replace("_", "-"): one for key, one in change.items()}
        return lambda n, d, _again: reply(good_fields(n, d) | own)

    heard(place)
    merger.own = {
        0: changed(Confidence="Low"),
        1: changed(Speech_Caption="A man speaks"),
        2: changed(Main_Caption="A clock at 88 BPM (slow)."),
        3: lambda _n, _d, _again: "no",
        5: lambda _n, d, _again: reply(good_fields(9, d)),
    }
    merged(place, merger, "--repairs", "0")
    done = annotate(place, "check", "clips", "--clap", "none", "--json")
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    went = {one["step"]: one["went"] for one in said["survival"]}
    assert went["merged"] == went["confidence"] == went["domain"] == went["wording"] == 1
    assert went["near-duplicate"] == 1
    assert went["similarity (not run)"] == 0
    assert said["not_run"] == {
        "similarity": "no audio-text encoder is named",
        "verified": "no second model is named",
    }
    assert said["kept"] == said["survival"][-1]["left"] == 7
    assert set(said["rejected"]) == {"00.wav", "01.wav", "02.wav", "09.wav"}
    assert "parentheses" in said["rejected"]["02.wav"]
    assert "technical figure" in said["rejected"]["02.wav"]
    shown = annotate(place, "check", "clips", "--clap", "none", "--self-test")
    assert shown.returncode == 0, shown.stderr
    assert "refusal" in shown.stdout
    tried = {one["class"]: one for one in said["self_test"]}
    assert tried["refusal"]["recall"] == tried["answers in questions"]["recall"] == 1.0
    assert tried["refusal"]["lost"] == 0
    assert tried["another clip's captions"]["caught"] > 0
    assert "7 of 12 clips are left (58 %)" in shown.stderr
    assert "similarity was not run" in shown.stderr


def test_without_clap_the_comparison_is_not_run_and_that_is_said(
    place: Path, merger: Merger
) -> None:
    heard(place)
    merged(place, merger)
    said = json.loads(annotate(place, "check", "clips", "--json").stdout)
    assert said["kept"] == 12
    missing = "laion" if find_spec("torch") else "CLAP needs torch"
    assert missing in said["not_run"]["similarity"]


def test_an_encoder_that_is_written_wrongly_is_refused(place: Path, merger: Merger) -> None:
    heard(place)
    merged(place, merger)
    for name, words in (("laoin", "did you mean 'laion'"), ("laion[", "is not an encoder")):
        done = annotate(place, "check", "clips", "--clap", name)
        assert done.returncode == 2
        assert words in done.stderr


def test_clips_that_are_no_more_like_their_caption_than_like_others_go(
    place: Path, merger: Merger
) -> None:
    needs("transformers")
    from tiny_clap import save_tiny_clap

    folder = save_tiny_clap(place / "tiny")
    heard(place)
    merged(place, merger)
    name = f"laion[path={folder}]"
    kept = {}
    for margin, unit in (("-1000", "points"), ("1000", "points"), ("0", "sd")):
        words = ("--clap", name, "--margin", margin, "--margin-unit", unit, "--json")
        done = annotate(place, "check", "clips", *words)
        said = json.loads(done.stdout)
        assert "similarity" not in said["not_run"], said["not_run"]
        kept[margin] = said["kept"]
        assert done.returncode == (0 if said["kept"] else 1)
    assert kept["-1000"] == 12
    assert kept["1000"] == 0
    assert 0 < kept["0"] < 12
    assert "than like others (" in next(iter(said["rejected"].values()))


@pytest.mark.parametrize("margin", ["nan", "inf", "-inf"])
def test_a_margin_that_is_no_number_is_refused(tmp_path: Path, margin: str) -> None:
    done = run_command("annotate", "check", ".", "--margin", margin, cwd=tmp_path)
    assert done.returncode == 2
    assert "Invalid value for '--margin'" in done.stderr


def test_the_self_test_says_what_the_rules_do_not_catch(monkeypatch: pytest.MonkeyPatch) -> None:
    cases = [case(domain) for domain in ("S00", "0M0", "00A", "000")]
    whole = self_test(cases, seed=1)
    assert below_bar(whole) == ""
    assert all(one["precision"] == 1 for one in whole[:-1])
    assert whole == self_test(cases, seed=1)
    for rule in ("wording", "language", "repetition", "questions"):
        monkeypatch.delitem(RULES, rule)
    assert "of planted errors" in below_bar(self_test(cases, seed=1))
    assert "not tried" in below_bar(self_test([], seed=1))


@pytest.mark.slow
def test_a_second_model_holds_claims_to_the_findings_and_is_asked_once(
    place: Path, merger: Merger
) -> None:
    def verdict(request: Request) -> dict[str, Any]:
        text = json.dumps(request.json["messages"])
        assert not re.search(r"clip \d", text), "what the maker told is no finding"
        if "barking dog" in text:
            return completion('{"unsupported": ["a dog is heard"]}')
        return completion("Fine." if "ringing bell" in text else '{"unsupported": []}')

    heard(place)
    merged(place, merger)
    with OpenAIServer(key=None, reply=verdict) as second:
        model = f"endpoint/second@{second.base_url}"
        price = {"text_in": 1.0, "out": 1.0, "source": "a test", "as_of": "2026-01-01"}
        table = {"currency": "USD", "unit": "per 1,000,000 tokens", "models": {model: price}}
        (place / "prices.json").write_text(json.dumps(table))
        told = ("--verify", model, "--prices", "prices.json", "--yes", "--json")
        words = ("check", "clips", "--clap", "none", *told)
        said = json.loads(annotate(place, *words).stdout)
        assert json.loads(annotate(place, *words).stdout)["rejected"] == said["rejected"]
        assert len(second.requests) == 12
    assert set(said["rejected"]) == {"00.wav", "01.wav"}
    assert "verified: unsupported: a dog is heard" in said["rejected"]["00.wav"]
    assert "gave no verdict" in said["rejected"]["01.wav"]
    assert said["kept"] == 10
    last = {one["step"]: one["reasons"] for one in said["survival"]}["verified"]
    claims = "has claims that the second model finds unsupported"
    assert last == {claims: 1, f"{model} gave no verdict (ok)": 1}
    written = ("split", "clips", "--out", "made", "--shares", "test=1", "--accept-quality")
    assert annotate(place, *written).returncode == 0
    sheet = (place / "made/DATASHEET.md").read_text().replace("\\", "")
    assert f"Verified by {model}, prompt (SHA-256) {prompt('verify')[1]}" in sheet
    assert "for what has a price; of the rest it is not known" in sheet, "the merger has none"
