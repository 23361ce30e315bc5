"""Speech over music or weather, and silence: clips of several kinds at once, or of none."""

from demo_clips.dsp import RATE, Rng, add, blank, curve, fade, noise, room, unit
from demo_clips.music import cafe_guitar
from demo_clips.nature import rain
from demo_clips.objects import passing_car
from demo_clips.speech import Line, spoken
from demo_clips.take import Mark, Take

WELCOME = Line(
    "Welcome to the morning show. Coming up next, the weather and three new songs.",
    voice="en-us+f3",
    pace=155,
    pitch=55,
)
DOWNPOUR = Line(
    "Sorry, I can hardly hear you. It is pouring with rain out here.",
    voice="en+m4",
    pace=150,
    pitch=45,
)


def speech_over_music(rng: Rng) -> Take:
    """A guitar plays, and a woman talks over it while it is turned down."""
    voice = spoken(WELCOME)
    start = 2.2
    stop = start + voice.size / RATE
    seconds = stop + 1.5
    ducked = curve(seconds, (start - 0.4, 1), (start, 0.4), (stop, 0.4), (stop + 0.5, 0.9))
    out = 0.9 * cafe_guitar(rng, seconds) * ducked
    said = blank(seconds)
    add(said, start, voice, 1.0)
    out += room(rng, said, 0.25, 0.06)
    marks = (Mark(0.0, "guitar music"), Mark(start, "female speech"))
    return Take(fade(out, 0.0005, 0.8), marks, {"transcript": WELCOME.words})


def speech_in_rain(rng: Rng) -> Take:
    """Rain; a man talks; a car passes on the wet road behind him."""
    voice = spoken(DOWNPOUR)
    start = 1.2
    stop = start + voice.size / RATE
    seconds = stop + 2.6
    out = 0.3 * unit(rain(rng, seconds, 700.0))
    passing = stop + 1.0
    out += 0.55 * unit(passing_car(rng, seconds, passing))
    said = blank(seconds)
    add(said, start, voice, 1.0)
    out += room(rng, said, 0.3, 0.06)
    marks = (
        Mark(0.0, "rain"),
        Mark(start, "male speech"),
        Mark(round(stop, 2), "car passing"),
    )
    return Take(fade(out, 0.05, 0.3), marks, {"transcript": DOWNPOUR.words})


def digital_silence(_rng: Rng) -> Take:
    """Nothing: every sample is zero."""
    return Take(blank(5.0), (Mark(0.0, "silence"),))


def noise_floor(rng: Rng) -> Take:
    """Next to nothing: the hiss of an idle recorder."""
    return Take(fade(noise(rng, 6.0, 0.5), 0.2, 0.2), (Mark(0.0, "faint hiss"),))
