"""Doors, clocks, telephones and vehicles: the demo clips of made things."""

import numpy as np

from demo_clips.dsp import (
    RATE,
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
    unit,
    wander,
)
from demo_clips.take import Mark, Take

SPEED_OF_SOUND = 343.0


def footstep(rng: Rng) -> Signal:
    """Heel, then toe, on a hard floor."""
    out = blank(0.3)
    for at, gain in ((0.0, 1.0), (0.075, 0.35)):
        bend = rng.uniform(0.92, 1.08)
        modes = [Mode(150 * bend, 0.022), Mode(410 * bend, 0.012, 0.7), Mode(1_250 * bend, 0.006)]
        add(out, at, strike(modes, 0.15), gain)
        add(out, at, click(rng, 0.002, 1_500), 0.5 * gain)
    return out


def creak(rng: Rng, seconds: float) -> Signal:
    """A dry hinge: slips in quick succession, speeding up and slowing down."""
    pace = curve(seconds, (0, 38), (0.4, 95), (0.8, 60), (1.2, 150), (seconds, 75))
    turns = np.floor(np.cumsum(pace * wander(rng, seconds, 30, 0.8, 1.2)) / RATE)
    slips = np.diff(turns, prepend=0.0)
    slips *= rng.uniform(0.5, 1.0, slips.size)
    wood = [
        Formant(480, 45),
        Formant(1_080, 70, 1.2),
        Formant(1_780, 90, 0.9),
        Formant(2_950, 160, 0.5),
    ]
    shape = curve(
        seconds, (0, 0), (0.15, 0.8), (0.7, 0.5), (1.2, 1), (seconds - 0.1, 0.6), (seconds, 0)
    )
    return unit(resonate(slips, wood) * shape)


def slam(rng: Rng) -> Signal:
    """A heavy door falls into its frame."""
    body = [Mode(58, 0.13), Mode(92, 0.10, 0.8), Mode(143, 0.07, 0.6), Mode(310, 0.03, 0.4)]
    out = strike(body, 0.8)
    out += 1.6 * low(rng.standard_normal(out.size), 1_400) * decay(0.8, 0.035)
    add(out, 0.045, strike([Mode(1_900, 0.012), Mode(3_300, 0.008, 0.6)], 0.1), 0.35)
    return out


def footsteps_door(rng: Rng) -> Take:
    """Steps across a hard floor, a creaking door, and its slam."""
    out = blank(8.0)
    for step in range(6):
        add(out, 0.3 + 0.56 * step + rng.uniform(-0.015, 0.015), footstep(rng), 0.5)
    add(out, 4.1, creak(rng, 1.8), 0.16)
    add(out, 6.3, slam(rng), 0.9)
    out = room(rng, out, 0.9, 0.4)
    marks = (Mark(0.3, "footsteps"), Mark(4.1, "door creaking"), Mark(6.3, "door slam"))
    return Take(fade(out + 0.001 * noise(rng, 8.0, 1), end=0.2), marks)


def starter(rng: Rng, seconds: float) -> Signal:
    """An electric starter that labours against each compression."""
    labour = 0.5 + 0.5 * np.sin(2 * np.pi * 5.6 * clock(seconds))
    whine = buzz(230 + 60 * (1 - labour), 0.9, 30)
    grind = band(noise(rng, seconds), 300, 3_000)
    return unit((unit(whine) + 0.7 * unit(grind)) * (0.35 + 0.65 * labour))


def engine(rng: Rng, rpm: Signal) -> Signal:
    """Four cylinders: strong firing orders, weak orders between them, and a rough breath."""
    seconds = rpm.size / RATE
    cycle = 2 * np.pi * np.cumsum(rpm / 120 * wander(rng, seconds, 18, 0.97, 1.03)) / RATE
    out = np.zeros_like(rpm)
    for order in range(1, 65):
        strength = (1.0 if order % 4 == 0 else 0.22) / (order / 4) ** 0.55
        out += strength * np.sin(order * cycle + rng.uniform(0, 2 * np.pi))
    breath = band(noise(rng, seconds, 0.5), 200, 4_000) * (0.6 + 0.4 * np.sin(4 * cycle))
    body = out + resonate(out, [Formant(95, 60, 1.5), Formant(210, 90, 1.2), Formant(520, 200)])
    return unit(body) + 0.22 * unit(breath)


RPM = (
    (1.75, 250.0),
    (2.1, 1_900.0),
    (3.0, 900.0),
    (5.4, 860.0),
    (7.0, 2_700.0),
    (7.25, 1_900.0),
    (10.0, 3_000.0),
)
LOUDNESS = ((1.7, 0.0), (1.9, 1.0), (2.6, 0.7), (5.4, 0.6), (6.6, 1.0), (8.5, 0.35), (10.0, 0.06))


def car(rng: Rng) -> Take:
    """A car is started, idles, and drives off."""
    seconds = 10.0
    rpm = curve(seconds, *RPM)
    shape = curve(seconds, *LOUDNESS)
    out = 0.5 * engine(rng, rpm) * shape
    tyres = curve(seconds, (5.6, 0), (7.0, 1), (8.5, 0.5), (10.0, 0.1))
    out += 0.12 * unit(band(noise(rng, seconds, 1), 300, 2_500)) * tyres
    out = sweep(out, curve(seconds, (0, 5_000), (6.5, 5_000), (10.0, 700)), 1.0, lowpass=True)
    add(out, 0.3, fade(starter(rng, 1.5), 0.03, 0.06), 0.25)
    marks = (
        Mark(0.3, "car starter"),
        Mark(1.8, "engine idling"),
        Mark(5.4, "car driving away"),
    )
    return Take(fade(out + 0.002 * noise(rng, seconds, 1), end=0.3), marks)


def bell(hz: float, tau: float, seconds: float) -> Signal:
    """A small steel gong."""
    partials = ((1.0, 1.0, 0.7), (2.31, 0.7, 1.0), (4.22, 0.45, 0.6), (6.5, 0.25, 0.3))
    modes = [Mode(hz * r, tau * t, g) for r, t, g in partials if hz * r < 0.45 * RATE]
    return strike(modes, seconds)


def hammered(rng: Rng, pitches: tuple[float, float], pace: float, seconds: float) -> Signal:
    """A clapper that beats two gongs in turn, and the ring that is left when it stops."""
    tail = 0.9
    out = blank(seconds + tail)
    for beat in range(int(seconds * pace)):
        gong = bell(pitches[beat % 2], 0.28, tail)
        at = beat / pace + rng.uniform(0, 0.002)
        add(out, at, gong, rng.uniform(0.85, 1.0))
        add(out, at, click(rng, 0.001, 3_000), 0.15)
    return out


def telephone(rng: Rng) -> Take:
    """An old telephone rings twice and is picked up in its second ring."""
    out = blank(7.0)
    ringing = hammered(rng, (980.0, 1_240.0), 22, 2.0)
    add(out, 0.3, ringing, 0.2)
    lifted = 5.35
    add(out, 4.1, hammered(rng, (980.0, 1_240.0), 22, 2.0), 0.2)
    held = samples(lifted)
    out[held:] *= np.exp(-np.arange(out.size - held) / samples(0.012))
    for at, gain in ((lifted, 1.0), (lifted + 0.07, 0.6), (lifted + 0.16, 0.35)):
        modes = [Mode(620, 0.009), Mode(1_450, 0.006, 0.8), Mode(2_700, 0.003, 0.6)]
        add(out, at, strike(modes, 0.08), 0.8 * gain)
        add(out, at, click(rng, 0.003, 1_200), 0.25 * gain)
    for at, length in ((5.9, 0.35), (6.35, 0.25)):
        rub = band(noise(rng, length), 500, 3_500) * np.sin(np.pi * clock(length) / length)
        add(out, at, rub, 0.02)
    out = room(rng, out, 0.5, 0.2)
    marks = (Mark(0.3, "telephone ringing"), Mark(lifted, "handset picked up"))
    return Take(fade(out + 0.0012 * noise(rng, 7.0, 1)), marks)


def clock_alarm(rng: Rng) -> Take:
    """A clock ticks, then its alarm bell goes off."""
    out = blank(8.0)
    for beat in range(19):
        bend = 1.0 if beat % 2 else 0.84
        modes = [
            Mode(3_100 * bend, 0.006),
            Mode(5_200 * bend, 0.004, 0.7),
            Mode(820 * bend, 0.012, 0.8),
        ]
        add(out, 0.25 + 0.4 * beat, strike(modes, 0.08), 0.32)
        add(out, 0.25 + 0.4 * beat, click(rng, 0.0015, 2_500), 0.12)
    add(out, 4.7, hammered(rng, (2_050.0, 2_330.0), 15, 2.6), 0.2)
    out = room(rng, out, 0.4, 0.15, 8_000)
    marks = (Mark(0.25, "clock ticking"), Mark(4.7, "alarm bell"))
    return Take(fade(out + 0.0012 * noise(rng, 8.0, 1), end=0.1), marks)


def heard_in_passing(source: Signal, seconds: float, speed: float, nearest: float) -> Signal:
    """What a bystander hears of a source that drives by: delay bends the pitch, distance fades."""
    t = clock(seconds)
    distance = np.hypot(5.0, speed * (t - nearest))
    emitted = t - distance / SPEED_OF_SOUND + 0.6
    heard = np.interp(emitted * RATE, np.arange(source.size), source, left=0.0, right=0.0)
    return heard * (6.0 / distance) ** 0.8


def siren(rng: Rng) -> Take:
    """A wailing emergency vehicle comes near, passes, and drives away."""
    seconds = 9.0
    source = seconds + 1.0
    t = clock(source)
    hz = 900 + 380 * np.sin(2 * np.pi * t / 2.2 - np.pi / 2)
    horn = resonate(buzz(hz, 0.9, 12), [Formant(1_100, 900), Formant(2_600, 1_200, 0.6)])
    rolling = 0.25 * engine(rng, np.full(t.size, 2_300.0))
    rolling += 0.3 * unit(band(noise(rng, source, 0.8), 200, 3_000))
    nearest = 4.6
    out = heard_in_passing(unit(horn), seconds, 17.0, nearest)
    out += 0.55 * heard_in_passing(rolling, seconds, 17.0, nearest)
    out = room(rng, out, 1.4, 0.3)
    out += 0.03 * low(noise(rng, seconds, 1.0), 1_500)
    marks = (Mark(0.0, "siren approaching"), Mark(nearest - 0.6, "vehicle passing"))
    return Take(fade(out, 0.2, 0.3), marks)


def passing_car(rng: Rng, seconds: float, nearest: float) -> Signal:
    """One ordinary car on a wet road."""
    road = unit(high(noise(rng, seconds + 1, 0.8), 250))
    return heard_in_passing(
        road + 0.4 * engine(rng, np.full(road.size, 2_000.0)), seconds, 15.0, nearest
    )
