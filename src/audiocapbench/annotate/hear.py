"""The first stage: experts hear every clip, and its domain is decided.

Clips are decoded ahead in threads while experts are at work on others, each once for all of them.
What an expert finds is committed batch by batch: the same command goes on after a kill, and
commands that hear the same clips at once share them.
"""

import json
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from audiocapbench import audio
from audiocapbench.annotate.clips import ClipFolder, SourceClip
from audiocapbench.annotate.domain import DomainRules, Said, decide
from audiocapbench.annotate.expert import BatchExpert, ClipAudio, Expert, signature_of
from audiocapbench.annotate.experts import ExpertPanel, set_up
from audiocapbench.annotate.prompts import prompt
from audiocapbench.annotate.stage_run import StageRun
from audiocapbench.benchmarks import Benchmark
from audiocapbench.benchmarks.benchmark import TRIAL
from audiocapbench.data import Clip, Sample
from audiocapbench.data.json_text import check_storable
from audiocapbench.data.outcome import Status, total_cost
from audiocapbench.engine import Preview
from audiocapbench.engine.ask_context import AskContext
from audiocapbench.errors import AnnotationError, AudioError
from audiocapbench.metrics.read_ahead import read_ahead
from audiocapbench.models import Model
from audiocapbench.plugins import failure_place, failure_words
from audiocapbench.store.annotations import Finding, StageRecord

DESCRIBE = "describe"
OK, FAILED, NOT_RUN = "ok", "failed", "not_run"
_BATCH = 16
_LOOK_AGAIN_S = 1.0
_SHOWN = 80
_LARGEST = 200_000


@dataclass(frozen=True, slots=True)
class HearingResult:
    """What the stage came to.

    Attributes:
        records: Of every clip, in the order of the folder; those that cannot be read are there too.
        experts: How often each expert ended how.
        not_run: Why experts did not run, by name.
        cost_usd: What descriptions cost, where known.
    """

    records: Mapping[str, StageRecord]
    experts: Mapping[str, Counter[str]]
    not_run: Mapping[str, str]
    cost_usd: float | None = None
    domains: Counter[str] = field(default_factory=Counter)


def describe_questions(folder: ClipFolder) -> Benchmark:
    """What a model that hears is asked of every clip, which are asked about once."""
    own = prompt(DESCRIBE)
    clips = {one.clip.sha256: (one.clip, DESCRIBE) for one in folder.clips}
    return _benchmark(f"describe/{own.hash}", folder, own.text, clips)


def _benchmark(
    name: str, folder: ClipFolder, words: str, clips: Mapping[str, tuple[Clip, str]]
) -> Benchmark:
    samples = [
        Sample(digest, clip, words, ("-",), category, place)
        for place, (digest, (clip, category)) in enumerate(clips.items())
    ]
    return Benchmark(f"{TRIAL}annotate/{name}", folder.root, samples, kind="trial")


def preview_describe(folder: ClipFolder, model: Model, settings: AskContext) -> Preview:
    """What descriptions will likely cost."""
    return settings.preview([describe_questions(folder)], model, model.name, "{} clips to describe")


def hear(
    folder: ClipFolder,
    panel: ExpertPanel,
    rules: DomainRules,
    settings: AskContext,
    describe: Model | None = None,
    engine: str = "local",
) -> HearingResult:
    """Have all experts hear all clips, as far as they have not, and decide each clip's domain.

    Args:
        engine: ``local``, or ``ray`` and its like for experts on a cluster.

    Raises:
        AudioCapBenchError: As ``AskContext.ask`` does; what was found is kept.
    """
    store = settings.store
    found, cost = _described(folder, describe, settings) if describe else ({}, None)
    hearing = _Hearing(folder, panel, rules, settings)
    hearing.run(engine)
    records: dict[str, StageRecord] = {}
    counts = {
        name: Counter[str]() for name in (*panel.not_run, *(one.name for one in panel.experts))
    }
    first: dict[str, str] = {}
    for one in folder.clips:
        same = first.setdefault(one.clip.sha256, one.id)
        if same != one.id:
            reason = f"the same bytes as {same}"
            records[one.id] = StageRecord(one.id, "hear", "duplicate", {}, reason)
            continue
        said = dict(hearing.said.get(one.clip.sha256, {}))
        if one.clip.sha256 in found:
            said[DESCRIBE] = found[one.clip.sha256]
        for name in panel.not_run:
            counts[name][NOT_RUN] += 1
        for name, finding in said.items():
            counts.setdefault(name, Counter())[finding.status] += 1
        records[one.id] = _record(one, said, rules, hearing.undecoded.get(one.clip.sha256))
    for name, reason in folder.unreadable.items():
        records[name] = StageRecord(name, "hear", "unreadable", {}, reason)
    store.annotations.put_stage(folder.project, "hear", list(records.values()))
    domains = Counter(str(one.document["domain"]) for one in records.values() if one.status == OK)
    return HearingResult(records, counts, panel.not_run, cost, domains)


def _record(
    one: SourceClip, said: Mapping[str, Finding], rules: DomainRules, undecoded: str | None
) -> StageRecord:
    """How a clip stands after the stage; its findings lie in a table of their own."""
    if undecoded is not None:
        return StageRecord(one.id, "hear", "unreadable", {}, undecoded)
    decision = decide(said, rules, one.about.get("domain"))
    document: dict[str, Any] = {
        "sha256": one.clip.sha256,
        "duration_s": one.clip.duration_s,
        "source": one.source,
        "about": dict(one.about),
        "domain": decision.domain,
        "evidence": decision.evidence,
        "experts": {
            name: {"signature": finding.signature, "status": finding.status}
            | ({"error": finding.error} if finding.error else {})
            for name, finding in sorted(said.items())
        },
    }
    status = OK if decision.domain else "no_domain"
    return StageRecord(one.id, "hear", status, document, decision.reason)


class HearingTask(NamedTuple):
    """A clip to be heard: decoded, as bytes, or why it can be neither; and what is known of it."""

    clip: Clip
    heard: ClipAudio | bytes | str
    domain: str | None
    known: Mapping[str, Finding]


class BatchFindings(NamedTuple):
    """What experts found in a batch, of which clips, and why some could not be decoded."""

    clips: list[str]
    findings: list[Finding]
    undecoded: dict[str, str]


def listen(
    experts: Sequence[Expert], rules: DomainRules, tasks: Sequence[HearingTask]
) -> BatchFindings:
    """Have experts hear a batch: first those for every clip, then those for its domain."""
    found: list[Finding] = []
    said = {one.clip.sha256: dict(one.known) for one in tasks}
    for expert in sorted(experts, key=lambda one: bool(one.domains)):
        clips = [
            one.heard
            for one in tasks
            if isinstance(one.heard, ClipAudio)
            and _lacks(expert, said[one.clip.sha256], rules, one.domain)
        ]
        for finding in analysed(expert, clips) if clips else ():
            said[finding.clip][expert.name] = finding
            found.append(finding)
    undecoded = {one.clip.sha256: one.heard for one in tasks if isinstance(one.heard, str)}
    return BatchFindings([one.clip.sha256 for one in tasks], found, undecoded)


def _lacks(expert: Expert, said: Said, rules: DomainRules, given: str | None) -> bool:
    """Whether an expert has yet to hear a clip that concerns it; what failed is tried again."""
    known = said.get(expert.name)
    if known is not None and known.status == OK:
        return False
    return not expert.domains or bool(
        set(expert.domains) & set(decide(said, rules, given).domain or "")
    )


def _decoded(clip: Clip, source: Path | bytes) -> ClipAudio | str:
    try:
        return ClipAudio(clip, audio.decode(source))
    except AudioError as error:
        return error.reason


class _RemoteListener:
    """Experts on another machine, where they are set up anew; clips come as bytes."""

    def __init__(self, names: Sequence[str], rules: DomainRules) -> None:
        self._names, self._rules = names, rules
        self._experts: tuple[Expert, ...] = ()

    def prepare(self) -> None:
        """Set experts up; one that cannot be there is an error, as the others could be here."""
        panel = set_up(self._names)
        if panel.not_run:
            raise AnnotationError("; ".join(panel.not_run.values()))
        self._experts = panel.experts

    def __call__(self, tasks: Sequence[HearingTask]) -> BatchFindings:
        """Decode and hear a batch."""
        heard = []
        for one in tasks:
            content = one.heard
            found = _decoded(one.clip, content) if isinstance(content, bytes) else content
            heard.append(one._replace(heard=found))
        return listen(self._experts, self._rules, heard)


class _Hearing:
    """One call of ``hear``: which clip still lacks whom, and who of several commands hears it."""

    def __init__(
        self, folder: ClipFolder, panel: ExpertPanel, rules: DomainRules, settings: AskContext
    ) -> None:
        self._folder, self._rules, self._panel, self._settings = folder, rules, panel, settings
        # The first of several that are the same is the one that counts.
        self._clips = {one.clip.sha256: one for one in reversed(folder.clips)}
        self._signatures = {one.name: signature_of(one) for one in panel.experts}
        self.said: dict[str, dict[str, Finding]] = {}
        self.undecoded: dict[str, str] = {}
        self._left: list[str] = []
        self._elsewhere: list[str] = []
        self._done = 0

    def run(self, engine: str) -> None:
        """Have all that is missing heard, here or on a cluster."""
        from audiocapbench.engine.ray_cluster import ActorPool, joined

        clips = {
            digest: (self._clips[digest].clip, self._clips[digest].about.get("domain") or "any")
            for digest in reversed(self._clips)
        }
        questions = _benchmark("hear", self._folder, "-", clips)
        how = self._rules._asdict() | self._signatures
        store, experts = self._settings.store, self._panel.experts
        with StageRun(store, questions, "experts", how, shared=True) as self._stage:
            self._plan()
            if not self._left:
                return
            with joined(engine) as cluster:
                if cluster is None:
                    self._hear_all(
                        self._read, lambda some: (listen(experts, self._rules, one) for one in some)
                    )
                    return
                work = _RemoteListener(self._panel.names, self._rules)
                pool = ActorPool[list[HearingTask], BatchFindings](cluster, work, name="experts")
                try:
                    self._hear_all(self._bytes, pool.map)
                finally:
                    pool.close()

    def _plan(self) -> None:
        """Find out what is missing; of the rest, that it is done."""
        self.said |= self._settings.store.annotations.findings(self._signatures, list(self._clips))
        for digest in reversed(self._clips):
            if self._is_wanted(digest):
                self._left.append(digest)
            else:
                self._stage.tell(digest, self._words(digest))
        self._done = len(self._clips) - len(self._left)
        self._settings.progress("clips heard", self._done, len(self._clips))

    def _hear_all(
        self,
        read: Callable[[str], ClipAudio | bytes | str],
        work: Callable[[Iterator[list[HearingTask]]], Iterable[BatchFindings]],
    ) -> None:
        """Hear what no other command hears; what others have is theirs until they are done."""
        while before := len(self._left):
            tasks = (self._task(*one) for one in read_ahead(read, self._claimed()))
            for found in work(_batches(tasks, _BATCH)):
                self._commit(found)
            if len(self._left) == before:
                time.sleep(_LOOK_AGAIN_S)
        store = self._settings.store
        self.said |= store.annotations.findings(self._signatures, self._elsewhere)
        known = store.outcomes(self._stage.run.id) if self._elsewhere else {}
        for digest in known.keys() & set(self._elsewhere):
            if known[digest].reply.status is Status.SKIPPED:
                self.undecoded[digest] = known[digest].reply.error or ""

    def _claimed(self) -> Iterator[str]:
        """Clips that nobody else hears right now, a few at a time."""
        wanted, self._left = self._left, []
        for start in range(0, len(wanted), _BATCH):
            some = wanted[start : start + _BATCH]
            taken, done = self._stage.claim(some)
            self._elsewhere += done
            self._done += len(done)
            self._left += [one for one in some if one not in taken and one not in done]
            yield from taken

    def _commit(self, batch: BatchFindings) -> None:
        """Keep what was found."""
        self._settings.store.annotations.add_findings(batch.findings)
        for one in batch.findings:
            self.said.setdefault(one.clip, {})[one.expert] = one
        self.undecoded |= batch.undecoded
        for digest in batch.clips:
            failed = [one for one in self.said.get(digest, {}).values() if one.status != OK]
            reason = "; ".join(f"{one.expert}: {one.error}" for one in failed)
            if digest in batch.undecoded:
                self._stage.tell(digest, "", batch.undecoded[digest], Status.SKIPPED)
            else:
                self._stage.tell(digest, self._words(digest), reason or None)
        self._stage.write()
        self._done += len(batch.clips)
        self._settings.progress("clips heard", self._done, len(self._clips))

    def _words(self, digest: str) -> str:
        """What experts said of a clip, for whoever looks on."""
        own = self.said.get(digest, {}).items()
        said = [f"{name} {json.dumps(dict(one.document))[:_SHOWN]}" for name, one in own]
        return f"{self._clips[digest].id}: {'; '.join(sorted(said))}"

    def _is_wanted(self, digest: str) -> bool:
        said, given = self.said.get(digest, {}), self._clips[digest].about.get("domain")
        return any(_lacks(one, said, self._rules, given) for one in self._panel.experts)

    def _task(self, digest: str, heard: ClipAudio | bytes | str) -> HearingTask:
        one = self._clips[digest]
        return HearingTask(one.clip, heard, one.about.get("domain"), self.said.get(digest, {}))

    def _read(self, digest: str) -> ClipAudio | str:
        clip = self._clips[digest].clip
        return _decoded(clip, clip.path)

    def _bytes(self, digest: str) -> bytes | str:
        try:
            return audio.read_bytes(self._clips[digest].clip.path, audio.MOST_BYTES)
        except AudioError as error:
            return str(error)


def analysed(expert: Expert, clips: Sequence[ClipAudio]) -> list[Finding]:
    """What an expert says of clips; one that it fails on fails alone."""
    began = time.perf_counter()
    if isinstance(expert, BatchExpert) and len(clips) > 1:
        try:
            said = list(expert.analyse_batch(clips))
            seconds = (time.perf_counter() - began) / len(clips)
            pairs = zip(clips, said, strict=True)
            return [_finding(expert, clip, one, seconds) for clip, one in pairs]
        except (Exception, SystemExit):  # which of them it was, each alone will tell
            began = time.perf_counter()
    found = []
    for clip in clips:
        try:
            made = _finding(expert, clip, expert.analyse(clip), time.perf_counter() - began)
        except (Exception, SystemExit) as error:  # an expert is someone else's code
            reason = f"{failure_words(error)}{failure_place(error)}"
            own = (clip.clip.sha256, expert.name, signature_of(expert))
            made = Finding(*own, FAILED, {}, reason, time.perf_counter() - began)
        found.append(made)
        began = time.perf_counter()
    return found


def _finding(expert: Expert, clip: ClipAudio, said: Mapping[str, Any], seconds: float) -> Finding:
    """What was said, as plain JSON; ValueError for what no finding can be."""
    text = json.dumps(dict(said), allow_nan=False)
    if len(text) > _LARGEST:
        raise ValueError(f"it said {len(text):,} characters, more than {_LARGEST:,}")
    document = json.loads(text, object_hook=_with_confidence)
    check_storable(document)
    return Finding(clip.clip.sha256, expert.name, signature_of(expert), OK, document, None, seconds)


def _with_confidence(said: dict[str, Any]) -> dict[str, Any]:
    sure = said.get("confidence", 1)
    if not isinstance(sure, int | float) or not 0 <= sure <= 1:
        raise ValueError(f"it says a confidence of {sure!r:.40}, and not from 0 to 1")
    return said


def _batches(given: Iterator[Any], size: int) -> Iterator[list[Any]]:
    while batch := list(islice(given, size)):
        yield batch


def _described(
    folder: ClipFolder, model: Model, settings: AskContext
) -> tuple[dict[str, Finding], float | None]:
    """What a model that hears says of each clip, by the hash of the clip, and what it cost."""
    questions = describe_questions(folder)
    if not questions.samples:
        return {}, None
    outcomes = settings.ask(questions, model, f"{model.name}: describe")
    signature = f"{DESCRIBE}|{model.name}, {json.dumps(dict(model.parameters), sort_keys=True)}"
    found = {}
    for digest, outcome in outcomes.items():
        reply = outcome.reply
        good = reply.status is Status.OK
        document = {"description": reply.text, "by": model.name} if good else {}
        error = None if good else f"{reply.status}: {reply.error or 'no reason given'}"
        status = OK if good else FAILED
        own = (digest, DESCRIBE, signature, status, document, error, outcome.latency_s)
        found[digest] = Finding(*own)
    settings.store.annotations.add_findings(found.values())
    return found, total_cost(one.reply.cost_usd for one in outcomes.values())
