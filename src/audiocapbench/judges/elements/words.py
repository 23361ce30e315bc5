"""What single words do in a caption: which carry content, of which kind, and which steer reading.

Lists of plain words; which words mean the same is said in ``thesaurus.py``.
"""

from enum import IntEnum
from functools import cache, lru_cache

from audiocapbench.metrics.porter import stem


class Kind(IntEnum):
    """The kinds of content elements that are words."""

    SOURCE = 0
    EVENT = 1
    ATTRIBUTE = 2
    MOOD = 3
    COUNT = 4
    VAGUE = 5
    QUOTED = 6


# Nothing that can be heard hangs on these, wherever they stand.
STOP = frozenset(
    """
    a an the this that these those it its it's itself he she they them their theirs his her hers him
    i you we us our my your me one's who whom whose which what where when why how there here is are
    was were be been being am do does did doing done has have had having can could may might must
    shall should will would of to in on at by for from with into onto upon over under above below
    between among amid amidst through across against along alongside around within out up down off
    about like as per via and or nor but so if than too very quite rather somewhat really just only
    also even still such some any each every all both either other others another own same more most
    less least much lot lots bit kind sort type way manner rate time times while during whilst until
    till since because although though however thus hence yet already ever well right away together
    heard hear hears hearing audible occur occurs occurring occurred happen happens happening
    happened go goes going gone went get gets getting got come comes coming came take takes taking
    took make makes making made give gives giving gave let lets use uses used using seem seems
    seemed appear appears appearing feature features featuring featured contain contains containing
    consist consists include includes including present exist exists describe describes start starts
    starting started begin begins beginning began continue continues continuing continued stop stops
    stopping stopped end ends ending ended keep keeps keeping accompanied accompany accompanies
    accompanying combined mixed plus etc e.g i.e s t re ve ll d m first second third last part parts
    side sides whether again
    towards toward back forth top bottom middle
    """.split()
)

# True of nearly any clip: naming one of these alone says little, and is never an invention.
VAGUE = frozenset(
    """
    sound sounds sounding sounded noise noises audio recording recordings record recorded clip clips
    something someone somebody thing things object objects item items stuff piece excerpt track
    segment scene environment ambiance ambience ambient setting surroundings space area place effect
    effects activity action element elements presence atmosphere operate operates operating operated
    work works working move moves moving moved motion trigger triggers triggered perform performs
    performing performed produce produces producing produced emit emits emitting emitted resonate
    resonates resonating mood feel feeling vibe tempo key style tone
    """.split()
)

ATTRIBUTES = frozenset(
    """
    loud loudly louder loudest quiet quietly quieter soft softly softer faint faintly muffled muffle
    low lower high higher deep deeper shrill pitch pitched mid medium mid-tempo fast faster quick
    quickly rapid rapidly slow slowly slower steady steadily constant constantly continuous
    continuously continual ongoing sustained repeated repeatedly repetitive intermittent
    intermittently occasional occasionally brief briefly short long prolonged sudden suddenly abrupt
    gradual gradually rhythmic rhythmically distant distance distantly far near nearby close closer
    background foreground indoors outdoors inside outside indoor outdoor large big huge small little
    tiny heavy heavily light lightly strong strongly weak sharp dull clear clearly noisy distorted
    distortion clean smooth smoothly rough harsh gritty bright dark warm cold dry wet metallic
    wooden hollow hard electronic electric acoustic digital analog synthetic synthesized
    computerised computerized robotic automated live old young elderly older adult mature
    middle-aged british american scottish irish accent accented solo instrumental vocal
    major minor echo echoing echoes reverb reverberant reverberating high-pitched low-pitched
    monotone monotonous flat breathy raspy hoarse nasal husky whispered increasing decreasing fading
    fades fade increases approaching approaches receding various different mixed simple complex full
    thin busy sparse gentle gently forceful vigorous powerful intense intensely mild mildly slight
    slightly moderate subtle prominent consistent consistently irregular uneven crisp natural
    mechanical almost nearly barely hardly complete entire whole total
    """.split()
)

MOODS = frozenset(
    """
    happy happily happiness cheerful cheerfully joyful joy joyous upbeat uplifting playful fun funny
    sad sadly sadness sorrow sorrowful melancholic melancholy mournful somber sombre gloomy lonely
    calm calmly calming calmness peaceful peace relaxed relaxing relaxation soothing serene serenity
    tranquil tranquility dreamy angry angrily anger furious irritated irritation aggressive annoyed
    excited excitedly excitement exciting thrilled overjoyed enthusiastic enthusiasm energetic
    lively animated tense tension suspenseful scary eerie ominous sinister fearful
    fear afraid anxious anxiety nervous worried distress distressed pain romantic passionate passion
    nostalgic nostalgia solemn serious majestic epic dramatic heroic hopeful hope emotional emotion
    sentimental tender loving affection neutral bored boredom confused confusion surprised surprise
    proud pride disgust contempt disappointed disappointment amused amusement interest interested
    determined determination confident confidence polite formal friendly warmhearted mysterious
    hypnotic groovy funky laid-back easygoing mellow pleasant atmospheric
    contemplative contemplation thoughtful reflective curious curiosity submissive dominant
    religious sweet innocent satisfaction satisfied contentment content admiration relief awe doubt
    """.split()
)

COUNTS = frozenset(
    """
    one two three four five six seven eight nine ten once twice thrice several multiple many few
    couple pair numerous single group series duo trio
    """.split()
)

NEGATORS = frozenset(
    "no not without never none neither nor nobody lacks lack lacking absent".split()
)
# "cannot", "isn't": the tokens that end so negate what follows.
NEGATED_ENDING = ("n't", "n’t", "cannot")

# A caption that ends on one of these was cut off: it starts a claim and never says which.
UNFINISHED = frozenset(
    """
    a an the and or but with while as of for from into then is are being another some their its very
    """.split()
)

# Sounds and doings that are not told by their ending.
_EVENTS = tuple(
    """
    speak talk say speech conversation dialogue whisper shout yell scream cry laugh laughter giggle
    chuckle sing song sneeze cough snore breathe breath burp belch hiccup sniff groan moan sigh
    whistle hum bark growl howl whimper meow purr hiss moo neigh oink bleat baa quack cluck crow
    chirp tweet squawk coo caw croak buzz roar rain thunder wind storm splash drip pour flow trickle
    gurgle spray sizzle fry crackle explosion explode blast boom bang thud thump knock tap click
    clack clank clang clink clatter rattle rustle crinkle crumple scrape scratch rub squeak squeal
    creak screech crash crunch crack pop snap slam slap ring chime beep honk toot siren alarm tick
    ticktock typing rev idle accelerate pass drive run vibrate vibration rumble whir whoosh hammer
    drill saw sand cut applause clap cheer footstep walk step gallop trot clop flap gunshot gunfire
    shot shoot fire music play beat rhythm melody harmony static hissing open close shut skid flush
    vacuum chew eat bite drink gulp swallow blow gust ripple
    """.split()
)
_ATTRIBUTE_ENDINGS = ("ly", "able", "ible", "ous", "less", "ful", "ish")
_EVENT_ENDINGS = ("ing", "ed", "ings")
_WORDS_KEPT = 100_000
_NOT_EVENTS = frozenset(
    """
    thing king ring wing string spring morning evening building ceiling clothing railing wedding
    bed seed weed speed reed
    """.split()
)


@cache
def event_stems() -> frozenset[str]:
    """Stems of the listed sounds and doings."""
    return frozenset(stem(word) for word in _EVENTS)


@lru_cache(maxsize=_WORDS_KEPT)
def stem_of(word: str) -> str:
    """A word's stem by Porter's rules."""
    return stem(word)


def is_event(word: str) -> bool:
    """Whether a content word names what happens rather than what makes it happen."""
    if word in _NOT_EVENTS:
        return False
    return word.endswith(_EVENT_ENDINGS) or stem(word) in event_stems()


@lru_cache(maxsize=_WORDS_KEPT)
def kind_of(word: str) -> Kind | None:
    """The kind of element that a lower-case word is, or None where it carries no content."""
    if word in STOP or (len(word) < 2 and word.isascii() and not word.isdecimal()):
        return None
    if word in VAGUE:
        return Kind.VAGUE
    if word in COUNTS or word.isdecimal():
        return Kind.COUNT
    if word in MOODS:
        return Kind.MOOD
    if word in ATTRIBUTES or (len(word) > 6 and word.endswith(_ATTRIBUTE_ENDINGS)):
        return Kind.ATTRIBUTE
    return Kind.EVENT if is_event(word) else Kind.SOURCE
