"""Nouns of captions by what they sound like: which may stand for which, and which never.

A line is ``sort family: words``. Words of one family sound alike, and families that a line of
``_NEAR`` names together are too close for a listener to call one of them wrong. A noun may be
exchanged for one of the same sort and of another, not near, family. ``one/many`` is a noun that is
counted; a word alone is not counted.
"""

from functools import cache
from typing import NamedTuple

_NOUNS = """
person man: man/men guy/guys gentleman/gentlemen
person woman: woman/women lady/ladies
person child: child/children kid/kids boy/boys girl/girls toddler/toddlers
person baby: baby/babies infant/infants
sex male: male
sex female: female
sexes male: males
sexes female: females
animal dog: dog/dogs puppy/puppies
animal cat: cat/cats kitten/kittens
animal bird: bird/birds sparrow/sparrows parrot/parrots
animal chicken: chicken/chickens hen/hens rooster/roosters
animal duck: duck/ducks goose/geese
animal pigeon: pigeon/pigeons dove/doves
animal crow: crow/crows raven/ravens
animal seagull: seagull/seagulls gull/gulls
animal owl: owl/owls
animal turkey: turkey/turkeys
animal cow: cow/cows
animal sheep: goat/goats lamb/lambs
animal horse: horse/horses pony/ponies donkey/donkeys
animal pig: pig/pigs hog/hogs
animal frog: frog/frogs toad/toads
animal insect: insect/insects bug/bugs
animal cricket: cricket/crickets cicada/cicadas grasshopper/grasshoppers
animal bee: bee/bees wasp/wasps mosquito/mosquitoes
animal lion: lion/lions tiger/tigers
animal monkey: monkey/monkeys
animal snake: snake/snakes
animal wolf: wolf/wolves coyote/coyotes
animal elephant: elephant/elephants
vehicle car: car/cars automobile/automobiles
vehicle truck: truck/trucks lorry/lorries bus/buses van/vans
vehicle motorcycle: motorcycle/motorcycles motorbike/motorbikes scooter/scooters
vehicle train: train/trains locomotive/locomotives subway/subways tram/trams
vehicle airplane: airplane/airplanes plane/planes jet/jets
vehicle helicopter: helicopter/helicopters
vehicle boat: boat/boats motorboat/motorboats speedboat/speedboats ship/ships
vehicle bicycle: bicycle/bicycles
vehicle tractor: tractor/tractors
vehicle skateboard: skateboard/skateboards
device fan: fan/fans
device drill: drill/drills
device saw: saw/saws chainsaw/chainsaws
device mower: lawnmower/lawnmowers mower/mowers
device printer: printer/printers
device keyboard: keyboard/keyboards typewriter/typewriters
device hammer: hammer/hammers
device jackhammer: jackhammer/jackhammers
device blender: blender/blenders
device camera: camera/cameras
device clock: clock/clocks
device phone: telephone/telephones phone/phones
device radio: radio/radios television/televisions
device bell: bell/bells gong/gongs
device siren: siren/sirens
device alarm: alarm/alarms
device horn: horn/horns
device whistle: whistle/whistles
device vacuum: vacuum/vacuums
device generator: generator/generators
device washer: washer/washers dryer/dryers
instrument guitar: guitar/guitars banjo/banjos ukulele/ukuleles
instrument piano: piano/pianos
instrument organ: organ/organs
instrument drum: drum/drums
instrument violin: violin/violins cello/cellos fiddle/fiddles
instrument flute: flute/flutes
instrument trumpet: trumpet/trumpets trombone/trombones saxophone/saxophones
instrument harp: harp/harps
instrument harmonica: harmonica/harmonicas
instrument synthesizer: synthesizer/synthesizers
matter metal: metal steel iron
matter wood: wood
matter plastic: plastic
matter paper: paper cardboard
matter glass: glass
matter gravel: gravel
matter snow: snow ice
matter sand: sand
matter grass: grass
matter mud: mud
matter concrete: concrete pavement cement
matter leather: leather
weather rain: rain
weather wind: wind
weather thunder: thunder
weather fire: fire
thing door: door/doors gate/gates
thing window: window/windows
thing drawer: drawer/drawers cabinet/cabinets
thing toilet: toilet/toilets
thing faucet: faucet/faucets shower/showers sink/sinks
thing bottle: bottle/bottles jar/jars
thing cup: cup/cups
thing plate: plate/plates
thing pan: pan/pans pot/pots
thing spoon: spoon/spoons fork/forks
thing key: key/keys
thing coin: coin/coins
thing ball: ball/balls
thing book: book/books
thing bag: bag/bags
thing box: box/boxes
thing chair: chair/chairs
thing knife: knife/knives
thing bucket: bucket/buckets
thing marble: marble/marbles
thing zipper: zipper/zippers
thing rope: rope/ropes
thing chain: chain/chains
thing pencil: pencil/pencils pen/pens marker/markers
thing shoe: shoe/shoes boot/boots
thing rock: rock/rocks stone/stones
thing leaf: leaf/leaves
shot gun: gunshot/gunshots
shot firework: firework/fireworks firecracker/firecrackers
shot bomb: explosion/explosions
"""

# Too close for a listener to call the one wrong where the other is right.
_NEAR = """
child baby
child woman
bird chicken duck pigeon crow seagull owl turkey
insect cricket bee
dog wolf
frog cricket
car truck tractor motorcycle
bicycle skateboard
drill saw mower blender vacuum generator fan washer
hammer jackhammer
bell clock phone alarm
siren alarm horn whistle
radio phone
printer camera keyboard
piano organ synthesizer
flute whistle harmonica
guitar harp violin
metal glass
paper leaf plastic
grass leaf
gravel sand snow mud
door window drawer toilet
faucet toilet
bottle cup plate pan spoon bucket key coin chain
box bag book
ball rock marble
shoe ball
gun firework bomb
knife saw
knife spoon
"""

# Words that may mean any of these families: where a reference has one, nothing is certain.
_GENERIC = """
people persons individuals humans adults crowd audience group everyone voices family families
 students others couple: man woman child baby male female
children kids youth boys girls: child baby woman
men males: male man
women females girl: female woman child
boy boys: man male child
animals creatures livestock cattle fowl flock herd: dog cat bird chicken duck pigeon crow seagull
 owl turkey cow sheep horse pig frog lion monkey snake wolf elephant
wildlife nature: bird frog insect cricket owl crow duck bee
bugs bug insects insect: cricket bee frog
birds bird: chicken duck pigeon crow seagull owl turkey
chirp chirping chirps tweet tweeting: bird cricket frog insect
bark barking barks woof: dog
meow meowing meows purr purring: cat
quack quacking quacks: duck
moo mooing moos: cow
neigh neighing gallop galloping hooves: horse
vehicles traffic engines motors: car truck motorcycle tractor boat bicycle airplane helicopter train
engine motor: mower tractor motorcycle car truck generator
aircraft propeller propellers: airplane helicopter
machines machinery tools equipment appliances: fan drill saw mower printer blender vacuum generator
 washer hammer jackhammer keyboard
instruments band orchestra: guitar piano organ drum violin flute trumpet harp harmonica synthesizer
 bell
ring ringing rings chime chimes chiming: bell phone alarm clock
beep beeping beeps beeped: alarm phone siren horn clock
honk honking honks: horn car truck
metallic tin silverware coins keys utensils: metal
wooden hardwood tree trees twigs branches sticks: wood
bag bags wrapper wrapping crinkle crinkling: plastic paper
dishes dish glasses glassware: glass plate cup
liquid stream rain raining river ocean sea waves splash splashing: water
rainfall raining rains storm thunderstorm rainstorm: rain thunder wind
blowing blows gusts windy breeze: wind
crackle crackling crackles: fire rain
doors door: drawer window
typing type: keyboard
tap taps water: faucet
gunfire shots gun bang bangs blast blasts fireworks: gun firework bomb
stones rocks pebbles: rock gravel
"""


class Noun(NamedTuple):
    """A noun of the table.

    Attributes:
        word: As it is written.
        sort: What it may be exchanged within.
        family: What it sounds like.
        number: ``one``, ``many`` or ``mass``.
        one: Its singular.
        many: Its plural; empty where it is not counted.
    """

    word: str
    sort: str
    family: str
    number: str
    one: str
    many: str


@cache
def nouns() -> dict[str, Noun]:
    """All nouns of the table by the word."""
    found: dict[str, Noun] = {}
    for line in _NOUNS.strip().splitlines():
        head, _, words = line.partition(":")
        sort, family = head.split()
        for word in words.split():
            one, _, many = word.partition("/")
            if many:
                found[one] = Noun(one, sort, family, "one", one, many)
                found[many] = Noun(many, sort, family, "many", one, many)
            else:
                found[one] = Noun(one, sort, family, "mass", one, "")
    return found


@cache
def _near() -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for line in _NEAR.strip().splitlines():
        families = line.split()
        for family in families:
            found.setdefault(family, set()).update(families)
    return {family: frozenset(others) for family, others in found.items()}


@cache
def _excluding() -> dict[str, frozenset[str]]:
    """For each family, the words that make it uncertain or true."""
    found: dict[str, set[str]] = {}
    for noun in nouns().values():
        found.setdefault(noun.family, {noun.family}).add(noun.word)
    own = {family: frozenset(words) for family, words in found.items()}
    for family, others in _near().items():
        for other in others:
            found.setdefault(family, set()).update(own.get(other, ()))
    for line in _GENERIC.replace("\n ", " ").strip().splitlines():
        generic, _, families = line.partition(":")
        for family in families.split():
            found.setdefault(family, set()).update(generic.split())
    return {family: frozenset(words) for family, words in found.items()}


def unlike(noun: Noun, other: Noun) -> bool:
    """Whether to name one for the other is an error that can be heard."""
    return (
        noun.sort == other.sort
        and noun.number == other.number
        and noun.family != other.family
        and other.family not in _near().get(noun.family, ())
    )


def excluding(family: str) -> frozenset[str]:
    """Words that, in a reference, may mean this family: then it cannot be called wrong."""
    return _excluding().get(family, frozenset())
