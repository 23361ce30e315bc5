"""Eight short pieces of our own, each with a known tempo, key and set of instruments."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from demo_clips.dsp import Rng, Signal, add, blank, fade, high, noise, room, samples, unit
from demo_clips.instruments import (
    Instrument,
    bass_guitar,
    clap,
    flute,
    guitar,
    hat,
    kick,
    lead_guitar,
    music_box,
    organ,
    pad,
    piano,
    pitch_hz,
    ride,
    snare,
    square,
    stab,
    synth_bass,
    triangle,
)
from demo_clips.take import Mark, Take


class Note(NamedTuple):
    """One or more pitches that sound together; times are counted in beats."""

    beat: float
    pitches: tuple[str, ...]
    beats: float


def line(text: str, start: float = 0.0) -> list[Note]:
    """Read notes written one after the other: `A4:1.5 D4+F4:1 -:2`, a dash being a rest."""
    notes, beat = [], start
    for word in text.split():
        names, beats = word.split(":")
        if names != "-":
            notes.append(Note(beat, tuple(names.split("+")), float(beats)))
        beat += float(beats)
    return notes


def perform(
    seconds: float, bpm: float, voice: Instrument, notes: Sequence[Note], touch: Rng | None = None
) -> Signal:
    """Play notes on an instrument; a touch makes each a little louder or softer."""
    out = blank(seconds)
    for note in notes:
        loud = touch.uniform(0.85, 1.0) if touch else 1.0
        for name in note.pitches:
            played = voice(pitch_hz(name), note.beats * 60 / bpm)
            add(out, note.beat * 60 / bpm, played, loud)
    return out


def hits(
    rng: Rng, seconds: float, bpm: float, beats: Sequence[float], sounds: Sequence[Signal]
) -> Signal:
    """Strike one of a few takes of a drum on each of the given beats."""
    out = blank(seconds)
    for i, beat in enumerate(beats):
        add(out, beat * 60 / bpm, sounds[i % len(sounds)], rng.uniform(0.9, 1.0))
    return out


def every(first: float, step: float, until: float) -> list[float]:
    """Beats at a steady distance."""
    return [float(b) for b in np.arange(first, until, step)]


def facts(bpm: float, key: str, *instruments: str) -> dict[str, object]:
    """What is known of a piece, as the metadata says it."""
    return {"tempo_bpm": bpm, "key": key, "instruments": list(instruments)}


def solo_piano(rng: Rng) -> Take:
    """A slow and sad piece in A minor."""
    bpm, seconds = 66.0, 10.0
    left = line(
        "A2:.5 E3:.5 A3:.5 C4:.5 E4:.5 C4:.5 A3:.5 E3:.5 "
        "F2:.5 C3:.5 F3:.5 A3:.5 E2:.5 B2:.5 E3:.5 G#3:.5 A2+E3:3"
    )
    right = line("E5:1.5 D5:.5 C5:1 A4:1 A4:1 C5:1 B4:1.5 G#4:.5 A4+C5:3")
    out = 0.5 * perform(seconds, bpm, piano, left, rng)
    out += 0.9 * perform(seconds, bpm, piano, right, rng)
    return Take(
        fade(room(rng, out, 1.6, 0.22), end=0.6),
        (Mark(0.0, "piano"),),
        facts(bpm, "A minor", "piano"),
    )


def dance(rng: Rng) -> Take:
    """Four on the floor in F minor; bass and chords join one after the other."""
    bpm, seconds = 128.0, 9.375
    out = 0.9 * hits(rng, seconds, bpm, every(0, 1, 20), [kick(rng)])
    out += 0.5 * hits(rng, seconds, bpm, every(1, 2, 20), [clap(rng), clap(rng)])
    out += 0.6 * hits(rng, seconds, bpm, every(0.5, 1, 20), [hat(rng, 0.05), hat(rng, 0.04)])
    out += 0.25 * hits(rng, seconds, bpm, every(0.25, 0.5, 20), [hat(rng), hat(rng)])
    roots = "-:.5 {0}:.25 -:.5 {0}:.25 {0}:.25 -:.25 "
    bass = "".join(roots.format(r) * 2 for r in ("F1", "F1", "A#1", "F1"))
    out += 0.8 * perform(seconds, bpm, synth_bass, line(bass, 4))
    rhythm = "{0}:.5 -:.25 {0}:.5 -:.25 {0}:.5 {0}:.5 -:1.5 "
    chords = ("F4+G#4+C5", "F4+A#4+C#5", "F4+G#4+C5")
    out += 0.45 * perform(seconds, bpm, stab, line("".join(rhythm.format(c) for c in chords), 8))
    marks = (
        Mark(0.0, "drums"),
        Mark(4.5 * 60 / bpm, "synth bass"),
        Mark(8 * 60 / bpm, "synthesizer"),
    )
    return Take(
        fade(out, 0.0005), marks, facts(bpm, "F minor", "drums", "synth bass", "synthesizer")
    )


def folk_waltz(rng: Rng) -> Take:
    """A picked guitar in three-four time, G major."""
    bpm, seconds = 108.0, 10.0
    bars = (
        ("G2", "D3+G3+B3"),
        ("C3", "E3+G3+C4"),
        ("G2", "D3+G3+B3"),
        ("D3", "F#3+A3+D4"),
        ("C3", "E3+G3+C4"),
        ("G2", "D3+G3+B3"),
    )
    backing = line("".join(f"{root}:1 {chord}:1 {chord}:1 " for root, chord in bars))
    tune = line("B4:1 D5:1 B4:.5 A4:.5 G4:2 E4:1 D4:1 G4:.5 A4:.5 B4:1 A4:3 G4:1 E4:1 C5:1 B4:3")
    out = 0.55 * perform(seconds, bpm, guitar, backing, rng)
    out += 0.8 * perform(seconds, bpm, guitar, tune, rng)
    return Take(
        fade(room(rng, out, 0.6, 0.15), 0.0005, 0.4),
        (Mark(0.0, "acoustic guitar"),),
        facts(bpm, "G major", "acoustic guitar"),
    )


def ambient(rng: Rng) -> Take:
    """Slow chords in D major under a long flute tune."""
    bpm, seconds = 60.0, 10.0
    chords = line("D3+A3+E4+F#4:5 G2+D3+B3+F#4:5")
    tune = line("F#5:2 E5:1 A5:2.5 D5:2", 2)
    out = perform(seconds, bpm, pad, chords)
    out += 0.9 * perform(seconds, bpm, flute, tune)
    out += 0.004 * high(noise(rng, seconds, 1), 800)
    return Take(
        fade(room(rng, out, 3.0, 0.5), 0.1, 1.0),
        (Mark(0.0, "synth pad"), Mark(2.0, "flute")),
        facts(bpm, "D major", "synth pad", "flute"),
    )


def blues(rng: Rng) -> Take:
    """A shuffle in E with a walking bass; an overdriven guitar answers."""
    bpm, seconds = 96.0, 10.0
    swing = [b + s for b in range(16) for s in ((0.0,) if b % 2 == 0 else (0.0, 2 / 3))]
    out = 0.6 * hits(rng, seconds, bpm, swing, [ride(rng), ride(rng)])
    out += 0.8 * hits(rng, seconds, bpm, every(0, 2, 16), [kick(rng)])
    out += 0.55 * hits(rng, seconds, bpm, every(1, 2, 16), [snare(rng), snare(rng)])
    walk = "E2:1 G#2:1 B2:1 C#3:1 D3:1 C#3:1 B2:1 G#2:1 A2:1 C#3:1 E3:1 F#3:1 E2:1 G#2:1 B2:1 B2:1"
    out += perform(seconds, bpm, bass_guitar, line(walk), rng)
    lick = line(
        "E4:.667 G4:.333 A4:.667 A#4:.333 B4:1.5 -:.5 D5:.667 B4:.333 A4:.667 G4:.333 E4:2", 4
    )
    out += 0.5 * perform(seconds, bpm, lead_guitar, lick, rng)
    marks = (Mark(0.0, "drums"), Mark(0.0, "bass guitar"), Mark(2.5, "electric guitar"))
    return Take(
        fade(room(rng, out, 0.5, 0.12), 0.0005, 0.3),
        marks,
        facts(bpm, "E blues", "drums", "bass guitar", "electric guitar"),
    )


def chiptune(rng: Rng) -> Take:
    """A merry game tune in C major."""
    bpm, seconds = 150.0, 8.0
    tune = line(
        "E5:.5 G5:.5 C6:.5 G5:.5 A5:.5 F5:.5 D5:.5 F5:.5 "
        "E5:.5 C5:.5 D5:.5 E5:.5 G5:1 D5:1 "
        "E5:.5 G5:.5 C6:.5 E6:.5 D6:.5 B5:.5 G5:.5 B5:.5 "
        "A5:.5 F5:.5 G5:.5 B5:.5 C6:1 G5:1 C6:.5 B5:.5 C6:1 C5:.5 E5:.5 C6:1"
    )
    roots = "C3 C4 F3 F4 C3 C4 G2 G3 C3 C4 G2 G3 F3 F4 C3 C4 C3 C4 C3 C4".split()
    octaves = zip(roots[::2], roots[1::2], strict=True)
    bass = "".join(f"{deep}:.5 {above}:.5 " * 2 for deep, above in octaves)
    out = 0.8 * perform(seconds, bpm, square, tune)
    out += 0.7 * perform(seconds, bpm, triangle, line(bass))
    out += 0.5 * hits(rng, seconds, bpm, every(0, 0.5, 20), [hat(rng, 0.012)])
    out += 0.5 * hits(rng, seconds, bpm, every(1, 2, 20), [snare(rng)])
    out += 0.7 * hits(rng, seconds, bpm, every(0, 2, 20), [kick(rng)])
    marks = (Mark(0.0, "square wave synthesizer"), Mark(0.0, "electronic drums"))
    instruments = ("square wave synthesizer", "triangle wave bass", "electronic drums")
    return Take(fade(out, 0.0005), marks, facts(bpm, "C major", *instruments))


def church_organ(rng: Rng) -> Take:
    """A solemn chorale in D minor in a large church."""
    bpm, seconds = 72.0, 10.0
    chorale = line(
        "D3+A3+F4+D5:2 G3+Bb3+D4+D5:1 A3+A3+E4+C#5:1 D3+A3+F4+D5:1 C3+G3+E4+E5:1 "
        "F3+A3+C4+F5:2 Bb2+Bb3+D4+F5:1 A2+A3+C#4+E5:1 D3+A3+F4+D5:2"
    )
    out = perform(seconds, bpm, organ, chorale)
    return Take(
        fade(room(rng, out, 3.2, 0.6), 0.001, 0.4),
        (Mark(0.0, "church organ"),),
        facts(bpm, "D minor", "church organ"),
    )


def lullaby(rng: Rng) -> Take:
    """A music box in three-four time, F major."""
    bpm, seconds = 90.0, 10.0
    tune = line("C6:1 A5:1 F5:1 G5:1 A5:.5 Bb5:.5 C6:1 D6:1 Bb5:1 G5:1 A5:2 C6:1 F6:3")
    under = line("F4:1 A4:1 C5:1 " * 2 + "Bb4:1 D5:1 G4:1 F4:1 A4:1 C5:1 F4:1 C5:1 A4:1")
    out = 0.9 * perform(seconds, bpm, music_box, tune, rng)
    out += 0.4 * perform(seconds, bpm, music_box, under, rng)
    return Take(
        fade(room(rng, out, 0.8, 0.15, 9_000), 0.0005, 0.6),
        (Mark(0.0, "music box"),),
        facts(bpm, "F major", "music box"),
    )


def cafe_guitar(rng: Rng, seconds: float) -> Signal:
    """An easy accompaniment in C major, to talk over."""
    shape = "{0}:.5 {2}:.5 {3}:.5 {2}:.5 {1}:.5 {2}:.5 {3}:.5 {2}:.5 "
    chords = (
        ("C3", "G3", "C4", "E4"),
        ("A2", "E3", "C4", "E4"),
        ("F2", "C3", "A3", "C4"),
        ("G2", "D3", "B3", "D4"),
    )
    text = "".join(shape.format(*chords[i % 4]) for i in range(6))
    out = perform(seconds, 112.0, guitar, line(text), rng)
    return unit(room(rng, out, 0.6, 0.15)[: samples(seconds)])
