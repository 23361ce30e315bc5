"""The instruments of the demo music: each turns a pitch and a length into sound."""

import functools
import re
from collections.abc import Callable

import numpy as np
from scipy import signal

from demo_clips.dsp import (
    RATE,
    Mode,
    Rng,
    Signal,
    band,
    blank,
    buzz,
    clock,
    curve,
    decay,
    high,
    low,
    noise,
    samples,
    strike,
    tone,
)

Instrument = Callable[[float, float], Signal]

STEPS = {"C": 0, "D": 2, "E": 4, "F": 5, "G": 7, "A": 9, "B": 11}


def pitch_hz(name: str) -> float:
    """The frequency of a note such as A4, F#3 or Bb2."""
    match = re.fullmatch(r"([A-G])([#b]?)(\d)", name)
    if match is None:
        raise ValueError(f"{name!r} is not a note; write a letter, an accidental and an octave")
    letter, sign, octave = match.groups()
    semitone = STEPS[letter] + {"": 0, "#": 1, "b": -1}[sign] + 12 * (int(octave) + 1)
    return float(440.0 * 2 ** ((semitone - 69) / 12))


@functools.cache
def _string(hz: float, seconds: float, brightness: float, loss: float) -> Signal:
    """Karplus–Strong: a burst of noise goes round a loop that averages and loses a little."""
    rng = np.random.default_rng(round(hz * 100))
    period = int(RATE / hz)
    turn = low(rng.uniform(-1, 1, period + 64), brightness, 1)[64:]
    turn -= np.roll(turn, period // 5)
    turns, last = [], 0.0
    for _ in range(int(seconds * hz * 1.05) + 2):
        turns.append(turn)
        shifted = np.concatenate(([last], turn[:-1]))
        last = float(turn[-1])
        turn = loss * 0.5 * (turn + shifted)
    loop = np.concatenate(turns)
    step = hz * (period + 0.5) / RATE
    out = np.interp(np.arange(samples(seconds)) * step, np.arange(loop.size), loop)
    return np.asarray(out / np.abs(out).max())


def guitar(hz: float, seconds: float) -> Signal:
    """A plucked steel string that is damped when the note ends."""
    length = seconds + 0.5
    body = _string(hz, length, 5_000.0, 0.996)
    body = body + 0.6 * band(body, 90, 280)
    return body * curve(length, (0, 1), (seconds, 1), (length, 0))


def bass_guitar(hz: float, seconds: float) -> Signal:
    """A plucked electric bass."""
    length = seconds + 0.08
    return low(_string(hz, length, 1_200.0, 0.992), 900) * curve(
        length, (0, 1), (seconds * 0.9, 0.9), (length, 0)
    )


def lead_guitar(hz: float, seconds: float) -> Signal:
    """An overdriven electric guitar."""
    string = _string(hz, seconds + 0.1, 3_500.0, 0.999)
    dirty = np.tanh(6 * string) * curve(seconds + 0.1, (0, 1), (seconds, 0.8), (seconds + 0.1, 0))
    return 0.45 * low(dirty, 3_200)


def piano(hz: float, seconds: float) -> Signal:
    """A struck string: slightly sharp partials that fade the sooner the higher they are."""
    length = seconds + 0.7
    t = clock(length)
    out = np.zeros_like(t)
    for k in range(1, 15):
        partial = k * hz * np.sqrt(1 + 0.0004 * k * k)
        if partial > 0.45 * RATE:
            break
        tau = 3.2 * (220 / hz) ** 0.4 / k**0.75
        fall = 0.7 * np.exp(-t / (0.3 * tau)) + 0.3 * np.exp(-t / tau)
        out += np.sin(2 * np.pi * partial * t + k) * fall / k**1.25 * (1 if k % 7 else 0.2)
    knock = strike([Mode(110, 0.02, 0.4), Mode(260, 0.012, 0.25)], length)
    return 0.6 * (out + knock) * curve(length, (0, 0), (0.004, 1), (seconds, 1), (length, 0))


def organ(hz: float, seconds: float) -> Signal:
    """A principal chorus of pipes."""
    length = seconds + 0.12
    t = clock(length)
    stops = ((0.5, 0.5), (1, 1.0), (2, 0.75), (3, 0.35), (4, 0.45), (6, 0.15), (8, 0.2))
    out = np.zeros_like(t)
    for ratio, gain in stops:
        if ratio * hz < 0.4 * RATE:
            sharp = 1 + 0.0012 * np.sin(ratio * 7.0)
            out += gain * np.sin(2 * np.pi * hz * ratio * sharp * t + ratio)
    return 0.3 * out * curve(length, (0, 0), (0.05, 1), (seconds, 1), (length, 0))


def flute(hz: float, seconds: float) -> Signal:
    """A soft tone with breath in it and a vibrato that comes in late."""
    length = seconds + 0.1
    t = clock(length)
    vibrato = 1 + 0.006 * np.sin(2 * np.pi * 5.2 * t) * np.clip((t - 0.3) / 0.5, 0, 1)
    pitch = hz * vibrato
    breath = band(noise(np.random.default_rng(round(hz)), length), hz * 0.8, hz * 2.6)
    out = tone(pitch) + 0.28 * tone(2 * pitch) + 0.10 * tone(3 * pitch) + 0.16 * breath
    return 0.6 * out * curve(length, (0, 0), (0.09, 1), (seconds, 0.9), (length, 0))


def pad(hz: float, seconds: float) -> Signal:
    """Detuned strings that swell and close slowly."""
    length = seconds + 1.2
    t = clock(length)
    out = np.zeros_like(t)
    for cents in (-9.0, -3.0, 4.0, 10.0):
        out += buzz(np.full(t.size, hz * 2 ** (cents / 1_200)), 1.1, 9)
    swell = curve(length, (0, 0), (1.2, 1), (seconds, 0.9), (length, 0))
    return 0.14 * low(out, 1_000) * swell


def music_box(hz: float, _seconds: float) -> Signal:
    """A plucked steel tooth."""
    modes = [Mode(hz, 0.7), Mode(hz * 2.0, 0.3, 0.12), Mode(hz * 6.27, 0.09, 0.22)]
    return 0.7 * strike([m for m in modes if m.hz < 0.45 * RATE], 2.2)


def square(hz: float, seconds: float, duty: float = 0.25) -> Signal:
    """The pulse wave of an old game console."""
    t = clock(seconds)
    out = np.zeros_like(t)
    for k in range(1, int(min(40, 0.4 * RATE / hz)) + 1):
        out += np.sin(np.pi * k * duty) / k * np.cos(2 * np.pi * k * hz * t)
    return 0.5 * out * curve(seconds, (0, 1), (seconds * 0.7, 0.55), (seconds, 0))


def triangle(hz: float, seconds: float) -> Signal:
    """The hollow bass of an old game console."""
    wave = np.asarray(signal.sawtooth(2 * np.pi * hz * clock(seconds), 0.5))
    return 0.6 * wave * curve(seconds, (0, 1), (seconds - 0.02, 1), (seconds, 0))


def synth_bass(hz: float, seconds: float) -> Signal:
    """A saw whose bright start is filtered away."""
    saw = buzz(np.full(samples(seconds), hz), 1.0, 60)
    shape = curve(seconds, (0, 0), (0.004, 1), (seconds * 0.8, 0.7), (seconds, 0))
    return (0.55 * low(saw, 400) + 0.25 * low(saw, 2_500) * decay(seconds, 0.06)) * shape


def stab(hz: float, seconds: float) -> Signal:
    """A short bright synthesiser chord tone."""
    t = clock(seconds + 0.15)
    saws = buzz(np.full(t.size, hz * 1.004), 1.0, 30) + buzz(np.full(t.size, hz / 1.004), 1.0, 30)
    return 0.25 * low(saws, 4_500) * decay(seconds + 0.15, seconds, 0.004)


def kick(_rng: Rng) -> Signal:
    """A bass drum."""
    hz = 46 + 130 * decay(0.32, 0.028, 1e-6)
    return tone(hz) * decay(0.32, 0.11, 0.001)


def snare(rng: Rng) -> Signal:
    """A snare drum."""
    rattle = high(rng.standard_normal(samples(0.22)), 1_500) * decay(0.22, 0.055)
    return 0.4 * rattle + 0.6 * strike([Mode(185, 0.05), Mode(330, 0.03, 0.5)], 0.22)


def clap(rng: Rng) -> Signal:
    """A hand clap of several hands."""
    out = blank(0.25)
    for at, tau in ((0.0, 0.006), (0.011, 0.006), (0.022, 0.05)):
        start = samples(at)
        burst = band(rng.standard_normal(out.size - start), 900, 4_500)
        out[start:] += burst * np.exp(-np.arange(burst.size) / (tau * RATE))
    return 0.6 * out


def hat(rng: Rng, tau: float = 0.022) -> Signal:
    """A closed hi-hat, or an open one with a longer tau."""
    return 0.35 * high(rng.standard_normal(samples(8 * tau)), 7_000, 4) * decay(8 * tau, tau)


def ride(rng: Rng) -> Signal:
    """The tap of a stick on a ride cymbal."""
    modes = [Mode(float(hz), 0.25, 0.05) for hz in rng.uniform(2_500, 11_000, 14)]
    out = strike(modes, 0.6)
    tick = hat(rng, 0.012)
    out[: tick.size] += tick
    return out
