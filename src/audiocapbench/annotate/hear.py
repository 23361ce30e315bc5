"""The first stage: experts hear every clip, and its domain is decided.

Clips are decoded ahead in threads, each once for all experts. Findings are committed batch by
batch: the same command goes on after a kill, and several that hear the same clips share them.
"""

import json
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import anyio

from audiocapbench import audio
from audiocapbench.annotate import experts
from audiocapbench.annotate.experts import ClipAudio, DomainRules, Expert, ExpertPanel, Said
from audiocapbench.annotate.stage import (
    SourceClip,
    StageContext,
    StageResult,
    list_audio,
    prompt,
)
from audiocapbench.data import Clip
from audiocapbench.data.outcome import Outcome, Reply, Status, total_cost
from audiocapbench.data.problems import check_storable
from audiocapbench.engine.ray_cluster import CLUSTER, ActorPool
from audiocapbench.engine.runner import dataset_of
from audiocapbench.engine.workers import Lease
from audiocapbench.errors import AnnotationError, AudioError
from audiocapbench.metrics.parallel import read_ahead
from audiocapbench.models import Model
from audiocapbench.plugins import failure_place, failure_words
from audiocapbench.store import RunSpec
from audiocapbench.store.cache import Finding, StageRecord
from audiocapbench.store.claims import TaskKey
from audiocapbench.store.unsaved import AnswerRecord

DESCRIBE = "describe"
OK, FAILED, NOT_RUN = "ok", "failed", "not_run"
_BATCH, _LOOK_AGAIN_S = 16, 1.0
_SHOWN, _LARGEST = 80, 200_000
_LONGEST_S = 600.0
"""What lasts longer is no clip that a caption describes, and would be heard for hours."""

BatchFindings = dict[str, list[Finding] | str]
"""What experts found in each clip of a batch, or why it cannot be decoded."""

ClipReader = Callable[[Clip], ClipAudio | bytes | str]
HearingTask = tuple[SourceClip, ClipAudio | bytes | str, Mapping[str, Finding]]
"""A clip to be heard; decoded, as bytes, or why it can be neither; and what is known of it."""


def hear(
    context: StageContext,
    clips: Sequence[SourceClip],
    unreadable: Mapping[str, str],
    panel: ExpertPanel,
    rules: DomainRules,
    describe: Model | None = None,
    sample: int | None = None,
) -> StageResult:
    """Have all experts hear all clips, as far as they have not, and decide each clip's domain."""
    first: dict[str, SourceClip] = {}
    for one in clips:  # of several that are the same, the first counts
        if one.clip.duration_s <= _LONGEST_S:
            first.setdefault(one.clip.sha256, one)
    hearing = _Hearing(context, panel, rules, first)
    hearing.run()
    described, cost = dict[str, dict[str, Finding]](), None
    if describe is not None:  # only what has a domain, as nothing else is merged
        wanted = [one for one in first.values() if hearing.domain(one)]
        described, cost = _describe(context, wanted, describe)
    records: dict[str, StageRecord] = {}
    counts = {name: Counter({NOT_RUN: len(first)}) for name in panel.not_run}
    counts |= {name: Counter[str]() for name in hearing.signatures if name != experts.LISTENER}
    for one in clips:
        digest = one.clip.sha256
        if digest not in first:
            reason = f"lasts {one.clip.duration_s:,.0f} s, more than {_LONGEST_S:g}; cut it first"
            records[one.id] = StageRecord(one.id, "hear", "too_long", {}, reason)
            continue
        if (same := first[digest].id) != one.id:
            reason = f"the same bytes as {same}"
            records[one.id] = StageRecord(one.id, "hear", "duplicate", {}, reason)
            continue
        said = hearing.said.get(digest, {}) | described.get(digest, {})
        for name, finding in said.items():
            counts.setdefault(name, Counter())[finding.status] += 1
        records[one.id] = _record(one, said, rules, hearing.undecoded.get(digest))
    for name, reason in unreadable.items():
        records[name] = StageRecord(name, "hear", "unreadable", {}, reason)
    shared = {"not_run": panel.not_run, "cost_usd": cost}
    settings = shared | {"experts": hearing.signatures, "thresholds": rules._asdict()}
    settings |= {"describe": describe.name if describe else None, "sample": sample}
    left_out = context.keep("hear", list(records.values()), settings)
    domains = Counter(str(one.document["domain"]) for one in records.values() if one.status == OK)
    document = shared | {
        "clips": len(records),
        "domains": dict(sorted(domains.items())),
        "experts": {name: dict(one) for name, one in counts.items()},
        "left_out": left_out,
        "skipped": dict(list_audio(context.root)[1]),
        "would_add": {
            name: what for name, what in experts.ADDS.items() if name not in hearing.signatures
        },
    }
    lost = any(one.status not in (OK, "duplicate") for one in records.values())
    return StageResult(document, not lost and not any(one[FAILED] for one in counts.values()))


def _record(
    one: SourceClip, said: Mapping[str, Finding], rules: DomainRules, undecoded: str | None
) -> StageRecord:
    """How a clip stands after the stage; its findings have a table of their own."""
    if undecoded is not None:
        return StageRecord(one.id, "hear", "unreadable", {}, undecoded)
    domain, evidence, reason = experts.decide(said, rules, one.about.get("domain"))
    document: dict[str, Any] = {
        "sha256": one.clip.sha256,
        "duration_s": one.clip.duration_s,
        "source": one.about.get("source") or one.id,
        "about": dict(one.about),
        "domain": domain,
        "evidence": evidence,
        "experts": {
            name: {"signature": finding.signature, "status": finding.status}
            | ({"error": finding.error} if finding.error else {})
            for name, finding in sorted(said.items())
        },
    }
    return StageRecord(one.id, "hear", OK if domain else "no_domain", document, reason or None)


def _lacks(expert: Expert, said: Said, rules: DomainRules, source: SourceClip) -> bool:
    """Whether an expert has yet to hear a clip that concerns it; what failed is tried again."""
    if expert.name in said and said[expert.name].status == OK:
        return False
    if expert.name == experts.LISTENER:  # who decides what nobody has
        return source.about.get("domain") is None
    if not expert.domains:
        return True
    domain, *_ = experts.decide(said, rules, source.about.get("domain"))
    return bool(set(expert.domains) & set(domain or ""))


def _decoded(clip: Clip, heard: Path | ClipAudio | bytes | str) -> ClipAudio | str:
    try:
        return heard if isinstance(heard, ClipAudio | str) else ClipAudio(clip, audio.decode(heard))
    except AudioError as error:
        return error.reason


def _content(clip: Clip) -> bytes | str:
    try:
        return audio.read_bytes(clip.path, audio.MOST_BYTES)
    except AudioError as error:
        return str(error)


class _Listener:
    """Experts that hear a batch; on another machine they are set up anew, and clips are bytes."""

    def __init__(self, panel: ExpertPanel, rules: DomainRules) -> None:
        self._names, self._rules, self._experts = panel.names, rules, panel.experts

    def __getstate__(self) -> dict[str, Any]:
        return {"_names": self._names, "_rules": self._rules}

    def prepare(self) -> None:
        """Set experts up; one that cannot be there is an error, as the others could be here."""
        panel = experts.set_up(self._names)
        if panel.not_run:
            raise AnnotationError("; ".join(panel.not_run.values()))
        self._experts = panel.experts

    def __call__(self, tasks: Sequence[HearingTask]) -> BatchFindings:
        """What experts find: first those for every clip, then those for its domain."""
        clips = [_decoded(source.clip, heard) for source, heard, _ in tasks]
        said = {source.clip.sha256: dict(known) for source, _, known in tasks}
        new: dict[str, list[Finding]] = {digest: [] for digest in said}
        for expert in sorted(self._experts, key=lambda one: bool(one.domains)):
            lacking = [
                clip
                for (source, *_), clip, known in zip(tasks, clips, said.values(), strict=True)
                if isinstance(clip, ClipAudio) and _lacks(expert, known, self._rules, source)
            ]
            for finding in analysed(expert, lacking):
                said[finding.clip][expert.name] = finding
                new[finding.clip].append(finding)
        ends = zip(new.items(), clips, strict=True)
        return {digest: clip if isinstance(clip, str) else own for (digest, own), clip in ends}


@dataclass
class _Hearing:
    """One call of ``hear``: which clip still lacks whom, and which command hears it."""

    context: StageContext
    panel: ExpertPanel
    rules: DomainRules
    clips: Mapping[str, SourceClip]

    def __post_init__(self) -> None:
        self.signatures = {one.name: experts.signature_of(one) for one in self.panel.experts}
        self.said = self.context.kept.findings(self.signatures, list(self.clips))
        self.undecoded: dict[str, str] = {}
        self._left, self._elsewhere = list[str](), list[str]()
        self._lease, self._waiting = Lease(self.context.store), list[AnswerRecord]()

    def domain(self, one: SourceClip) -> str | None:
        """Its domain as far as it is known; none where it could not be decoded."""
        said = self.said.get(one.clip.sha256, {})
        found = experts.decide(said, self.rules, one.about.get("domain"))[0]
        return None if one.clip.sha256 in self.undecoded else found

    def run(self) -> None:
        """Have all that is missing heard, here or on the cluster that was joined.

        Commands that hear the same clips in the same way share one run.
        """
        store, clips = self.context.store, {key: one.clip for key, one in self.clips.items()}
        questions = self.context.questions(
            "hear",
            dict.fromkeys(clips, "-"),
            clips,
            lambda key: self.clips[key].about.get("domain") or "any",
        )
        rules, work = self.rules, _Listener(self.panel, self.rules)
        how, ids = rules._asdict() | self.signatures, tuple(clips)
        about = (questions.name, questions.fingerprint, "experts", how, "none", ids)
        self._run = store.begin_run(RunSpec(*about, kind=questions.kind), dataset_of(questions))
        self._seen = store.claims.states(self._run.id)
        # Of what was told of before, only what is claimed anew is told again.
        self._told = {one.sample for one in self._seen}
        try:
            for digest, one in self.clips.items():
                said = self.said.get(digest, {})
                if any(_lacks(expert, said, rules, one) for expert in self.panel.experts):
                    self._left.append(digest)
                else:
                    self._tell(digest, Reply(self._words(digest), Status.OK))
            self._done = len(self.clips) - len(self._left)
            self.context.progress("clips heard", self._done, len(self.clips))
            if self._left and (cluster := CLUSTER.get()) is not None:
                pool = ActorPool[list[HearingTask], BatchFindings](cluster, work, name="experts")
                with closing(pool):
                    self._hear_all(_content, pool.map)
            else:
                self._hear_all(lambda clip: _decoded(clip, clip.path), partial(map, work))
            self._write()
        finally:
            anyio.run(self._lease.close)

    def _tell(self, digest: str, reply: Reply) -> None:
        if digest not in self._told:
            self._told.add(digest)
            seconds = self.clips[digest].clip.duration_s
            self._waiting.append(AnswerRecord(Outcome(digest, reply, None, seconds, 0.0)))

    def _write(self) -> None:
        if self._waiting:
            self.context.store.add_records(self._run.id, self._waiting, self._lease.worker.id)
        self._waiting = []

    def _hear_all(
        self,
        read: ClipReader,
        work: Callable[[Iterator[list[HearingTask]]], Iterable[BatchFindings]],
    ) -> None:
        """Hear what no other command hears; what others have is theirs until they are done."""
        while before := len(self._left):
            for batch in work(self._batches(read)):
                self._commit(batch)
            if len(self._left) == before:
                time.sleep(_LOOK_AGAIN_S)
        self.said |= self.context.kept.findings(self.signatures, self._elsewhere)
        known = self.context.store.outcomes(self._run.id) if self._elsewhere else {}
        for digest in known.keys() & set(self._elsewhere):
            if known[digest].reply.status is Status.SKIPPED:
                self.undecoded[digest] = known[digest].reply.error or ""

    def _batches(self, read: ClipReader) -> Iterator[list[HearingTask]]:
        ahead = read_ahead(lambda key: read(self.clips[key].clip), self._claimed())
        tasks = ((self.clips[key], heard, self.said.get(key, {})) for key, heard in ahead)
        return iter(lambda: list(islice(tasks, _BATCH)), [])

    def _claimed(self) -> Iterator[str]:
        """Clips that nobody else hears right now, a few at a time."""
        wanted, self._left = self._left, []
        for start in range(0, len(wanted), _BATCH):
            some = wanted[start : start + _BATCH]
            keys = [TaskKey("", one) for one in some]
            claimed, ended, *_ = self._lease.claim(self._run.id, keys, self._seen)
            taken, done = ([one.sample for one in own] for own in (claimed, ended))
            self._told -= set(taken)
            self._elsewhere += done
            self._done += len(done)
            self._left += [one for one in some if one not in taken and one not in done]
            yield from taken

    def _commit(self, batch: BatchFindings) -> None:
        found = [one for own in batch.values() if not isinstance(own, str) for one in own]
        self.context.kept.add_findings(found)
        for one in found:
            self.said.setdefault(one.clip, {})[one.expert] = one
        for digest, own in batch.items():
            if isinstance(own, str):
                self.undecoded[digest] = own
                self._tell(digest, Reply("", Status.SKIPPED, own))
                continue
            failed = [one for one in self.said.get(digest, {}).values() if one.status != OK]
            reason = "; ".join(f"{one.expert}: {one.error}" for one in failed)
            status = Status.FAILED if reason else Status.OK
            self._tell(digest, Reply(self._words(digest), status, reason or None))
        self._write()
        self._done += len(batch)
        self.context.progress("clips heard", self._done, len(self.clips))

    def _words(self, digest: str) -> str:
        """What experts said of a clip, for whoever looks on."""
        own = self.said.get(digest, {}).items()
        said = [f"{name} {json.dumps(dict(one.document))[:_SHOWN]}" for name, one in own]
        return f"{self.clips[digest].id}: {'; '.join(sorted(said))}"


def analysed(expert: Expert, clips: Sequence[ClipAudio]) -> list[Finding]:
    """What an expert says of clips; one that it fails on fails alone."""
    began = time.perf_counter()
    analyse_batch = getattr(expert, "analyse_batch", None)
    if analyse_batch is not None and len(clips) > 1:
        with suppress(Exception, SystemExit):  # which of them it was, each alone will tell
            said = list(analyse_batch(clips))
            seconds = (time.perf_counter() - began) / len(clips)
            pairs = zip(clips, said, strict=True)
            return [replace(_finding(expert, clip, one), seconds=seconds) for clip, one in pairs]
    found = []
    for clip in clips:
        began = time.perf_counter()
        try:
            made = _finding(expert, clip, expert.analyse(clip))
        except (Exception, SystemExit) as error:  # an expert is someone else's code
            reason = f"{failure_words(error)}{failure_place(error)}"
            own = (clip.clip.sha256, expert.name, experts.signature_of(expert))
            made = Finding(*own, FAILED, {}, reason)
        found.append(replace(made, seconds=time.perf_counter() - began))
    return found


def _finding(expert: Expert, clip: ClipAudio, said: Mapping[str, Any]) -> Finding:
    """What was said, as plain JSON; ValueError for what no finding can be."""

    def check(part: dict[str, Any]) -> dict[str, Any]:
        sure = part.get("confidence", 1)
        if not isinstance(sure, int | float) or not 0 <= sure <= 1:
            raise ValueError(f"it says a confidence of {sure!r:.40}, and not from 0 to 1")
        return part

    text = json.dumps(dict(said), allow_nan=False)
    if len(text) > _LARGEST:
        raise ValueError(f"it said {len(text):,} characters, more than {_LARGEST:,}")
    document = json.loads(text, object_hook=check)
    check_storable(document)
    return Finding(clip.clip.sha256, expert.name, experts.signature_of(expert), OK, document)


def _describe(
    context: StageContext, sources: Sequence[SourceClip], model: Model
) -> tuple[dict[str, dict[str, Finding]], float | None]:
    """What a model that hears says of each clip, by the hash of the clip, and what it cost."""
    (words, version), clips = prompt(DESCRIBE), {one.clip.sha256: one.clip for one in sources}
    asked = (dict.fromkeys(clips, words), clips, lambda _: DESCRIBE)
    questions = context.questions(f"describe/{version}", *asked)
    if not questions.samples:
        return {}, None
    what = "{} clips to describe"
    context.agree(context.asking.preview([questions], model, model.name, what))
    outcomes = context.asking.ask(questions, model, f"{model.name}: describe")
    signature = f"{DESCRIBE}|{model.name}, {json.dumps(dict(model.parameters), sort_keys=True)}"
    found = {}
    for digest, outcome in outcomes.items():
        reply, own = outcome.reply, (digest, DESCRIBE, signature)
        one = Finding(*own, OK, {"description": reply.text, "by": model.name})
        if reply.status is not Status.OK:
            one = Finding(*own, FAILED, {}, f"{reply.status}: {reply.error or 'no reason given'}")
        found[digest] = {DESCRIBE: replace(one, seconds=outcome.latency_s)}
    context.kept.add_findings(one[DESCRIBE] for one in found.values())
    return found, total_cost(one.reply.cost_usd for one in outcomes.values())
