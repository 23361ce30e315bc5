"""The first stage: experts hear every clip, and its domain is decided.

To the engine experts are one model, which is asked about every clip: each is decoded once for all
of them, the same command goes on after a kill, and several that hear the same clips share them.
"""

import json
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from itertools import chain
from typing import Any

from audiocapbench import audio
from audiocapbench.annotate import experts
from audiocapbench.annotate.experts import ClipAudio, DomainRules, Expert, ExpertPanel
from audiocapbench.annotate.stage import StageContext, StageResult, prompt
from audiocapbench.benchmarks.benchmark import trial_of
from audiocapbench.data.loose import SourceClip, list_audio
from audiocapbench.data.outcome import Reply, Status, total_cost
from audiocapbench.data.problems import check_storable
from audiocapbench.engine.runner import run_benchmark
from audiocapbench.errors import AnnotationError, AudioError
from audiocapbench.models import AudioContract, Model, Question
from audiocapbench.models.model import BatchModel
from audiocapbench.plugins import failure_place, failure_words
from audiocapbench.store.cache import AnnotationRepository, Finding, StageRecord

DESCRIBE = "describe"
OK, FAILED, NOT_RUN = "ok", "failed", "not_run"
_SHOWN, _LARGEST = 80, 200_000
_LONGEST_S = 600.0
"""What lasts longer is no clip that a caption describes, and would be heard for hours."""


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
    first, lost = dict[str, SourceClip](), dict[str, tuple[str, str]]()
    for one in clips:  # of several that are the same, the first counts
        if one.clip.duration_s > _LONGEST_S:
            length = f"{one.clip.duration_s:,.0f} s, more than {_LONGEST_S:g}"
            lost[one.id] = "too_long", f"lasts {length}; cut it first"
        elif first.setdefault(one.clip.sha256, one) is not one:
            lost[one.id] = "duplicate", f"the same bytes as {first[one.clip.sha256].id}"
    listeners, cost = _Panel(panel, rules, first, context.kept), None
    undecoded = {first[digest].id: why for digest, why in _heard(context, listeners, first).items()}
    lost |= {name: ("unreadable", why) for name, why in {**unreadable, **undecoded}.items()}
    good = [one for one in first.values() if one.id not in lost]
    if describe is not None:  # only what has a domain, as nothing else is merged
        wanted = [one for one in good if listeners.decide(one)[0]]
        cost = _describe(context, listeners, wanted, describe)
    records = [StageRecord(one, "hear", status, {}, why) for one, (status, why) in lost.items()]
    records += map(listeners.record, good)
    counts = {name: Counter({NOT_RUN: len(first)}) for name in panel.not_run}
    counts |= {name: Counter[str]() for name in listeners.signatures if name != experts.LISTENER}
    for finding in chain(*(listeners.said.get(digest, {}).values() for digest in first)):
        counts.setdefault(finding.expert, Counter())[finding.status] += 1
    shared = {"not_run": panel.not_run, "cost_usd": cost}
    settings = shared | {"experts": listeners.signatures, "thresholds": rules._asdict()}
    settings |= {"describe": describe.name if describe else None, "sample": sample}
    left_out = context.keep("hear", records, settings)
    domains = Counter(str(one.document["domain"]) for one in records if one.status == OK)
    document = shared | {
        "clips": len(records),
        "domains": dict(sorted(domains.items())),
        "experts": {name: dict(one) for name, one in counts.items()},
        "left_out": left_out,
        "skipped": dict(list_audio(context.root)[1]),
        "would_add": {n: what for n, what in experts.ADDS.items() if n not in listeners.signatures},
    }
    whole = all(one.status in (OK, "duplicate") for one in records)
    return StageResult(document, whole and not any(one[FAILED] for one in counts.values()))


class _Panel(BatchModel):
    """All experts as one model, which is asked about clips; on another machine set up anew.

    Its replies hold what they found. Here that is also kept batch by batch, whatever happens.
    """

    contract, verbatim, batch = AudioContract("file"), True, 16
    concurrency = batch  # that others may have their share

    def __init__(
        self,
        panel: ExpertPanel,
        rules: DomainRules,
        clips: Mapping[str, SourceClip],
        kept: AnnotationRepository,
    ) -> None:
        super().__init__("experts")
        self._names, self._experts = panel.names, panel.experts
        self._rules, self._clips = rules, clips
        self._kept: AnnotationRepository | None = kept
        self.signatures = {one.name: experts.signature_of(one) for one in panel.experts}
        self.said = kept.findings(self.signatures, list(clips))
        self.parameters = rules._asdict() | self.signatures

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"_experts": (), "_kept": None}

    def prepare(self, _: Any) -> None:
        """Set experts up; one that cannot be there is an error, as the others could be here."""
        if self._kept is None:
            panel = experts.set_up(self._names)
            if panel.not_run:
                raise AnnotationError("; ".join(panel.not_run.values()))
            self._experts = panel.experts

    def answer_many(self, questions: Sequence[Question]) -> list[Reply]:
        return [self._hear(one) for one in questions]

    def _hear(self, question: Question) -> Reply:
        """What experts find in a clip: first those for every clip, then those for its domain."""
        one, sent, new = self._clips[question.sample_id], question.audio, list[Finding]()
        said = self.said.setdefault(question.sample_id, {})
        if sent is not None and any(self._lacks(expert, one) for expert in self._experts):
            try:
                clip = ClipAudio(one.clip, audio.decode(sent.content))
            except AudioError as error:
                return Reply("", Status.SKIPPED, error.reason)
            for expert in sorted(self._experts, key=lambda expert: bool(expert.domains)):
                if self._lacks(expert, one):
                    said[expert.name] = analysed(expert, clip)
                    new.append(said[expert.name])
        if self._kept is not None:
            self._kept.add_findings(new)
        # In words, for whoever looks on, what is known of the clip.
        words = [f"{name} {json.dumps(dict(own.document))[:_SHOWN]}" for name, own in said.items()]
        text, raw = f"{one.id}: {'; '.join(sorted(words))}", json.dumps(list(map(asdict, new)))
        why = "; ".join(f"{name}: {own.error}" for name, own in said.items() if own.status != OK)
        return Reply(text, Status.FAILED if why else Status.OK, why or None, raw=raw)

    def _lacks(self, expert: Expert, one: SourceClip) -> bool:
        """Whether an expert has yet to hear a clip that concerns it; what failed is tried again."""
        known = self.said.get(one.clip.sha256, {}).get(expert.name)
        if known is not None and known.status == OK:
            return False
        if expert.name == experts.LISTENER:  # who decides what nobody has
            return one.about.get("domain") is None
        return not expert.domains or bool(set(expert.domains) & set(self.decide(one)[0] or ""))

    def decide(self, one: SourceClip) -> tuple[str | None, dict[str, Any], str]:
        """A clip's domain as far as it is known, its evidence, and why there is none."""
        said = self.said.get(one.clip.sha256, {})
        return experts.decide(said, self._rules, one.about.get("domain"))

    def record(self, one: SourceClip) -> StageRecord:
        """How a clip stands after the stage; its findings have a table of their own."""
        (domain, evidence, reason), said = self.decide(one), self.said.get(one.clip.sha256, {})
        document: dict[str, Any] = {
            "sha256": one.clip.sha256,
            "duration_s": one.clip.duration_s,
            "source": one.about.get("source") or one.id,
            "about": dict(one.about),
            "domain": domain,
            "evidence": evidence,
            "experts": {
                name: {"signature": own.signature, "status": own.status}
                | ({"error": own.error} if own.error else {})
                for name, own in sorted(said.items())
            },
        }
        return StageRecord(one.id, "hear", OK if domain else "no_domain", document, reason or None)


def _heard(context: StageContext, model: _Panel, clips: Mapping[str, SourceClip]) -> dict[str, str]:
    """Have all that is missing heard, here or on the cluster; why clips could not be.

    Commands that hear the same clips in the same way share one run.
    """
    if not clips:
        return {}
    sounds = {digest: one.clip for digest, one in clips.items()}
    domains = {digest: one.about.get("domain") or "any" for digest, one in clips.items()}
    questions = trial_of("annotate/hear", context.root, dict.fromkeys(clips, "-"), sounds, domains)
    watched = context.asking.watch("clips heard", len(clips))
    end = run_benchmark(questions, model, context.store, progress=watched)
    replies = {key: one.reply for key, one in context.store.outcomes(end.run.id).items()}
    found = (Finding(**one) for own in replies.values() for one in json.loads(own.raw or "[]"))
    elsewhere = (one for one in found if model.said.get(one.clip, {}).get(one.expert) != one)
    context.kept.add_findings(elsewhere)
    model.said |= context.kept.findings(model.signatures, list(clips))
    return {key: str(one.error) for key, one in replies.items() if one.raw is None}


def analysed(expert: Expert, clip: ClipAudio) -> Finding:
    """What an expert says of a clip, or that it fails on it: it is someone else's code."""
    began, own = time.perf_counter(), (clip.clip.sha256, expert.name, experts.signature_of(expert))
    try:
        found = Finding(*own, OK, _checked(expert.analyse(clip)))
    except (Exception, SystemExit) as error:
        found = Finding(*own, FAILED, {}, f"{failure_words(error)}{failure_place(error)}")
    return replace(found, seconds=time.perf_counter() - began)


def _checked(said: Mapping[str, Any]) -> dict[str, Any]:
    """What was said, as plain JSON; ValueError for what no finding can be."""

    def check(part: dict[str, Any]) -> dict[str, Any]:
        sure = part.get("confidence", 1)
        if not isinstance(sure, int | float) or not 0 <= sure <= 1:
            raise ValueError(f"it says a confidence of {sure!r:.40}, and not from 0 to 1")
        return part

    text = json.dumps(dict(said), allow_nan=False)
    if len(text) > _LARGEST:
        raise ValueError(f"it said {len(text):,} characters, more than {_LARGEST:,}")
    document: dict[str, Any] = json.loads(text, object_hook=check)
    check_storable(document)
    return document


def _describe(
    context: StageContext, listeners: _Panel, sources: Sequence[SourceClip], model: Model
) -> float | None:
    """Have a model that hears describe clips; what it cost."""
    (words, version), clips = prompt(DESCRIBE), {one.clip.sha256: one.clip for one in sources}
    asked, what = dict.fromkeys(clips, words), "{} clips to describe"
    name = f"annotate/{DESCRIBE}/{version}"
    outcomes = context.asking.ask_about(name, context.root, model, asked, clips, what)
    signature = f"{DESCRIBE}|{model.name}, {json.dumps(dict(model.parameters), sort_keys=True)}"
    found = []
    for digest, outcome in outcomes.items():
        reply, is_good = outcome.reply, outcome.reply.status is Status.OK
        said = {"description": reply.text, "by": model.name} if is_good else {}
        why = None if is_good else f"{reply.status}: {reply.error or 'no reason given'}"
        own = (digest, DESCRIBE, signature, OK if is_good else FAILED, said, why)
        found.append(Finding(*own, seconds=outcome.latency_s))
        listeners.said[digest][DESCRIBE] = found[-1]
    context.kept.add_findings(found)
    return total_cost(one.reply.cost_usd for one in outcomes.values())
