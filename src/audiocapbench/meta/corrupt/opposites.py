"""Qualities and relations that exclude each other: what ``attribute_change`` exchanges.

A line is ``axis frame: one side | the other``; an underscore joins the words of a phrase. All lines
of an axis are about the same thing in different parts of speech. The frame says which surroundings
two phrases must share: the ``next`` word of content, the ``last`` one, or none (``free``).
"""

from functools import cache
from typing import NamedTuple

from audiocapbench.meta.corrupt.text import Tokens

_LINES = """
loudness free: loud | quiet
loudness free: loudly | quietly softly
loudness free: louder | quieter softer
speed free: fast rapid | slow
speed free: quickly rapidly | slowly
speed free: faster | slower
speed free: speeds_up | slows_down
speed free: speeding_up | slowing_down
speed free: accelerates | slows_down
speed free: accelerating | slowing_down
size next: large big | small
weight next: heavy strong | light gentle
weight last: heavily strongly | lightly gently
pitch next: high | low
pitch free: high-pitched | low-pitched
distance next: distant | nearby
distance free: in_the_distance | nearby
distance free: in_the_background | in_the_foreground
room free: indoors | outdoors
room last: inside | outside
age next: young | old elderly
opening last: opens | closes
opening last: opening | closing
opening last: opened | closed shut
opening last: is_opened | is_closed
steadiness free: continuous constant steady | intermittent occasional
steadiness free: continuously constantly steadily | intermittently occasionally
growth free: increasing | decreasing
running last: starts | stops
running last: starting | stopping
matter next: wooden | metal metallic
tone next: deep | shrill
"""

# More words that, in a reference, take the same side as a phrase above.
_ALSO = """
loudness: noisy loud loudly louder blaring | quiet soft faint faintly muffled gently quietly
 softly quieter softer
speed: quick quickly fast faster hurried rushing revving speeding speeds accelerates accelerating
 rapid rapidly | slow slowly slower slowing slows
size: huge big large | little tiny small
weight: hard heavy heavily strong | soft light lightly gentle drizzle
pitch: high shrill higher high-pitched | low deep lower bass low-pitched
distance: far distant distance background | near close nearby foreground closer
room: inside indoors indoor room | outside outdoors outdoor birds wind street
age: young child | old older elderly
opening: open opens opening opened | close closes closing closed shut shuts shutting slam slams
steadiness: continuous continuously constant constantly steady steadily ongoing | intermittent
 occasional occasionally intermittently sporadic
growth: increasing increases louder faster growing | decreasing decreases fading softer slower
running: start starts starting started begins | stop stops stopping stopped ends
matter: wood wooden | metal metallic steel iron tin
tone: deep low | shrill high
"""


class Quality(NamedTuple):
    """A phrase, the axis and side that it takes, and what it can be exchanged with.

    Attributes:
        phrase: Its words.
        line: Number of its line; only phrases of one line are exchanged.
        side: 0 or 1.
        frame: ``next``, ``last`` or ``free``.
        same_side: Words that take its side of the axis.
    """

    phrase: Tokens
    line: int
    side: int
    frame: str
    same_side: frozenset[str]


@cache
def qualities() -> dict[str, list[Quality]]:
    """All phrases by their first word, the longest first."""
    also = _also()
    found: dict[str, list[Quality]] = {}
    for number, line in enumerate(_LINES.strip().splitlines()):
        head, _, sides = line.partition(":")
        axis, frame = head.split()
        for side, words in enumerate(sides.split("|")):
            for word in words.split():
                phrase = tuple(word.split("_"))
                quality = Quality(phrase, number, side, frame, also[axis][side])
                found.setdefault(phrase[0], []).append(quality)
    for known in found.values():
        known.sort(key=lambda quality: -len(quality.phrase))
    return found


@cache
def _also() -> dict[str, tuple[frozenset[str], frozenset[str]]]:
    found = {}
    for line in _ALSO.replace("\n ", " ").strip().splitlines():
        axis, _, sides = line.partition(":")
        one, other = (frozenset(words.split()) for words in sides.split("|"))
        found[axis] = (one, other)
    return found
