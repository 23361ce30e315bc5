"""Which words of captions mean the same, are akin, or exclude each other; written by hand.

General word vectors and WordNet know little about sounds ("clank", "revving", "baaing"); these
lists say what a listener would accept. Words stand for all of their inflections.
"""

from functools import cache
from typing import NamedTuple

from audiocapbench.metrics.porter import stem

# One meaning a line: a listener takes any of these words for any other.
_SAME = """
speak talk say speech conversation converse communicate discuss dialogue chat tell spoken voice
speak speaker
man men male guy gentleman boyish
woman women female lady girlish
person people human individual
child children kid toddler
baby infant
boy boys
girl girls
crowd audience
laugh laughter giggle chuckle
cry weep sob wail
shout yell holler
scream shriek
sing singing singer vocalist vocals vocalizing vocal sung
car automobile
motorcycle motorbike
airplane plane aircraft jet
boat motorboat speedboat ship
train locomotive railway railroad
engine motor
rev revving accelerate accelerating accelerates speeding
idle idling
beep bleep blip beeping
horn honk toot honking
siren sirens
chirp tweet chirrup twitter warble
bird birds
pigeon dove
coo cooing
dog puppy hound
bark barking yip yap woof
growl snarl
cat kitten
meow mew caterwaul
sheep lamb
bleat baa baaing
insect bug
bee wasp
clop gallop trot hoof hooves
horse pony
pig hog
oink snort
rooster cockerel
chicken hen
hit strike
hum humming drone droning
buzz buzzing
click clack clicking clacking
clank clang clanking clink clatter clattering clinking
bang slam
thump thud
tap tapping knock knocking
rattle rattling
rustle rustling crinkle crinkling crumple crumpling
scrape scraping scrapping scratch scratching
squeak squeaking creak creaking
squeal squealing screech screeching
explosion explode blast burst boom
gunshot gunfire shot shooting
applause applaud clap clapping
cheer cheering
footstep footsteps footfall walk walking step steps
water liquid
splash splashing
pour pouring
trickle trickling dribble
flow flowing stream
spray spraying
hiss hissing
sizzle sizzling fry frying
rain raining rainfall
thunder thunderclap
wind breeze gust windy
wave waves surf
ocean sea
tick ticktock ticking
phone telephone
computer keyboard typing type typewriter
door gate
camera shutter
ring ringing chime chiming
bell bells
whistle whistling
snore snoring
breathe breathing breath pant
burp belch
music song tune
melody melodic
drum drums drumming percussion percussive
synth synthesizer synthesiser synthesised synthesized
beat rhythm groove
fast quick rapid quickly rapidly
slow slowly
loud loudly louder
quiet soft softly quietly gentle gently
faint faintly
distant distance far distantly
near nearby closer
constant continuous ongoing steady steadily sustained consistent
repeated repeatedly repetitive repeating
old elderly older
echo echoing reverb reverberate
small little tiny
large big huge
happy cheerful joyful joy upbeat playful joyous happiness overjoyed cheerfully happily
sad sorrowful melancholic melancholy mournful somber sombre sadness sorrow
calm peaceful relaxed relaxing soothing serene tranquil calming calmly calmness tranquility serenity
angry anger furious aggressive irritated annoyed
excited excitement exciting thrilled enthusiastic energetic lively animated enthusiasm
solemn serious majestic
several multiple many few numerous group series
two twice couple pair 2
one once single 1
three thrice trio 3
four 4
five 5
six 6
seven 7
eight 8
nine 9
ten 10
silence silent
vehicle automotive
toilet lavatory
flush flushing
faucet sink
radio television broadcast
microphone mic
machine machinery
tool tools
whoosh swoosh whooshing
vibrate vibration vibrating
fade fading fades
whisper whispering whispered
growing increasing
announce announcement
answer reply replies respond
robotic synthetic computerised computerized automated artificial
clear clearly
"""

# Akin: naming one where the other is meant is half right.
_AKIN = """
man person crowd
woman person
child person baby boy girl
boy man person
girl woman person
crowd person group
speak shout whisper scream murmur mumble announce ask answer narrate sing rap read explain yell
speak announce ask answer question explain exclaim mutter preach lecture
shout scream cheer
cry scream whimper whine
laugh cheer
car vehicle truck bus motorcycle traffic van
vehicle truck bus motorcycle train boat airplane helicopter traffic ambulance
car engine
vehicle engine rev idle drive
motorcycle engine rev
truck engine
boat engine
airplane engine helicopter propeller
engine machine hum rumble rev idle run vibrate
rev drive race skid
drive pass race
train track railroad horn
siren ambulance police emergency alarm
alarm bell ring siren beep clock
horn beep siren
phone ring
bell ring clang
bird chirp squawk coo crow seagull pigeon duck goose owl
duck quack
rooster crow
chicken cluck
pigeon coo
dog bark growl whimper howl
cat meow purr
sheep goat bleat
pig oink
horse clop neigh
cow moo
frog croak
insect buzz bee cricket mosquito
bee buzz
animal dog cat bird horse sheep goat pig cow
hum buzz whir vibrate rumble
click tap tick snap
clank rattle click tap bang
bang thump tap slap crash
thump tap slap stomp
rustle scrape shuffle
scrape rub saw sand file
squeak squeal scrape
hiss spray steam static sizzle
explosion gunshot thunder fireworks bang crash
gunshot gun fire
applause crowd cheer
footstep shuffle run stomp
water rain splash pour trickle flow drip stream gurgle wave river faucet
splash pour trickle flow drip gurgle wave rain
rain thunder storm
wind blow storm whoosh
wind microphone
ocean wave water
crackle pop sizzle fire rustle
cook sizzle food pan oil
tick clock
door slam open close creak
machine tool drill saw mechanical motor sew
tool drill saw power grind sand hammer
sew stitch
snore breathe
music guitar piano drum synth melody beat band orchestra violin organ flute instrument instrumental
guitar strum pluck string
piano keyboard
synth electronic
drum beat cymbal kick snare clap
sing music choir
quiet faint low
quiet calm
faint distant background
loud heavy strong
deep low
fast excited
several two three four five
small faint
heavy hard
constant repeated
child young
man deep
woman high
silence quiet
static hiss noise
vacuum machine hum
flush toilet water
type click
"""

# Sides that exclude each other: to name one where only the other is meant is no match at all.
_AGAINST = """
man male | woman female
boy | girl
man woman | baby child
loud | quiet faint
fast | slow
high high-pitched | low deep low-pitched
major | minor
happy excited | sad
calm | angry excited tense
distant | near
indoors indoor inside | outdoors outdoor outside
young child | old
one | two | three | four | five | six | seven | eight | nine | ten
constant | intermittent
open | close shut
dog | cat | horse | sheep | pig | cow
"""


# Words that share a stem with others of quite another meaning: play, animal, live, power.
_MISLEADING = {
    "playful": "playful",
    "playfully": "playful",
    "animated": "animated",
    "lively": "lively",
    "powerful": "powerful",
    "powerfully": "powerful",
}


class Meanings(NamedTuple):
    """Look-ups from a word's stem.

    Attributes:
        same: The stem that stands for all words of its meaning.
        akin: The groups of kin that a meaning belongs to.
        sides: For a meaning, the sides that it takes: (line of exclusions, side).
    """

    same: dict[str, str]
    akin: dict[str, frozenset[int]]
    sides: dict[str, tuple[tuple[int, int], ...]]


@cache
def meanings() -> Meanings:
    """The lists above, ready for use."""
    same: dict[str, str] = {}
    for line in _SAME.strip().splitlines():
        stems = [_root(word) for word in line.split()]
        for one in stems:
            same.setdefault(one, same.get(stems[0], stems[0]))
    akin: dict[str, set[int]] = {}
    for number, line in enumerate(_AKIN.strip().splitlines()):
        for word in line.split():
            own = _root(word)
            akin.setdefault(same.get(own, own), set()).add(number)
    sides: dict[str, list[tuple[int, int]]] = {}
    for number, line in enumerate(_AGAINST.strip().splitlines()):
        for side, words in enumerate(line.split("|")):
            for word in words.split():
                own = _root(word)
                place = (number, side)
                taken = sides.setdefault(same.get(own, own), [])
                if place not in taken:
                    taken.append(place)
    return Meanings(
        same,
        {meaning: frozenset(groups) for meaning, groups in akin.items()},
        {meaning: tuple(taken) for meaning, taken in sides.items()},
    )


def _root(word: str) -> str:
    return _MISLEADING.get(word) or stem(word)


def meaning_of(word: str) -> str:
    """The stem that stands for a word and all that mean the same."""
    own = _root(word)
    return meanings().same.get(own, own)
