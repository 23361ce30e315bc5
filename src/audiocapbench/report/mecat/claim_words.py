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
recites reciting chanting chant chants chat chats chatting chatted gossip gossiping argue argues
arguing argument greet greets greeting exclaims exclaiming exclamation exclamations mutter mutters
muttering babble babbles babbling preaches preaching preacher sermon interview interviewer presenter
reporter newsreader commentator storyteller storytelling
"""

MUSIC = """
music musical musically melody melodies melodic song songs tune tunes sing sings singing sang singer
singers instrument instruments instrumental instrumentation guitar guitars guitarist piano pianist
violin violins cello flute trumpet saxophone drum drums drumming drumbeat drummer percussion
percussive snare cymbal cymbals synth synths synthesizer orchestra orchestral choir choral chord
chords soundtrack lullaby ballad techno jazz rap rapper hip-hop hymn symphony banjo ukulele harp
organist accordion harmonica bassline basslines synthesizers marimba xylophone strings keyboardist
symphonic composition compositions arrangement remix chorus verse groove beats drumsticks
orchestration turntable dj edm dubstep reggae folk-song tambourine clarinet violinist crescendo riff
riffs opera concert karaoke vocalist lyrics bagpipe bagpipes sitar oboe tuba trombone mandolin
serenade jingle polka waltz arpeggio arpeggios
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
shots bouncing ball dribbling rolling dragging sweeping brushing scrubbing shower faucet sink river
waves birdsong baby child children giggling chuckling sighing groaning burping hiccup footwork
marching vibrating jackhammer sewing washing microwave refrigerator conditioner ventilation gun guns
pistol rifle shotgun weapon weapons weaponry gunfight firing fired blast blasts detonation
detonations detonates explosive explode explodes exploding pyrotechnic pyrotechnics firecracker
firecrackers toddler toddlers infant infants kid kids giggle giggles giggled chuckle chuckles
chuckled sigh sighs sighed groan groans sob sobs burp burps fart farts flatulence heartbeat
heartbeats handclap handclaps footfall tread walk walks runner jogging avian poultry waterfowl duck
ducks goose geese chicken chickens hen hens pig pigs goat goats lion wolf wolves owl crow crows
pigeon pigeons bee bees mosquito flies snake mouse rodent canine feline livestock vehicular
motorbike motorized motorised bike lorry van tram subway ferry yacht locomotive railway aeroplane
drone aviation gravel crunch crunches crunching mastication dryer hairdryer kettle stove oven
dishwasher combustion lathe sawmill sander shaver razor trimmer clippers ticks tick-tock clockwork
timekeeping timepiece telephony dialing dialling chime chimes chiming gong smash smashes smashing
shatter shatters shattering glass collision collisions slap slaps slapping swish swishing swoosh
thunderclap downpour drizzle splatter spray spraying surf tide breeze gust gusts lightning hail
stomp stomps stomping gallop gallops yelp yelps yelping whine whinny whines snort snorts snorting
oink oinking purr purrs caw croak croaks chirrup warble warbling twitter twittering coo cooing quack
quacks cluck clucks bleat bleats moo moos gasp gasps panting yawn yawns
"""

# Together they claim an event; alone "sound" says nothing.
PHRASES = (
    r"sound (?:events?|effects?)",
    r"(?:environmental|natural|everyday|mechanical|animal) sounds?",
    r"sounds? of (?!silen|noise|static|hiss|the recording|an? (?:silent|quiet|empty))",
    r"(?:(?:electronic|pure|sine|test|steady|sustained|single|continuous|constant|pulsing)[ -]"
    r"|(?:low|high)-pitched )+(?:tones?|pitch)",
)

SPEECH_PHRASES = (
    r"(?:tells?|telling|told)(?: \w+){0,3} (?:stor(?:y|ies)|jokes?|tales?|anecdotes?|news)",
    r"(?:tells|telling|told) (?:him|her|them|someone|somebody|people|an? \w+|the \w+) (?:to|about)",
    r"read(?:s|ing)? (?:aloud|out)",
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
    i one two three several multiple many followed giving
    """.split()
)
# These as well, unless a list goes on to ", or".
BARE_STARTERS = frozenset("man woman male female people person faint distant soft loud".split())

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

NOT_ONLY = re.compile(
    r"\b(?:not (?:only|just|merely)|nothing but|none other than"
    r"|(?:no|without|beyond)(?: an?y?)? (?:doubt|question))\b"
)

# After a comma, these go on with a sentence that a denial had interrupted.
AUXILIARIES = frozenset("is are was were has have had can could will may".split())

# "No speech, music or birds" is one list; these words hold it together.
LIST_WORDS = frozenset("or nor".split())


@cache
def kinds() -> dict[str, str]:
    """What each single word claims."""
    return {
        word: kind
        for kind, words in (("speech", SPEECH), ("music", MUSIC), ("sound", SOUND))
        for word in words.split()
    }
