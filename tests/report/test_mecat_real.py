"""The analyses on MECAT's own references, where they are at hand."""

import json
from pathlib import Path

import pytest

from audiocapbench.benchmarks.mecat.dataset import read_items
from audiocapbench.metrics.claims import claims
from audiocapbench.report.mecat.answers import answers_of_files, stability_report


def references(folder: Path, domain: str) -> list[dict[str, list[str]]]:
    lines = (folder / "mecat" / "caption_test" / f"{domain}.jsonl").read_text("utf-8").splitlines()
    return [fields for line in lines for fields in json.loads(line).values()]


def test_references_of_silent_clips_hardly_ever_claim_anything(shared: Path) -> None:
    kinds = ("long", "short", "speech", "music", "sound", "environment")
    texts = {
        kind: [text for one in references(shared, "000") for text in one[kind]] for kind in kinds
    }
    offending = {kind: sum(bool(claims(text)) for text in own) for kind, own in texts.items()}
    assert offending["speech"] == offending["music"] == offending["short"] == 0
    assert sum(offending.values()) < 0.01 * sum(map(len, texts.values()))


@pytest.mark.parametrize(
    ("domain", "kind", "least"), [("00A", "sound", 0.75), ("0M0", "music", 0.95)]
)
def test_references_claim_what_is_to_be_heard_as_often_as_the_note_says(
    shared: Path, domain: str, kind: str, least: float
) -> None:
    own = [one[kind] for one in references(shared, domain)[:900] if one[kind][0] != "None"]
    texts = [text for three in own for text in three]
    found = sum(kind in list(claims(text)) for text in texts)
    assert found >= least * len(texts)


@pytest.mark.slow
def test_the_spread_of_real_captions_shrinks_as_in_the_paper(shared: Path, tmp_path: Path) -> None:
    folder = shared / "mecat" / "caption_test"
    path = tmp_path / "sound.jsonl"
    lines = (folder / "00A.jsonl").read_text("utf-8").splitlines()[:300]
    with path.open("w") as stream:
        for line in lines:
            ((key, fields),) = json.loads(line).items()
            stream.write(json.dumps({key: fields["sound"][2]}) + "\n")
    (given,) = answers_of_files([str(path)], read_items("mecat-caption", folder / "00A.jsonl"))
    assert given.bad == ()
    report = stability_report(given, groups=["pure_sound"], rounds=20).to_dict()
    cv = [one["cv"] for one in report["groups"]["pure_sound"]["sizes"]]
    assert cv[-1] < 5 < cv[0]
    assert sum(given.asked.values()) == 6 * 848
