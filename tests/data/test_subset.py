"""The published list of AudioCaps follows the rule that the paper states: the longest captions."""

import csv
from pathlib import Path

import pytest

from audiocapbench.benchmarks.captioning import load_audiocapbench
from audiocapbench.data.build import BuildSettings, build
from audiocapbench.data.build.audiocapbench import choose
from audiocapbench.data.build.hub import Hub
from audiocapbench.data.build.id_lists import MUSIC, SOURCES, SPEECH, read_id_lists
from audiocapbench.errors import DatasetError
from needs import needs


def _longest_first(pool: dict[str, str], count: int | None = None) -> list[str]:
    source = SOURCES[1]
    rows = {key: {"youtube_id": key, "sample_caption": text} for key, text in pool.items()}
    return [str(one["youtube_id"]) for one in choose(source, rows, 0, 2 * (count or len(pool)))]


def test_the_rule_gives_the_published_list_of_audiocaps(shared: Path) -> None:
    """The published pool is the 883 of the 975 test clips that could still be downloaded.

    Which 92 are gone is not recorded. Those that the rule would put before the last listed clip
    must be among them; without these, the rule has to give the list, ties and all.
    """
    with (shared / "audiocaps" / "test.csv").open(encoding="utf-8", newline="") as stream:
        pool: dict[str, str] = {}
        for row in csv.DictReader(stream):
            pool.setdefault(row["youtube_id"], row["caption"])
    entries = read_id_lists(shared / "audiocapbench")[1].entries
    published = [one.key for one in entries]
    assert [pool[one.key] for one in entries] == [one.fields["sample_caption"] for one in entries]
    ranked = _longest_first(pool)
    last = ranked.index(published[-1])
    gone = set(ranked[:last]) - set(published)
    assert len(gone) <= 975 - 883
    left = {key: text for key, text in pool.items() if key not in gone}
    assert _longest_first(left, 200) == published


def test_random_parts_depend_on_the_seed_and_the_names_alone() -> None:
    pool = {
        f"clip {number}": {"ytid": f"clip {number}", "sample_caption": "x" * (80 + number)}
        for number in range(300)
    }
    chosen = [one["ytid"] for one in choose(MUSIC, pool, 7, 40)]
    assert len(set(chosen)) == 40
    lengths = [len(str(pool[str(one)]["sample_caption"])) for one in chosen]
    assert min(lengths) >= 86
    assert max(lengths) <= 350
    backwards = dict(reversed(list(pool.items())))
    assert [one["ytid"] for one in choose(MUSIC, backwards, 7, 40)] == chosen
    assert [one["ytid"] for one in choose(MUSIC, pool, 8, 40)] != chosen
    with pytest.raises(DatasetError, match="speech: 400 clips are wanted, and 91 of the pool fit"):
        choose(SPEECH, pool, 7, 400)


def test_a_new_subset_is_drawn_built_and_not_drawn_again(tmp_path: Path) -> None:
    needs("pyarrow", "huggingface_hub")
    from fakes.hub_repositories import evaluation_list, long_captions, repositories
    from fakes.hub_server import HubServer

    settings = BuildSettings(new_subset=(3, 2))
    with HubServer(long_captions(repositories()) | evaluation_list()) as server:
        end = build(tmp_path / "out", settings, hub=Hub(server.url))
        assert (end.name, end.present, end.wanted) == ("audiocapbench-custom", 6, 6)
        benchmark = load_audiocapbench(tmp_path / "out")
        assert [one.category for one in benchmark.samples] == ["sound"] * 2 + ["music"] * 2 + [
            "speech"
        ] * 2
        lists = {path.name: path.read_bytes() for path in (tmp_path / "out" / "ids").iterdir()}
        again = build(tmp_path / "out", settings, hub=Hub(server.url))
        assert again.present == 6
        assert lists == {
            path.name: path.read_bytes() for path in (tmp_path / "out" / "ids").iterdir()
        }
        with pytest.raises(DatasetError, match="was drawn by 'seed 3, 2 a category'"):
            build(tmp_path / "out", BuildSettings(new_subset=(4, 2)), hub=Hub(server.url))
