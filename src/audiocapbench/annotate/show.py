"""All that is known of one clip: how far it got, who said what, and whose words it has."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from audiocapbench.annotate.contract import Annotation
from audiocapbench.annotate.split import key_of, provenance
from audiocapbench.annotate.stage import StageContext
from audiocapbench.errors import AnnotationError, did_you_mean
from audiocapbench.store.annotations import STAGES


def clip_history(context: StageContext, name: str) -> dict[str, Any]:
    """The history of a clip, by its file's name or its key, as JSON.

    Raises:
        AnnotationError: The folder was not heard, or has no such clip.
    """
    context.heard()
    stages = {stage: context.kept.records(context.project, stage) for stage in STAGES}
    known = stages["hear"]
    clip = next((one for one in known if name in (one, key_of(one))), None)
    if clip is None:
        raise AnnotationError(f"there is no clip {name!r}{did_you_mean(name, known)}")
    heard, merged = known[clip], stages["merge"].get(clip)
    said = context.findings({clip: heard})[clip] if heard.document else {}
    found: dict[str, Any] = {
        "clip": clip,
        "stages": {
            stage: {"status": own[clip].status, "reason": own[clip].error}
            | (dict(own[clip].document) if stage in ("check", "split") else {})
            for stage, own in stages.items()
            if clip in own
        },
        "domain": heard.document.get("domain"),
        "evidence": heard.document.get("evidence"),
        "experts": {
            name: {"signature": one.signature, "status": one.status, "seconds": one.seconds}
            | ({"error": one.error} if one.error else {"said": dict(one.document)})
            for name, one in said.items()
        },
    }
    if merged is not None and merged.status == "ok":
        annotation = Annotation.model_validate(merged.document["annotation"])
        found["annotation"] = annotation.model_dump()
        found["provenance"] = provenance(annotation, said)
    return found


def history_lines(found: Mapping[str, Any]) -> Iterator[str]:
    """The same for people."""
    yield f"{found['clip']}: domain {found['domain'] or 'unknown'}"
    for stage, own in found["stages"].items():
        yield f"  {stage}: {': '.join(filter(None, (own['status'], own['reason'])))}"
    yield f"Domain by {json.dumps(found['evidence'], ensure_ascii=False)}"
    for name, own in found["experts"].items():
        said = own.get("error") or json.dumps(own["said"], ensure_ascii=False)
        yield f"{name} ({own['signature']}) {own['status']}: {said}"
    if "annotation" not in found:
        return
    why = found["provenance"]
    for view, texts in found["annotation"]["captions"].items():
        yield from (f"{view}:", *(f"  {text}" for text in texts))
        parts = [f"{word} ({', '.join(by)})" for word, by in why["words"].get(view, {}).items()]
        if parts:
            yield f"  said by experts: {', '.join(parts)}"
        if alone := why["model_only"].get(view):
            yield f"  the model's own words: {', '.join(alone)}"
    for one in found["annotation"]["questions"]:
        yield f"{one['category']}, {one['difficulty']}: {one['question']} {one['answer']}"
