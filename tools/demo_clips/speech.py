"""Spoken clips: sentences of our own, said by espeak-ng voices, with the transcript known."""

import shutil
import subprocess
from typing import NamedTuple

import numpy as np
from scipy import signal

from audiocapbench.errors import DatasetError
from demo_clips.dsp import RATE, Rng, Signal, add, blank, fade, high, noise, resample, room, unit
from demo_clips.take import Mark, Take


class Line(NamedTuple):
    """What is said, by which espeak-ng voice, how fast (words a minute) and how high (0 to 99)."""

    words: str
    voice: str
    pace: int
    pitch: int
    gap_before: float = 0.0


def spoken(line: Line) -> Signal:
    """The sound of a line at unit RMS, without the silence around it."""
    program = shutil.which("espeak-ng")
    if program is None:
        raise DatasetError(
            "espeak-ng, which speaks the demo clips, is not installed; "
            "install it (on Debian or Ubuntu: apt install espeak-ng) and run this again"
        )
    options = ["-v", line.voice, "-s", str(line.pace), "-p", str(line.pitch), "--stdout"]
    done = subprocess.run([program, *options, line.words], capture_output=True, check=False)
    if done.returncode != 0 or done.stderr:
        reason = done.stderr.decode(errors="replace").strip()
        raise DatasetError(f"espeak-ng could not speak with the voice {line.voice!r}: {reason}")
    # espeak-ng cannot seek on a pipe and leaves a wrong length in the header, so read past it.
    raw = done.stdout[done.stdout.index(b"data") + 8 :]
    rate = int.from_bytes(done.stdout[24:28], "little")
    sound = np.frombuffer(raw[: len(raw) // 2 * 2], dtype="<i2").astype(np.float64) / 32_768
    sound = high(resample(sound, rate, RATE), 60)
    loud = np.flatnonzero(np.abs(sound) > 0.01 * np.abs(sound).max())
    return unit(fade(sound[loud[0] : loud[-1]], 0.005, 0.01))


def whispered(rng: Rng, voice: Signal) -> Signal:
    """The same words without the vocal cords: breath noise shaped by the mouth's resonances."""
    _, _, grid = signal.stft(voice, RATE, nperseg=768)
    _, _, breath = signal.stft(noise(rng, voice.size / RATE), RATE, nperseg=768)
    cepstrum = np.fft.irfft(np.log(np.abs(grid) + 1e-5), axis=0)
    # The first coefficients are the shape of the mouth; the pitch lies beyond them.
    keep = 60
    cepstrum[keep:-keep] = 0.0
    mouth = np.exp(np.fft.rfft(cepstrum, axis=0).real)
    frames = min(mouth.shape[1], breath.shape[1])
    _, out = signal.istft(mouth[:, :frames] * breath[:, :frames], RATE, nperseg=768)
    return unit(high(np.asarray(out[: voice.size]), 400))


def conversation(rng: Rng, lines: tuple[Line, ...], echo: float, event: str) -> Take:
    """Speak lines one after the other in a small room."""
    return in_a_room(rng, lines, [spoken(line) for line in lines], echo, event)


def in_a_room(
    rng: Rng, lines: tuple[Line, ...], parts: list[Signal], echo: float, event: str
) -> Take:
    """Put spoken lines after one another, each after its gap, with a little air around them."""
    at = 0.3
    starts = []
    for line, part in zip(lines, parts, strict=True):
        at += line.gap_before
        starts.append(at)
        at += part.size / RATE
    out = blank(at + 0.4)
    for start, part in zip(starts, parts, strict=True):
        add(out, start, part)
    out = room(rng, out, 0.35, echo)
    out += 0.003 * noise(rng, out.size / RATE, 1.0)[: out.size]
    transcript = " ".join(line.words for line in lines)
    return Take(fade(out), (Mark(0.3, event),), {"transcript": transcript})


# espeak-ng 1.51 ignores a variant after "en-gb"; after "en", which is the same accent, it does not.
LIBRARY = (
    Line(
        "Good morning, and thank you for calling the city library.",
        voice="en-us+m3",
        pace=160,
        pitch=45,
    ),
    Line("We open at nine and close at six.", voice="en-us+m3", pace=160, pitch=45, gap_before=0.3),
)
STATION = (
    Line(
        "The train to Bristol will leave from platform four in ten minutes.",
        voice="en-gb-x-rp+f3",
        pace=150,
        pitch=55,
    ),
)
VICTORY = (
    Line(
        "We won! I can't believe it, we actually won the whole tournament!",
        voice="en-us+f2",
        pace=205,
        pitch=85,
    ),
)
CALMING = (
    Line(
        "Take a deep breath, close your eyes, and let your shoulders drop.",
        voice="en-us+m7",
        pace=105,
        pitch=12,
    ),
)
WHISPER = Line(
    "Be very quiet, the baby has only just fallen asleep.", voice="en+m3", pace=140, pitch=50
)
HESITATION = (
    Line("I was going to call you last night.", voice="en-gb-scotland+m2", pace=150, pitch=40),
    Line(
        "But I left my phone on the kitchen table.",
        voice="en-gb-scotland+m2",
        pace=150,
        pitch=40,
        gap_before=1.9,
    ),
)
MEMORY = (
    Line(
        "When I was a girl, this whole street was nothing but apple trees.",
        voice="en-gb-x-rp+grandma",
        pace=125,
        pitch=50,
    ),
)
DIALOGUE = (
    Line("Did you remember to feed the cat?", voice="en-us+f4", pace=165, pitch=60),
    Line(
        "Yes, twice, and she is still hungry.",
        voice="en-us+m1",
        pace=165,
        pitch=35,
        gap_before=0.45,
    ),
)


def library(rng: Rng) -> Take:
    """A man greets a caller."""
    return conversation(rng, LIBRARY, 0.1, "male speech")


def station(rng: Rng) -> Take:
    """A woman announces a train."""
    return conversation(rng, STATION, 0.12, "female speech")


def victory(rng: Rng) -> Take:
    """An excited woman, fast and high."""
    return conversation(rng, VICTORY, 0.1, "female speech")


def calming(rng: Rng) -> Take:
    """A slow and low man."""
    return conversation(rng, CALMING, 0.1, "male speech")


def whisper(rng: Rng) -> Take:
    """Someone whispers."""
    breath = whispered(rng, spoken(WHISPER))
    return in_a_room(rng, (WHISPER,), [breath], 0.05, "whispered speech")


def hesitation(rng: Rng) -> Take:
    """A man stops for two seconds in the middle."""
    return conversation(rng, HESITATION, 0.1, "male speech")


def memory(rng: Rng) -> Take:
    """An old woman remembers."""
    return conversation(rng, MEMORY, 0.1, "female speech")


def dialogue(rng: Rng) -> Take:
    """A woman asks and a man answers."""
    take = conversation(rng, DIALOGUE, 0.1, "female speech")
    answered = 0.3 + spoken(DIALOGUE[0]).size / RATE + DIALOGUE[1].gap_before
    return Take(take.sound, (*take.marks, Mark(round(answered, 2), "male speech")), take.facts)
