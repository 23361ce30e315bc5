"""Sentences about silence, labelled by hand: a claim is a claim, and a denial is none."""

import pytest

from audiocapbench.metrics.claims import claims, readable

NO_CLAIM = """
None
None.
Silence.
Complete silence.
The clip is silent from start to end.
No speech.
No speech can be made out.
There is no speech here.
There isn't any speech in the clip.
Nobody speaks.
Nobody is talking, and no music plays.
No one says a word.
I cannot hear any speech.
I can't make out any voices or music.
The recording does not contain speech, music or sound effects.
No speech, music, or environmental sounds.
Neither speech nor music is present.
Speech is not present.
Speech: none.
Music: none. Speech: none. Sound events: none.
Spoken content is absent.
Music appears to be absent throughout.
The music is inaudible.
Absence of speech
Complete absence of melodic or rhythmic content.
A total lack of music.
The track lacks speech and music.
A clip devoid of voices.
Free of any speech or song.
Vocals are missing.
Without any music.
Silence without speech or music, marked by hiss.
Only hiss and static.
A faint electrical hum with digital distortion.
Background noise and nothing else.
An empty room with a high noise floor.
Loud static noise persists over the whole clip.
Sound events could not be identified.
No animals, vehicles or machines are heard.
Speech recognition found nothing.
Voice activity detection stays at zero.
Speaker hum and hiss.
A non-musical, non-speech recording.
The noise would mask any speech.
It is impossible to identify any instrument.
Nothing is audible.
The caption is "None".
The answer is 'silence'.
Poor recording quality with clipping.
No speech, music or sound events.
no speech, music, sound events
No speech, people talking, music playing, or cars passing.
No dogs barking, cats meowing, birds chirping.
No human voices, musical instruments, animal sounds are present.
Silence, not speech or music, is heard.
It is hard to tell what this is, which tells us little.
I do not know.
We hear nothing.
You cannot tell from this file.
Well below any threshold, all of it is quiet.

🔇
"""

CLAIMS = {
    "A man is speaking.": "speech",
    "A woman says hello.": "speech",
    "The speaker says 'thank you'.": "speech",
    'The speech is "no, I never did".': "speech",
    "Someone whispers in the distance.": "speech",
    "A calm voice reads aloud.": "speech",
    "There is no music, but a man is talking.": "speech",
    "No music, just a voice.": "speech",
    "No dog barks, and a woman talks.": "speech",
    "Two people are having a conversation while no music plays.": "speech",
    "The voice is not loud.": "speech",
    "A person is playing a guitar.": "music",
    "Soft piano music plays.": "music",
    "No speech, only music.": "music",
    "There is no speech; slow drums are heard.": "music",
    "Nothing but music.": "music",
    "A guitar-driven piece.": "music",
    "Without speech, a melody plays.": "music",
    "Somebody sings over strings.": "speech? music",
    "A dog barks.": "sound",
    "An engine is running.": "sound",
    "Someone opens a door.": "sound",
    "Rain falls on a roof.": "sound",
    "The sound of footsteps.": "sound",
    "A single, sustained electronic tone.": "sound",
    "No speech is heard, though a helicopter flies past.": "sound",
    "Several sound effects, with no speech.": "sound",
    "Not only a siren.": "sound",
    "A man speaks while music plays and a dog barks.": "speech music sound",
    "A voice over inaudible music.": "speech",
    "Silence, then a shout.": "speech",
    "A quiet room, no talking, birds chirping outside": "sound",
    "No voices, dog barking": "sound",
    "A man, not a woman, is speaking": "speech",
    "Without any doubt a woman is singing": "music",
    "People are chatting": "speech",
    "A gun is fired": "sound",
    "a toddler giggles": "sound",
    "He tells a story": "speech",
    "She told me a funny story.": "speech",
    "You're listening to the radio.": "speech",
    "What time is it?": "speech",
    "Merci beaucoup.": "speech",
    "Thank you.": "speech",
    "Turn left at the corner.": "speech",
    "Nobody knows where the money went.": "speech",
    "He went to the store and bought milk.": "speech",
    "Once upon a time there was a king.": "speech",
    "Dinner is ready!": "speech",
    "Hello and welcome to my garden, where we grow tomatoes.": "speech",
    "Good evening, and thanks for coming.": "speech",
    "Are you ready?": "speech",
    "We took him home yesterday.": "speech",
    "La la la, la la": "music",
    "♪ over the hills we go ♪": "speech music",
    "Somebody hums a tune.": "music",
    "A woman croons.": "music",
}


@pytest.mark.parametrize("text", NO_CLAIM.strip("\n").split("\n"))
def test_a_denial_is_no_claim(text: str) -> None:
    assert claims(text) == {}


@pytest.mark.parametrize("text", [text for text, label in CLAIMS.items() if "?" not in label])
def test_a_claim_is_found_with_its_kind(text: str) -> None:
    assert list(claims(text)) == CLAIMS[text].split()


def test_the_words_that_claim_are_told() -> None:
    assert claims("A dog barks at a PIANO.") == {"music": "piano", "sound": "dog"}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\0",
        "no " * 50_000 + "music",
        '"' * 9_999,
        "'a" * 9_999,
        "\u202espeech\ud800 none",
        "-" * 9_999,
        "no speech, music, " * 2_000,
        "no, people " * 2_000,
    ],
)
def test_hostile_text_is_read_in_no_time(text: str) -> None:
    assert isinstance(claims(text), dict)


@pytest.mark.parametrize(
    "text", ["一个男人在说话。", "Мужчина говорит", "🔇", "音楽 ok です、とても静か"]
)
def test_what_is_not_in_latin_letters_cannot_be_read(text: str) -> None:
    assert not readable(text)


@pytest.mark.parametrize("text", ["", " \n", "None", "Un château s’écroule.", "A sign says 出口"])
def test_a_blank_text_and_latin_letters_can_be_read(text: str) -> None:
    assert readable(text)
