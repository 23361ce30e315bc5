"""Weather, water and animals: the demo clips that no person or machine makes."""

import numpy as np

from demo_clips.dsp import (
    Formant,
    Mode,
    Rng,
    Signal,
    add,
    band,
    blank,
    buzz,
    click,
    clock,
    curve,
    decay,
    fade,
    high,
    low,
    noise,
    resonate,
    room,
    samples,
    strike,
    sweep,
    tone,
    unit,
    wander,
)
from demo_clips.take import Mark, Take


def rain(rng: Rng, seconds: float, drops_per_second: float = 500.0) -> Signal:
    """Steady rain: a hiss, and single drops on a hard ground."""
    hiss = band(noise(rng, seconds, 0.6), 500, 11_000, 1) * wander(rng, seconds, 0.8, 0.85, 1.15)
    pitches = 1_000 * 8 ** rng.uniform(size=250)
    bodies = [
        strike([Mode(hz, 2.5 / hz), Mode(1.7 * hz, 1.5 / hz, 0.6)], 12 / hz) for hz in pitches
    ]
    drops = blank(seconds)
    for at in rng.uniform(0, seconds, round(drops_per_second * seconds)):
        add(drops, float(at), bodies[rng.integers(len(bodies))], rng.lognormal(-0.5, 0.9))
    return 0.75 * unit(hiss) + 0.65 * unit(drops)


def thunder(rng: Rng, seconds: float) -> Signal:
    """A crack that rolls away in a few long rumbles."""
    swells = blank(seconds)
    for at, tau, gain in ((0.0, 0.4, 0.9), (0.6, 0.6, 0.8), (1.4, 0.7, 1.0), (2.5, 1.0, 0.6)):
        add(swells, at, decay(seconds - at, tau, 0.12), gain)
    roll = low(high(noise(rng, seconds, 0.8), 35), 320) * wander(rng, seconds, 9, 0.4, 1.4)
    crack = band(noise(rng, seconds, 1.0), 120, 1_800) * decay(seconds, 0.25, 0.05)
    return unit(roll) * swells + 0.3 * unit(crack)


def rain_thunder(rng: Rng) -> Take:
    """Rain from the start; thunder rolls over its second half."""
    out = 0.3 * rain(rng, 10.0)
    add(out, 5.4, thunder(rng, 4.6), 1.2)
    return Take(fade(out, 0.05, 0.4), (Mark(0.0, "rain"), Mark(5.4, "thunder")))


def bark(rng: Rng, seconds: float, pitch: float) -> Signal:
    """One woof: a voiced burst whose pitch jumps up and drops, with a rough edge."""
    hz = pitch * curve(
        seconds, (0, 0.75), (seconds * 0.3, 1.25), (seconds * 0.6, 1.05), (seconds, 0.6)
    )
    hz *= wander(rng, seconds, 120, 0.96, 1.04)
    source = buzz(hz, 0.8, 40) + 0.5 * noise(rng, seconds)
    throat = resonate(
        source, [Formant(620, 220), Formant(1_250, 300, 0.8), Formant(2_700, 600, 0.35)]
    )
    shape = curve(seconds, (0, 0), (0.018, 1), (seconds * 0.55, 0.8), (seconds, 0))
    return unit(throat * shape**1.5)


def growl(rng: Rng, seconds: float) -> Signal:
    """A low throaty rattle."""
    hz = 62 * wander(rng, seconds, 40, 0.85, 1.15) * curve(seconds, (0, 0.9), (seconds, 1.2))
    rattle = 0.55 + 0.45 * tone(wander(rng, seconds, 6, 22, 31))
    source = buzz(hz, 0.7, 60) + 0.25 * noise(rng, seconds)
    throat = resonate(
        source, [Formant(330, 140), Formant(900, 260, 0.6), Formant(2_100, 500, 0.25)]
    )
    shape = curve(seconds, (0, 0), (0.4, 0.7), (seconds - 0.25, 1), (seconds, 0))
    return unit(throat * rattle * shape)


def dog(rng: Rng) -> Take:
    """A dog growls, then barks five times."""
    out = blank(6.5)
    add(out, 0.2, growl(rng, 2.3), 0.4)
    for at, pitch in ((2.8, 400), (3.2, 430), (4.15, 410), (4.55, 440), (5.5, 390)):
        add(out, at, bark(rng, rng.uniform(0.19, 0.25), pitch), 1.0)
    out = room(rng, out, 0.5, 0.2)
    return Take(
        fade(out + 0.004 * noise(rng, 6.5, 1)), (Mark(0.2, "dog growl"), Mark(2.8, "dog bark"))
    )


def wind(rng: Rng, seconds: float) -> Signal:
    """Air that rises and falls in strength and pitch."""
    gusts = wander(rng, seconds, 0.7, 0.3, 1.0)
    body = sweep(noise(rng, seconds, 0.7), 220 + 520 * gusts, 0.9)
    return unit(body * gusts)


def tweet(start: float, end: float, seconds: float) -> Signal:
    """One whistled slide."""
    shape = np.sin(np.pi * clock(seconds) / seconds) ** 0.7
    hz = curve(seconds, (0, start), (seconds * 0.25, start * 1.05), (seconds, end))
    return (tone(hz) + 0.08 * tone(2 * hz)) * shape


def trill(seconds: float, hz: float, wobble: float) -> Signal:
    """A fast warble around one pitch."""
    t = clock(seconds)
    shape = np.sin(np.pi * t / seconds) ** 0.5 * (0.6 + 0.4 * np.sin(2 * np.pi * wobble * t))
    return tone(hz * (1 + 0.16 * np.sin(2 * np.pi * wobble * t))) * shape


def birds(rng: Rng) -> Take:
    """Wind, over which two birds answer each other."""
    out = 0.10 * wind(rng, 9.0)
    song = blank(9.0)
    for at in (1.2, 3.6, 5.5, 7.4):
        for step in range(4):
            slide = tweet(rng.uniform(5_000, 5_500), rng.uniform(3_500, 3_900), 0.085)
            add(song, at + 0.15 * step, slide, rng.uniform(0.8, 1.0))
    for at in (2.3, 4.6, 6.5):
        add(song, at, trill(rng.uniform(0.5, 0.7), rng.uniform(2_900, 3_200), 24), 0.6)
    out += room(rng, 0.3 * song, 1.0, 0.2, 9_000)
    return Take(fade(out, 0.1, 0.2), (Mark(0.0, "wind"), Mark(1.2, "birds chirping")))


def gull(rng: Rng, seconds: float) -> Signal:
    """One harsh cry that leaps up and slides down."""
    hz = curve(seconds, (0, 750), (seconds * 0.25, 1_250), (seconds * 0.6, 1_150), (seconds, 820))
    source = buzz(hz * wander(rng, seconds, 60, 0.985, 1.015), 0.5, 12)
    cry = resonate(
        source, [Formant(1_300, 500), Formant(2_600, 600, 0.9), Formant(4_300, 900, 0.4)]
    )
    return unit(cry * np.sin(np.pi * clock(seconds) / seconds) ** 0.6)


def breaker(rng: Rng, seconds: float) -> Signal:
    """A wave that swells, breaks and drains off the beach."""
    crest = 0.42 * seconds
    swell = curve(seconds, (0, 0), (crest, 1), (seconds * 0.7, 0.35), (seconds, 0)) ** 1.6
    foam = curve(seconds, (crest * 0.6, 0), (crest * 1.1, 1), (seconds, 0)) ** 1.3
    deep = sweep(
        noise(rng, seconds, 1.0), curve(seconds, (0, 180), (crest, 900), (seconds, 400)), 1.2
    )
    return unit(deep) * swell + 0.55 * unit(high(noise(rng, seconds, 0.5), 1_500)) * foam


def sea(rng: Rng) -> Take:
    """Waves break on a shore; later, gulls cry."""
    out = 0.05 * noise(rng, 10.0, 1.0)
    for at, gain in ((0.0, 0.8), (2.9, 1.0), (6.0, 0.9)):
        add(out, at, breaker(rng, 5.0), 0.42 * gain)
    cries = blank(10.0)
    for at, length in ((5.3, 0.34), (5.75, 0.30), (6.15, 0.28), (8.2, 0.42)):
        add(cries, at, gull(rng, length), 0.45)
    out += room(rng, cries, 0.8, 0.25)
    return Take(fade(out, 0.1, 0.5), (Mark(0.0, "sea waves"), Mark(5.3, "seagulls")))


def bubble(hz: float, tau: float, rise: float = 1.5) -> Signal:
    """The plink of a bubble, whose pitch climbs as it fades."""
    length = 7 * tau
    return tone(curve(length, (0, hz), (length, hz * rise))) * decay(length, tau, 0.002)


def pour(rng: Rng, seconds: float) -> Signal:
    """A stream into a vessel that sounds higher as it fills."""
    full = curve(seconds, (0, 420), (seconds, 1_500))
    shape = curve(seconds, (0, 0), (0.15, 1), (seconds - 0.2, 0.9), (seconds, 0))
    stream = sweep(noise(rng, seconds, 0.3), full, 0.35) * shape
    splash = high(noise(rng, seconds), 2_500) * shape * wander(rng, seconds, 20, 0.6, 1.2)
    gurgle = blank(seconds)
    for at in np.sort(rng.uniform(0.1, seconds - 0.2, round(110 * seconds))):
        hz = float(full[samples(float(at))]) * rng.lognormal(0.25, 0.4)
        add(gurgle, float(at), bubble(hz, rng.uniform(0.006, 0.02)), rng.lognormal(-0.7, 0.6))
    return 0.5 * unit(stream) + 0.10 * unit(splash) + 0.8 * unit(gurgle)


def water(rng: Rng) -> Take:
    """A tap drips, then water pours into a vessel."""
    out = blank(8.5)
    for at in (0.4, 1.3, 2.1, 2.8, 3.5):
        drop = bubble(rng.uniform(900, 1_250), 0.03, 1.7)
        add(out, at, drop, 1.0)
        add(out, at - 0.006, click(rng, 0.0012, 2_500), 0.12)
        add(out, at + 0.09, bubble(rng.uniform(1_500, 1_900), 0.015), 0.3)
    out = room(rng, out, 0.7, 0.35)
    add(out, 4.2, pour(rng, 3.9), 0.28)
    return Take(
        fade(out + 0.0015 * noise(rng, 8.5, 1)),
        (Mark(0.4, "water dripping"), Mark(4.2, "water pouring")),
    )
