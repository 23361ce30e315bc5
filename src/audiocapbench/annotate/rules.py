"""The rules that annotations are held to: each says of a clip's texts what is wrong with them.

They hear nothing, know only what experts said, and read English. ``faults.toml`` has closed shapes,
``no_captions.toml`` texts of our own that are no captions: what is more like one of these than
like any real caption is none either, the less so the more its other wordings say the same.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import combinations, product, starmap
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from audiocapbench.annotate.experts import is_phantom, plain_words, said_by
from audiocapbench.annotate.stage import NONE, Annotation, prompt
from audiocapbench.benchmarks.mecat.groups import CONTENTS
from audiocapbench.metrics.claims import claims
from audiocapbench.metrics.elements.splitting import words_that_are
from audiocapbench.metrics.encoders import load
from audiocapbench.metrics.encoders.encoder import Vectors
from audiocapbench.metrics.encoders.places import ANSWER, learned, placed, unit, vector
from audiocapbench.metrics.fluency.detector import breaks_off, hash_words, stem_of
from audiocapbench.metrics.shipped import patterns, read_lists
from audiocapbench.metrics.text import plain
from audiocapbench.metrics.wordnet import begins_a_word, synonyms
from audiocapbench.store.cache import Finding

_LISTS = ("audiocapbench.annotate", "faults.toml")
_LETTERS = dict(zip(CONTENTS, "SMA", strict=True))
_SHORT_WORDS, _SENTENCES, _QUOTED = 15, 2, 4
_MOST_WORDS, _LEAST_KNOWN, _SAME_ANSWERS, _ALIKE, _HELD = 70, 0.5, 3, 0.85, 0.6
_NAME_RUN, _CLAUSE, _CHOICE, _STRANGE, _SENTENCE = 3, 5, 3, 2, 2
_NEAREST, _RAREST, _UNSEEN, _ANSWER = 3, 3, -12.0, 4
# Of a clause's weights: at 0 a quarter more of good ones were lost, and .4 % more errors caught.
_STRANGER = 1.0
# Of cosines: a text alone, and the mean of a view.
NO_CAPTION, _NO_VIEW = 0.04, -0.03
_FAULTS = patterns(*_LISTS)
_OF_QUESTIONS = ("speaks of itself or to a reader", "says nothing")
_EVERYWHERE = ("has markup", "guesses")
_READ = patterns(*_LISTS, "reading")
_STOP = words_that_are("stop")
_KNOWN = _STOP | words_that_are("vague") | words_that_are("negators")
_remembered = lru_cache(100_000)
Told = Mapping[str, Sequence[str]]
Compared = tuple[NDArray[np.str_], Vectors, Vectors]


class ClipCase(NamedTuple):
    """An annotation, and what is known of its clip; ``about`` is what its maker says of it."""

    annotation: Annotation
    domain: str
    said: Mapping[str, Finding]
    speech_share: float
    about: Mapping[str, str]


def confidence(case: ClipCase) -> Iterator[str]:
    """Only what the model itself is sure of is kept."""
    if case.annotation.confidence != "high":
        yield "its confidence is low"


def domain(case: ClipCase) -> Iterator[str]:
    """A view is None exactly where the domain lacks its content, and says so in its wordings."""
    doubt, vocal = _READ["doubt"].search, _READ["vocal"].search
    for view, letter in _LETTERS.items():
        texts = case.annotation.captions[view]
        if (texts[0] == NONE) == (letter in case.domain):
            what = "is None" if texts[0] == NONE else "is not None"
            yield f"the {view} caption {what}, and its domain is {case.domain}"
        elif texts[0] == NONE:
            if any(letter in "SM" or view in _claims(one) for one in texts[1:] if not doubt(one)):
                yield f"the {view} caption is None, and a wording of it describes some"
        elif any(map(_READ["denial"].search, texts)):
            yield f"a wording of the {view} caption says that there is none"
        elif letter in "SM":
            about = [_claims(one, case.domain) for one in texts if letter == "M" or not vocal(one)]
            if about and all(about) and not any(view in claims(one) for one in texts):
                yield f"the {view} caption is about something else"


def agreement(case: ClipCase) -> Iterator[str]:
    """No text claims speech or music that the domain, by what experts heard, is without."""
    texts = dict(case.annotation.texts())
    for name, text in texts.items():
        # An answer may say what is absent, or that a question asks for it.
        asked = f"{texts[name.replace('answer', 'question')]} {text}" if "answer" in name else ""
        if "question" not in name and not _READ["doubt"].search(asked):
            for view in _claims(text, case.domain) & {"speech", "music"}:
                if _LETTERS[view] not in case.domain:
                    yield f"{name} claims {view} where none was found"


@_remembered
def _claims(text: str, domain: str = "") -> frozenset[str]:
    """What a text claims, in words that say it of nothing else.

    What speech is about is not heard, and where music is a voice sings.
    """
    own = _READ["topic"].sub(" ", text) if "S" in domain else text
    own = _READ["sung"].sub(" ", own) if "M" in domain else own
    found = claims(_READ["weak"].sub(" ", own))
    return frozenset(kind for kind, why in found.items() if why != "a transcript")


def transcript(case: ClipCase) -> Iterator[str]:
    """What was transcribed is quoted only where speech was found, and never a known phantom."""
    words = plain_words(said_by(case.said, "asr").get("text", "")).split()
    # A quotation is a run of words of the transcript, or all of one that is shorter.
    starts = range(max(len(words) - _QUOTED, 0) + 1 if words else 0)
    runs = [f" {' '.join(words[start : start + _QUOTED])} " for start in starts]
    texts = ((name, f" {plain_words(text)} ") for name, text in case.annotation.texts())
    if name := next((name for name, text in texts if any(one in text for one in runs)), None):
        if is_phantom(" ".join(words)):
            yield f"{name} quotes a known hallucination of Whisper"
        share = said_by(case.said, "speech").get("speech_share")
        if share is not None and share < case.speech_share:
            yield f"{name} quotes a transcript where no speech was found"


def language(case: ClipCase) -> Iterator[str]:
    """Texts are of English words; of what is quoted, and of names, nothing is asked."""
    for name, text in case.annotation.texts():
        if _is_foreign(text):
            yield f"{name} is not in English"


@_remembered
def _is_foreign(text: str) -> bool:
    words = _READ["word"].findall(_READ["quote"].sub(" ", text))
    lowered = [one for one in words if one == one.lower()]
    common = lowered if len(lowered) > 1 else words
    function = {one for one in lowered if _READ["foreign"].fullmatch(one)}
    strange = sum(one in function or not _is_english(one) for one in lowered)
    few = sum(map(_is_english, common)) < _LEAST_KNOWN * len(common)
    mixed = bool(function) and strange > _STRANGE
    return bool(_READ["script"].search("".join(words))) or few or mixed


@_remembered
def _is_english(word: str) -> bool:
    forms = [*(parts := word.lower().split("-")), "".join(parts)]
    is_known = any(one in _KNOWN or (one[2:] and next(synonyms([one]), None)) for one in forms)
    return is_known or bool(_READ["people"].fullmatch(word))


def wording(case: ClipCase) -> Iterator[str]:
    """Texts are as long as a view's are, whole, and of what is heard alone."""
    for name, text in case.annotation.texts():
        if text != NONE or not name.startswith(CONTENTS) or not name.endswith("caption 1"):
            for what in _faults(name.split()[0], "caption" in name, "S" in case.domain, text):
                yield f"{name} {what}"


@_remembered
def _faults(part: str, is_caption: bool, is_spoken: bool, text: str) -> list[str]:
    bare, count = _READ["quote"].sub("words", text), len(text.split())
    own = _READ["work"].sub("words", _READ["topic"].sub("words", bare) if is_spoken else bare)
    counted, own = own, _READ["number"].sub("10", own)
    apart, kind = no_caption(text) if part != "question" else (-1.0, "")
    last, ended = "".join(_READ["last"].findall(bare)), _READ["whole"].sub("there", bare)
    is_half = begins_a_word(last) and not _is_english(last) if last else False
    open_end = is_half or bool(breaks_off(ended, hidden=False) or _READ["open"].search(ended))
    is_echo = f" {plain_words(text)} " in plain_words(prompt("mecat_merge")[0])
    found = {
        f"has {_SHORT_WORDS} words or more": part == "short" and count >= _SHORT_WORDS,
        f"has more than {_SENTENCES} sentences": is_caption
        and sentences(bare) > _SENTENCES + (part not in ("long", "short")),
        f"has more than {_MOST_WORDS} words": count > _MOST_WORDS,
        "is a single word or none": is_caption and _READ["wordless"].search(text),
        "is cut off": part != "question" and open_end,
        "is of the prompt": count > _CHOICE and is_echo and not _READ["doubt"].search(text),
        "has a count that nobody makes by ear": _READ["many"].search(counted),
        "is a question": is_caption and bare.rstrip().endswith("?"),
        "has a heading": plain_words(plain(text)) not in ("", plain_words(text)),
        "has parentheses": _READ["bracket"].search(text),
    }
    for what, pattern in _FAULTS.items():
        found[what] = pattern.search(bare if what in _EVERYWHERE else own)
    names = _READ["proper"].findall(own) if is_caption else ()
    found["names somebody"] = found["names somebody"] or not all(map(_is_english, names))
    # A question may speak to who answers it, and names nothing that is heard.
    allowed = _OF_QUESTIONS if part == "question" else ()
    found[f"reads like {kind}"] = apart > NO_CAPTION
    return [what for what, is_so in found.items() if is_so and what not in allowed]


@_remembered
def own_words(text: str) -> str:
    """A text without what is quoted, and without what speech is about."""
    return _READ["topic"].sub("words", _READ["quote"].sub("words", text))


@_remembered
def no_caption(text: str) -> tuple[float, str]:
    """How much more the worst sentence is like no captions than like captions, and which kind."""
    parts = [one for one in _READ["end"].split(own_words(text)) if len(one.split()) >= _SENTENCE]
    return max(nearest_kind(vector(one), compared()) for one in (own_words(text), *parts))


def nearest_kind(own: Vectors, known: Compared) -> tuple[float, str]:
    """The same of one vector."""
    like, usual = (np.sort(vectors @ own)[-_NEAREST:].mean() for vectors in known[1:])
    return float(like - usual), str(known[0][(known[1] @ own).argmax()])


@cache
def compared() -> Compared:
    """Vectors of our own texts that are no captions, with their kinds, and those of captions."""
    lists, encode = dict(read_lists(_LISTS[0], "no_captions.toml")), load("caption2vec").encode
    real = lists.pop("captions").strip().splitlines()
    both = [(kind, one) for kind, own in lists.items() for one in own.splitlines() if one.strip()]
    kinds, texts = zip(*both, strict=True)
    centres = learned()["centres"].astype(np.float32)
    centres /= np.linalg.norm(centres, axis=1, keepdims=True)
    return np.array(kinds), encode(texts), np.concatenate([centres, encode(real)])


def title(case: ClipCase) -> Iterator[str]:
    """No text repeats names, numbers or a whole clause of what its maker told of the clip."""
    said = f" {plain_words(said_by(case.said, 'asr').get('text', ''))} "
    told = [plain_words(case.about.get(one, "")) for one in ("title", "description")]
    for name, text in case.annotation.texts():
        words = _READ["token"].findall(text) if any(told) else []
        for start, size in product(range(len(words)), (2, _NAME_RUN, _CLAUSE)):
            own = words[start : start + size]
            run = plain_words(" ".join(own))
            if run in said or not any(f" {run} " in f" {one} " for one in told):
                continue
            special = any(one[0].isupper() or not _is_english(one) for one in own[start == 0 :])
            if {1: False, 2: run in told, _CLAUSE: True}.get(len(own), special):
                yield f"{name} has words of the clip's title or description"
                break


def repetition(case: ClipCase) -> Iterator[str]:
    """No text says the same over and over, and no two say the same."""
    captions = case.annotation.captions
    for name, text in case.annotation.texts():
        if _READ["loop"].search(plain_words(_READ["quote"].sub(" ", text))):
            yield f"{name} repeats itself"
    for view, texts in captions.items():
        if len({plain_words(one) for one in texts}) < len(texts):
            yield f"two wordings of the {view} caption are the same"
    for (view, own), (other, others) in combinations(captions.items(), 2):
        if any(starmap(_are_alike, product(own, others))):
            yield f"the {view} and the {other} caption say the same"
    answers = Counter(plain_words(one["answer"]) for one in case.annotation.questions)
    if answers and max(answers.values()) >= _SAME_ANSWERS:
        yield f"{_SAME_ANSWERS} answers or more are the same"


def likeness(case: ClipCase) -> Iterator[str]:
    """A wording or answer reads like real ones, the more so where nothing else says the same."""
    weights, told = learned(), case.annotation.heard()
    for view, texts in told.items():
        odd, kinds = zip(*map(no_caption, texts), strict=True)
        if sum(odd) > _NO_VIEW * len(texts):
            yield f"the {view} captions read like {kinds[0]}"
        rest = {other: own for other, own in told.items() if other != view}
        for place, text in enumerate(texts):
            near = texts[:place] + texts[place + 1 :]
            if any(weights["wording"] @ [odd[place], *signs(text, view, near, rest)] > 0):
                yield f"{view} caption {place + 1} is unlike its other wordings"
            if strange_part(text, view, near, rest, "S" in case.domain) > _STRANGER:
                yield f"{view} caption {place + 1} has words that are of no caption"
    for number, one in enumerate(case.annotation.questions, 1):
        answer = _READ["verdict"].sub("", one["answer"])
        found = [no_caption(answer)[0], *signs(answer, ANSWER, [one["question"]], told)]
        # What is asked for as absent is in no caption.
        apart, other = weights["answer"] @ found > 0
        is_odd = apart or (other and not any(map(_READ["doubt"].search, one.values())))
        if len(answer.split()) >= _ANSWER and is_odd:
            yield f"answer {number} is unlike its question and all captions"
        if strange_part(answer, ANSWER, [one["question"]], told, False) > _STRANGER:
            yield f"answer {number} has words that are of no answer"


def strange_part(text: str, place: str, near: Sequence[str], rest: Told, is_spoken: bool) -> float:
    """How much more like other English than like a caption the strangest clause of a text is."""
    weights = learned()["clauses"][2 if place == ANSWER else int(is_spoken)]
    return float((clause_signs(text, place, near, rest) @ weights).max())


def clause_signs(text: str, place: str, near: Sequence[str], rest: Told) -> Vectors:
    """Of a text as it is read, and of its clauses: where each lies, and how odd it is."""
    own = own_words(text)
    parts = [one for one in _READ["clause"].split(own) if len(one.split()) > _SENTENCE]
    texts = [own, *(parts if len(parts) > 1 else ())]
    return np.array([[*vector(one), *signs(one, place, near, rest)] for one in texts])


def signs(text: str, place: str, near: Sequence[str], rest: Told) -> Vectors:
    """What tells how odd a text is: its likeness to those near and to the rest, its new words."""
    known, others = learned(), [one for own in rest.values() for one in own]
    told = frozenset[str]().union(*map(_words_in, (*near, *others)))
    words = [one for one in plain_words(own_words(text)).split() if one not in told]
    hashes = hash_words([*words, "a"])
    places = np.minimum(np.searchsorted(known["words"], hashes), len(known["words"]) - 1)
    new = np.sort(np.where(known["words"][places] == hashes, known["logs"][places], _UNSEEN))
    alike = [float(vector(one) @ vector(text)) for one in (*near, *others)]
    likest, length = max(alike[len(near) :], default=0.0), np.log(1 + len(text.split()))
    middle = unit(sum(placed(map(own_words, own), view) for view, own in rest.items()))
    own = placed([own_words(text)], place)
    beside = (own @ one for one in (placed(map(own_words, near), place), middle))
    likes = (np.mean(alike[: len(near)]), likest, *beside)
    return np.array((*likes, new[:_RAREST].mean(), new.mean(), length, 1), dtype=np.float32)


@_remembered
def _words_in(text: str) -> frozenset[str]:
    return frozenset(plain_words(text).split())


@_remembered
def _are_alike(text: str, other: str) -> bool:
    own, others = map(_words_in, (text, other))
    return len(own) > 1 and len(own & others) > _ALIKE * len(own | others)


def questions(case: ClipCase) -> Iterator[str]:
    """Each is a question, none is asked twice, and none holds its answer."""
    asked = [plain_words(one["question"]) for one in case.annotation.questions]
    if len(set(asked)) < len(asked):
        yield "a question is asked twice"
    for place, (question, one) in enumerate(zip(asked, case.annotation.questions, strict=True), 1):
        answer = plain_words(one["answer"])
        if f" {question} " in f" {answer} ":
            yield f"answer {place} repeats its question"
        own, given = ([stem_of(word) for word in text.split()] for text in (answer, question))
        # Who asks "this or that" names the answer, and who asks "is it" what is not so: no leak.
        chosen = {word for pair in _READ["either"].findall(" ".join(given)) for word in pair}
        held = [word in given for word in own if word not in _STOP and word not in chosen]
        is_whole = len(held) >= _CHOICE and all(held)
        is_held = is_whole if chosen else sum(held) > _HELD * len(held)
        is_told = len(own) > 1 and f" {answer} " in f" {question} "
        if (is_told and not chosen) or (is_held and not _READ["closed"].search(answer)):
            yield f"question {place} holds its answer"
        is_asked = "?" in one["question"] or _READ["ask"].search(one["question"])
        if not is_asked or len(question.split()) < 2:
            yield f"question {place} is no question"


def sentences(text: str) -> int:
    """How many sentences a text has; the last may lack its full stop."""
    ends = [one.end() for one in _READ["end"].finditer(text)]
    return len(ends) + (not ends or ends[-1] < len(text.rstrip()))


_ALONE = (confidence, domain, agreement, transcript, language, wording, title)
RULES = {one.__name__: one for one in (*_ALONE, repetition, likeness, questions)}
"""In the order of the survival table."""


def broken_rules(case: ClipCase) -> dict[str, list[str]]:
    """What is wrong with an annotation, by rule."""
    return {name: own for name, rule in RULES.items() if (own := list(rule(case)))}
