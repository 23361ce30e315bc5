"""What benchmarks are made of: counts, vocabulary, and the map."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from audiocapbench.benchmarks import open_benchmark
from audiocapbench.benchmarks.mecat.groups import DOMAINS
from audiocapbench.errors import ReportError
from audiocapbench.report.benchmark_reports import corpus_map, corpus_report, grouped
from command import run_command
from mecat_data import clips, write_references
from needs import needs


def test_counts_and_vocabulary_are_those_of_the_captions() -> None:
    demo = open_benchmark("demo")
    whole, *groups = corpus_report("demo", grouped([demo], "category"), "category").to_dict()[
        "groups"
    ]
    texts = [text for one in demo.samples for text in one.references]
    words = [re.findall(r"[a-z'-]+", text.lower()) for text in texts]
    assert (whole["clips"], whole["captions"]) == (30, 150)
    # A possessive is two tokens of the COCO tools, and one word of a simpler eye.
    assert whole["vocabulary"] == pytest.approx(
        len({word for one in words for word in one}), abs=20
    )
    assert whole["words_a_caption"]["value"] == pytest.approx(
        np.mean([len(one) for one in words]), abs=0.3
    )
    assert whole["minutes"]["value"] == pytest.approx(
        sum(one.clip.duration_s for one in demo.samples) / 60
    )
    assert {one["category"]: one["clips"] for one in groups} == {
        "mixed": 2, "music": 8, "silence": 2, "sound": 10, "speech": 8,
    }  # fmt: skip
    assert sum(one["share"]["value"] for one in groups) == pytest.approx(1.0)


def test_domains_of_mecat_are_counted_by_clip_without_audio(tmp_path: Path) -> None:
    made = clips(2) | {f"more_{n}": one for n, one in enumerate(clips(3, ("S00",)).values())}
    place = write_references(tmp_path, "caption", made)
    done = run_command("benchmarks", "show", f"mecat-caption={place}", "--by", "domain", "--json")
    whole, *domains = json.loads(done.stdout)["groups"]
    assert (whole["clips"], whole["minutes"]["value"]) == (19, None)
    assert {one["domain"]: one["clips"] for one in domains} == dict.fromkeys(DOMAINS, 2) | {
        "S00": 5
    }
    assert domains[4]["share"]["value"] == pytest.approx(5 / 19)


@pytest.mark.slow
def test_the_published_references_have_the_published_number_of_clips(shared: Path) -> None:
    done = run_command(
        "benchmarks", "show", f"mecat-caption={shared / 'mecat'}", "--by", "domain", "--json"
    )
    for one in json.loads(done.stdout)["groups"][1:]:
        assert one["clips"] == DOMAINS[one["domain"]]


def test_a_map_shows_every_sample_in_its_colour_and_is_the_same_twice(tmp_path: Path) -> None:
    needs("sklearn")
    samples = grouped([open_benchmark("demo")], "category")
    drawn, label = corpus_map(samples, "caption2vec")
    assert corpus_map(samples, "caption2vec")[0] == drawn
    assert drawn.count('r="2.2"') == 30
    assert [drawn.count(f'class="point c{n}"') for n in range(6)] == [1, 1, 1, 1, 1, 0]
    assert "30 samples, first captions by caption2vec@" in label
    with pytest.raises(ReportError, match="needs 5 samples"):
        corpus_map({"mixed": samples["mixed"]}, "caption2vec")
    (tmp_path / "refs.csv").write_text(
        "id,reference\n" + "".join(f"{n},a song number {n}\n" for n in range(9))
    )
    words = ("benchmarks", "show", "demo", "refs.csv", "--by", "benchmark", "--map", "both.svg")
    done = run_command(*words, "--sample", "6", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "both.svg").read_text().count('r="2.2"') == 12
    assert "12 samples" in done.stderr


def test_a_map_of_audio_is_of_clips(tmp_path: Path) -> None:
    for needed in ("sklearn", "torch", "transformers"):
        needs(needed)
    from tiny_clap import save_tiny_clap

    weights = save_tiny_clap(tmp_path / "weights")
    samples = grouped([open_benchmark("demo")], "category")
    encoder = f"clap[path={weights},device=cpu]"
    drawn, label = corpus_map(samples, encoder)
    assert drawn.count('r="2.2"') == 30
    assert "30 samples, audio by clap" in label


def test_an_unknown_field_or_benchmark_is_one_sentence(tmp_path: Path) -> None:
    wrong = run_command("benchmarks", "show", "demo", "--by", "colour", cwd=tmp_path)
    assert (wrong.returncode, "has no 'colour'; it has" in wrong.stderr) == (2, True)
    none = run_command("benchmarks", "show", "dmeo", cwd=tmp_path)
    assert none.returncode == 2
    assert "demo" in none.stderr
    listed = json.loads(run_command("benchmarks", "--json").stdout)
    assert "demo" in {one["name"] for one in listed["benchmarks"]}
