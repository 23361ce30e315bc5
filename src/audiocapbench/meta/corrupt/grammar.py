"""The little grammar that captions need: verbs of sounds, determiners, joining words."""

from functools import cache
from typing import NamedTuple

DETERMINERS = frozenset("a an the some another one single each this that".split())
PRONOUNS = frozenset(
    """
    it its itself he him his himself she her hers herself they them their theirs themselves i we us
    you this that these those which who another other others again same one first second each both
    """.split()
)
PREPOSITIONS = frozenset(
    """
    in on at by of to into onto from over under near with through against across along around off
    inside outside behind between past down up upon toward towards during like
    """.split()
)
MARKS = frozenset(",.;")
JOINING = (
    frozenset("and while as with then before after followed but or when until".split()) | MARKS
)

_VERBS = """
accelerate applaud approach arrive babble bang bark beat become beep begin bellow blare bleat blow
boil bounce break breathe brush bubble bump burn burp buzz call caw chant chat chatter cheer chew
chime chirp chomp chop chuckle chug circle clack clang clank clap clatter click climb clink clip
close cluck come continue converse coo cook cough crack crackle crank crash creak crinkle croak
crow crumple crunch crush cry cut cycle decelerate dial dig ding drag drain drill drink drip drive
drop drum eat echo emit empty exhale explode fade fall fill fire fizz flap flip flow flush fly fry
gallop gasp get giggle go grab grind groan grow growl grunt gurgle gush hammer hiccup hiss hit honk
hoot howl hum idle inhale jingle jog kick knock land laugh leave lift lock make march meow mew moan
moo move mow munch murmur neigh oink open operate pant pass patter peck pick place play pluck pop
pound pour pull purr push put quack race rain rattle release resonate rev rewind ride ring rip roar
roll rub rumble run rush rustle saw scoop scrape scratch scream screech scrub search settle sew
shake sharpen shift shout shovel shriek shuffle shut sing sizzle skid slam slap slide slosh slow
snap sneeze sniff snip snore snort sob sort sound speak speed spill spin splash splatter spray
sprinkle squawk squeak squeal squeeze stamp start step stir stomp stop stream strike strum stutter
sweep swing swish take talk tap tear throw thud thump thunder tick ticktock tighten toll toot
travel trickle trim trot trudge tug turn tweet twitter type unlock unzip vibrate wail walk warble
wash wheeze whimper whine whinny whir whirl whisper whistle whizz whoosh wind wipe write yell yelp
zip
"""

_DOUBLING = frozenset(
    """
    beg begin chat chop chug clap clip cut dig drag drip drop drum flap flip get grin hit hop
    hum jog pat plod pop put rap rev rip rub run scrub shut skid slam slap snap snip spin stir
    stop strum swim tap tip trim trot tug unzip zip whir
    """.split()
)


class VerbForm(NamedTuple):
    """A form of a verb.

    Attributes:
        base: As after "they": "bark".
        third: As after "it": "barks".
        gerund: As after "a dog": "barking".
        form: Which of the three it is.
    """

    base: str
    third: str
    gerund: str
    form: str


def third_of(base: str) -> str:
    """ "barks" of "bark"."""
    if base.endswith(("s", "x", "z", "ch", "sh", "o")) and base not in ("moo", "coo"):
        return f"{base}es"
    if base.endswith("y") and base[-2] not in "aeiou":
        return f"{base[:-1]}ies"
    return f"{base}s"


def gerund_of(base: str) -> str:
    """ "barking" of "bark"."""
    if base.endswith("e") and not base.endswith(("ee", "oe", "ye")):
        return f"{base[:-1]}ing"
    if base in _DOUBLING:
        return f"{base}{base[-1]}ing"
    return f"{base}ing"


@cache
def verb_forms() -> dict[str, VerbForm]:
    """Forms of all listed verbs, and of "to be", by the form."""
    found: dict[str, VerbForm] = {}
    for base in _VERBS.split():
        third, gerund = third_of(base), gerund_of(base)
        found[third] = VerbForm(base, third, gerund, "third")
        found[gerund] = VerbForm(base, third, gerund, "gerund")
        found[base] = VerbForm(base, third, gerund, "base")
    for one, many in (("is", "are"), ("was", "were"), ("has", "have")):
        found[one] = VerbForm(many, one, "", "third")
        found[many] = VerbForm(many, one, "", "base")
    return found
