"""What the embedded listener promises: it says what is there, hedges, and never invents."""

import csv
import re
import warnings
from functools import cache
from pathlib import Path

import anyio
import numpy as np
import pytest
from numpy.typing import NDArray

from audiocapbench.models import Question, SentAudio, create_model
from audiocapbench.models.listener import describe
from needs import needs

RATE = 16_000
SOUND = "Describe what you hear in this audio."
MUSIC = "Describe this music clip in detail, including genre, instrumentation, tempo, and mood."
SPEECH = (
    "Describe the speaker and what they are saying, including their tone, emotion, and "
    "speaking style."
)
PROMPTS = (SOUND, MUSIC, SPEECH, "")
VOICES = re.compile(r"\b(man|woman|person|child) .*speaks\b|\bvoice speaks\b")

Clip = NDArray[np.float32]


def clock(seconds: float, rate: int = RATE) -> NDArray[np.float64]:
    return np.arange(int(seconds * rate)) / rate


def clip(samples: NDArray[np.float64]) -> Clip:
    return np.clip(samples, -1, 1).astype(np.float32)


def noise(seconds: float, rate: int = RATE) -> NDArray[np.float64]:
    return np.random.default_rng(7).normal(0, 0.1, int(seconds * rate))


def tone(hertz: float, seconds: float, rate: int = RATE) -> NDArray[np.float64]:
    return 0.4 * np.sin(2 * np.pi * hertz * clock(seconds, rate))


def clicks(per_minute: float, seconds: float) -> NDArray[np.float64]:
    samples = np.zeros(int(seconds * RATE))
    burst = np.random.default_rng(3).normal(0, 0.4, 64)
    for start in np.arange(0.2, seconds - 0.1, 60 / per_minute):
        samples[int(start * RATE) : int(start * RATE) + 64] = burst
    return samples


def harmonics(hertz: NDArray[np.float64], formant: NDArray[np.float64]) -> NDArray[np.float64]:
    """A buzz with the given pitch, coloured by one moving resonance."""
    phase = 2 * np.pi * np.cumsum(hertz) / RATE
    partials = (
        np.exp(-(((k * hertz - formant) / 350) ** 2)) * np.sin(k * phase) + np.sin(k * phase) / k**2
        for k in range(1, 25)
    )
    return 0.08 * np.asarray(sum(partials))


@cache
def babble(seconds: float = 5.0) -> NDArray[np.float64]:
    """Speech-like: gliding pitch, moving colour, four syllables a second, hissing consonants."""
    t = clock(seconds)
    hertz = 125 * 2 ** (0.2 * np.sin(2 * np.pi * 0.7 * t) + 0.06 * np.sin(2 * np.pi * 2.3 * t))
    formant = 900 + 600 * np.sin(2 * np.pi * 2.9 * t)
    syllables = np.clip(np.sin(2 * np.pi * 4 * t) + 0.3, 0, 1)
    pauses = (t % 2.0) < 1.6
    hiss = np.diff(noise(seconds), prepend=0.0) * (np.sin(2 * np.pi * 4 * t) < -0.8)
    return (harmonics(hertz, formant) * syllables + 0.5 * hiss) * pauses


def sounds_like_speech(caption: str) -> bool:
    return bool(VOICES.search(caption)) or " speaks" in caption


def load(path: Path) -> Clip:
    soundfile = needs("soundfile")
    soxr = needs("soxr")
    samples, rate = soundfile.read(path, dtype="float32", always_2d=True)
    return np.asarray(soxr.resample(samples.mean(axis=1), rate, RATE), dtype=np.float32)


@pytest.mark.parametrize("prompt", PROMPTS)
@pytest.mark.parametrize("offset", [0.0, 0.5])
def test_silence_is_called_silent_whatever_is_asked(prompt: str, offset: float) -> None:
    caption = describe(np.full(3 * RATE, offset, dtype=np.float32), RATE, prompt)
    assert "silent" in caption
    assert not sounds_like_speech(caption)


def test_silence_in_a_music_prompt_contradicts_it() -> None:
    assert "no music" in describe(np.zeros(RATE, dtype=np.float32), RATE, MUSIC)


def test_noise_in_a_speech_prompt_contradicts_it() -> None:
    caption = describe(clip(noise(4)), RATE, SPEECH)
    assert "hiss" in caption
    assert "No speech" in caption


def test_steady_noise_is_a_steady_hiss_and_its_source_is_hedged() -> None:
    caption = describe(clip(noise(4)), RATE, SOUND)
    assert "steady hiss" in caption
    assert "perhaps" in caption


@pytest.mark.parametrize("per_minute", [60, 120, 150])
def test_a_click_train_is_given_at_about_its_rate(per_minute: int) -> None:
    caption = describe(clip(clicks(per_minute, 8)), RATE, SOUND)
    stated = re.search(r"about (\d+) times a minute", caption)
    assert stated, caption
    assert abs(int(stated[1]) - per_minute) <= 0.05 * per_minute
    assert "tick" in caption


def test_a_pulsed_melody_is_music_at_about_its_tempo() -> None:
    scale = [262, 330, 392, 523, 392, 330, 294, 349]
    fade = np.exp(-clock(0.5) * 6)
    notes = [tone(scale[i % 8], 0.5) * fade for i in range(16)]
    caption = describe(clip(np.concatenate(notes)), RATE, MUSIC)
    stated = re.search(r"around (\d+) beats per minute", caption)
    assert stated, caption
    assert abs(int(stated[1]) - 120) <= 6
    assert "plucked or struck" in caption


@pytest.mark.parametrize("rate", [8_000, 16_000, 44_100, 192_000])
def test_a_tone_keeps_its_pitch_at_any_rate(rate: int) -> None:
    caption = describe(clip(tone(440, 3, rate)), rate, SOUND)
    assert "440 Hz" in caption
    assert "steady" in caption


def test_a_pitch_that_goes_up_and_down_is_perhaps_a_siren() -> None:
    hertz = 900 * 2 ** (0.5 * np.sin(2 * np.pi * 0.5 * clock(6)))
    caption = describe(clip(0.4 * np.sin(2 * np.pi * np.cumsum(hertz) / RATE)), RATE, SOUND)
    assert "perhaps a siren" in caption


def test_what_changes_is_told_in_order() -> None:
    caption = describe(clip(np.concatenate((noise(3), tone(440, 3)))), RATE, SOUND).lower()
    assert caption.startswith("first ")
    assert caption.index("hiss") < caption.index(", then ") < caption.index("tone")


def test_a_hiss_at_the_edge_of_hearing_is_called_almost_silent() -> None:
    caption = describe(clip(noise(4) / 200), RATE, MUSIC)
    assert "almost silent" in caption
    assert "no music" in caption


def test_no_more_than_two_stretches_are_told() -> None:
    pieces = [tone(440, 3), noise(3), clicks(120, 3), tone(2000, 3), noise(3), tone(90, 3)]
    caption = describe(clip(np.concatenate(pieces)), RATE, SOUND)
    assert caption.count(", then ") <= 1


def test_a_long_silence_after_a_sound_is_told() -> None:
    caption = describe(clip(np.concatenate((tone(440, 2), np.zeros(3 * RATE)))), RATE, SOUND)
    assert "440 Hz" in caption
    assert caption.endswith("then silence follows.")


@pytest.mark.parametrize(("gain", "word"), [(0.02, "quiet"), (0.3, "A steady"), (2.0, "loud")])
def test_loudness_is_told_where_it_is_unusual(gain: float, word: str) -> None:
    assert word in describe(clip(gain * tone(440, 3)), RATE, SOUND)


def test_a_voice_is_told_from_a_steady_buzz_with_the_same_pitch() -> None:
    steady = harmonics(np.full(5 * RATE, 125.0), np.full(5 * RATE, 900.0))
    talking = describe(clip(babble()), RATE, SPEECH)
    buzzing = describe(clip(steady), RATE, SPEECH)
    assert "man" in talking
    assert sounds_like_speech(talking)
    assert not sounds_like_speech(buzzing)


def test_words_are_never_claimed() -> None:
    caption = describe(clip(babble()), RATE, SPEECH)
    assert '"' not in caption
    assert "words" in caption


@pytest.mark.parametrize(
    ("prompt", "topic"),
    [
        (SOUND, "sound"),
        ("What sounds can you identify in this audio clip?", "sound"),
        (MUSIC, "music"),
        (
            "Characterize this musical excerpt with rich detail; cover genre, instrumentation, "
            "and overall atmosphere.",
            "music",
        ),
        (SPEECH, "speech"),
        (
            "Describe this speech audio, including the speaker's characteristics and what is "
            "being said.",
            "speech",
        ),
        ("", "sound"),
        ("\x00😀" * 50_000, "sound"),
    ],
)
def test_the_instruction_decides_what_is_described(prompt: str, topic: str) -> None:
    from audiocapbench.models.listener.hearing import topic_of

    assert topic_of(prompt) == topic


@pytest.mark.parametrize("rate", [1, 8_000, 11_111, 192_000])
@pytest.mark.parametrize(("size", "own"), [*zip([1, 2, 160, 4_000], PROMPTS, strict=True)])
def test_very_short_clips_at_any_rate_get_a_whole_sentence(rate: int, size: int, own: str) -> None:
    square = np.where(np.arange(size) % 7 < 3, 1.0, -1.0)
    # A rate that has little in common with the listener's costs a long filter each time.
    prompts = PROMPTS if rate % 8_000 == 0 else (own,)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for prompt in prompts:
            caption = describe(clip(square[: 8 * rate]), rate, prompt)
            assert caption.endswith(".")
            assert caption[0].isupper()
            assert "nan" not in caption.lower().split()


def test_a_full_scale_square_wave_is_a_tone() -> None:
    caption = describe(clip(np.sign(np.sin(2 * np.pi * 300 * clock(3) + 0.1))), RATE, SOUND)
    assert "tone" in caption
    assert "300 Hz" in caption


def test_the_same_clip_is_always_described_alike_and_left_as_it_was() -> None:
    samples = clip(babble())
    before = samples.copy()
    assert len({describe(samples, RATE, SPEECH) for _ in range(3)}) == 1
    assert np.array_equal(samples, before)


def test_a_minute_is_described_whole() -> None:
    from audiocapbench.models.listener.hearing import hear

    stretches = hear(clip(np.concatenate((noise(40), tone(440, 20)))), RATE)
    assert sum(stretch.seconds for stretch in stretches) == pytest.approx(60)
    assert [stretch.kind for stretch in stretches] == ["hiss", "tone"]


def test_of_a_very_long_clip_the_first_two_minutes_are_heard() -> None:
    from audiocapbench.models.listener.hearing import hear

    stretches = hear(clip(np.concatenate((tone(440, 125), noise(5)))), RATE)
    assert [(stretch.kind, stretch.seconds) for stretch in stretches] == [("tone", 120.0)]


@pytest.mark.parametrize("prompt", PROMPTS)
def test_a_source_is_named_only_as_a_guess(prompt: str) -> None:
    sounds = (noise(4), clicks(120, 8), tone(90, 3), babble(), np.cumsum(noise(4)) / 20)
    sources = r"rain|water|wind|engine|clock|tapping|footsteps|siren|animal|\bman\b|\bwoman\b"
    for sound in sounds:
        for part in describe(clip(sound), RATE, prompt).split(", "):
            if re.search(sources, part):
                assert re.match(r"perhaps|probably|a man or a woman", part), part


def test_as_a_model_it_takes_pcm_and_says_the_same_as_describe() -> None:
    pcm = (clip(babble()) * 32767).astype("<i2")
    audio = SentAudio(pcm.tobytes(), "pcm16", RATE, 1, pcm.size / RATE, "")
    model = create_model("listener")
    reply = anyio.run(model.answer, Question("a", SPEECH, audio))
    assert reply.text == describe(pcm.astype(np.float32) / np.float32(32767), RATE, SPEECH)
    assert model.cacheable
    assert model.parameters == {"version": 2}


@pytest.mark.slow
def test_real_speech_is_recognised_in_most_clips(shared: Path) -> None:
    audio = shared / "audio"
    files = [*(audio / "ravdess").glob("*.flac"), *(audio / "librosa").glob("[0-9]*-*-0000.ogg")]
    assert len(files) >= 10
    found = [sounds_like_speech(describe(load(file), RATE, SOUND)) for file in files]
    assert np.mean(found) >= 0.9


@pytest.mark.slow
def test_real_sounds_without_speech_are_not_called_speech(shared: Path) -> None:
    folder = shared / "audio" / "esc50"
    with (folder / "labels.csv").open(encoding="utf-8") as lines:
        labels = {row["file_name"]: row["category"] for row in csv.DictReader(lines)}
    human = {"laughing", "coughing", "crying_baby"}
    called = [
        label
        for name, label in labels.items()
        if label not in human and sounds_like_speech(describe(load(folder / name), RATE, SPEECH))
    ]
    assert len(called) <= 1, called


@pytest.mark.slow
def test_real_music_is_heard_as_music_under_a_plain_prompt(shared: Path) -> None:
    folder = shared / "audio" / "librosa"
    files = [
        file
        for part in ("Vibe_Ace", "Hungarian", "trumpet")
        for file in folder.glob(f"*{part}*.ogg")
    ]
    assert len(files) == 3
    for file in files:
        assert re.search(r"music|tone|notes", describe(load(file), RATE, SOUND), re.IGNORECASE)
