"""Words that claim something audible in a silent clip, and words that take a claim back.

Hiss, hum, static and other faults of a recording are no claims: silence is often noisy.
"""

import re
from functools import cache

SPEECH = """
speech speeches speak speaks speaking spoke spoken speaker speakers talk talks talking talked voice
voices voiced vocal vocals vocalization vocalizations vocalisation vocalisations vocalizing verbal
utter utters uttering uttered utterance utterances say says saying said dialog dialogue dialogues
conversation conversations conversing narration narrator narrates narrating whisper whispers
whispering whispered shout shouts shouting shouted scream screams screaming yell yells yelling
murmur murmurs murmuring mumble mumbles mumbling chatter chattering monologue lecture announcer
announcement announces announcing commentary discuss discusses discussing discussion word words
recites reciting chanting
"""

MUSIC = """
music musical musically melody melodies melodic song songs tune tunes sing sings singing sang singer
singers instrument instruments instrumental instrumentation guitar guitars guitarist piano pianist
violin violins cello flute trumpet saxophone drum drums drumming drumbeat drummer percussion
percussive snare cymbal cymbals synth synths synthesizer orchestra orchestral choir choral chord
chords soundtrack lullaby ballad techno jazz rap rapper hip-hop hymn symphony banjo ukulele harp
organist accordion harmonica bassline basslines synthesizers marimba xylophone strings keyboardist
symphonic composition compositions arrangement remix chorus verse groove beats drumsticks
orchestration turntable dj edm dubstep reggae folk-song tambourine clarinet violinist crescendo
riff riffs
"""

SOUND = """
dog dogs bark barks barking cat cats meow meows meowing purring bird birds chirp chirps chirping
tweeting insect insects cricket crickets frog frogs rooster horse horses sheep cow cows animal
animals growl growls growling howl howls howling engine engines motor motors car cars vehicle
vehicles truck motorcycle traffic helicopter helicopters airplane airplanes aircraft plane train
trains siren sirens alarm alarms horn horns honking bell bells beep beeps beeping ringing ringtone
door doors footstep footsteps walking knock knocks knocking tapping banging thud thuds thump thumps
crash crashes crashing clatter clattering rattle rattles rattling rustle rustles rustling squeak
squeaks squeaking creak creaks creaking splash splashes splashing drip drips dripping water
waterfall rain raining rainfall thunder thunderstorm wind storm ocean gunshot gunshots gunfire
explosion explosions applause clap claps clapping cheer cheers cheering laugh laughs laughing
laughter cough coughs coughing sneeze sneezes sneezing snore snores snoring sniffing breathing
breath breaths crying cries whimper sobbing machine machines machinery keyboard typing typewriter
printer vacuum drill drilling saw sawing hammer hammering whistle whistles whistling clock ticking
roar roars roaring whir whirring whoosh whooshing rumble rumbles rumbling scrape scraping scratching
footfalls crowd audience fire fireworks frying sizzling dishes cutlery toilet flushing chainsaw
chainsaws mower lawnmower blender clank clanks clanking clang clangs clanging clink clinking clunk
clunking automotive automobile bus tractor boat ship bicycle skateboard grinding grinder welding
sanding digging chopping cooking boiling bubbling pouring gurgling trickling stirring chewing eating
drinking slurping gulping trotting galloping hooves hoofbeats neighing mooing bleating clucking
quacking cawing hooting squawking croaking buzzer doorbell telephone phone camera shutter zipper
paper crinkling crumpling scissors cutting ripping tearing hitting striking impact impacts slam
slams slamming screech screeching skidding revving accelerating idling propeller turbine jet rocket
gunfire shots bouncing ball dribbling rolling dragging sweeping brushing scrubbing shower faucet
sink river waves birdsong dripping baby child children crying giggling chuckling sighing groaning
burping hiccup footwork marching vibrating jackhammer sewing washing microwave refrigerator
conditioner ventilation
"""

# Together they claim an event; alone "sound" says nothing.
PHRASES = (
    r"sound (?:events?|effects?)",
    r"(?:environmental|natural|everyday|mechanical|animal) sounds?",
    r"sounds? of (?!silen|noise|static|hiss|the recording|an? (?:silent|quiet|empty))",
    r"(?:(?:electronic|pure|sine|test|steady|sustained|single|continuous|constant|pulsing)[ -]"
    r"|(?:low|high)-pitched )+(?:tones?|pitch)",
)

# Deny what follows in the clause.
NEGATORS = frozenset(
    """
    no not never neither nor without cannot none nobody nothing nowhere zero any lack lacks lacked
    lacking absence devoid void free fails failing failed unable hardly barely excluding exclude
    excludes prevents preventing precludes precluding silence-only
    """.split()
)
NEGATED_ENDINGS = ("n't", "n’t")
NEGATING_PREFIXES = ("non-", "non")

# Deny what they stand beside: what follows if it is near, else what stands before.
ADJECTIVES = frozenset(
    """
    absent undetected undetectable inaudible nonexistent non-existent missing unavailable
    unidentifiable unidentified imperceptible undiscernible indiscernible indistinguishable
    unrecognizable unintelligible unmeasurable inactive null nil none lacking
    """.split()
)

# After "not", these say that what stands before is not there.
THERE = frozenset(
    """
    present audible detected heard evident identified discernible found included available
    noticeable detectable recognized recognised perceptible apparent there exist occur identifiable
    observed perceived registered featured contained recorded
    """.split()
)

# After these, a denial no longer holds.
BREAKS = frozenset(
    """
    but however except only just yet although though while whereas despite instead with followed
    then besides accompanied plus alongside amid amidst over beneath rather otherwise
    """.split()
)

# After a comma or "and", these begin something new.
STARTERS = frozenset(
    """
    a an the some someone somebody something there it its he she they this that these those we you
    i one two three several multiple many man woman male female people person faint distant soft
    loud followed giving
    """.split()
)

# "Speech recognition" is no speech.
ABOUT = frozenset(
    """
    recognition processing detection detector detectors analysis analyzer synthesis intelligibility
    metrics metric enhancement classification classifications classifier domain domains model models
    codec assessment measurement measurements evaluation transcription frequency frequencies band
    bands learning
    """.split()
)
BETWEEN = frozenset("activity quality instrument event".split())
"""May stand between the two, as in "voice activity detection"."""

LOUDSPEAKER = frozenset("hum noise static system systems playback crackle buzz hiss".split())

NOT_ONLY = re.compile(r"\b(?:not (?:only|just|merely)|nothing but|no doubt|none other than)\b")


@cache
def kinds() -> dict[str, str]:
    """What each single word claims."""
    return {
        word: kind
        for kind, words in (("speech", SPEECH), ("music", MUSIC), ("sound", SOUND))
        for word in words.split()
    }
