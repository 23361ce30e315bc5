"""Windows of SLIDE-CLAP and crops of plain CLAP, held against plain loops."""

from itertools import cycle, islice

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from audiocapbench.errors import MetricError
from audiocapbench.metrics.clap import PRESETS, Cutting, Windows
from audiocapbench.metrics.clap.windows import Cut, loop_into

CLIP = "ab" * 32


def plain_starts(length: int, window: int, hop: int) -> list[int]:
    starts = [0]
    while starts[-1] + window < length:
        starts.append(starts[-1] + hop)
    return starts


def looped(cut: Cut, length: int) -> np.ndarray:
    row = np.full(length, np.nan, dtype=np.float32)
    loop_into(row, cut)
    return row


def slide(samples: np.ndarray, windows: Windows) -> np.ndarray:
    cutting = Cutting(windows)
    (view,) = cutting.views(samples, CLIP, cutting.settings)
    return np.stack([looped(cut, windows.input) for cut in view[1]])


@st.composite
def lengths(draw: st.DrawFn) -> Windows:
    hop = draw(st.integers(1, 12))
    window = draw(st.integers(hop, 30))
    return Windows(1, window, hop, draw(st.integers(window, 50)))


@given(lengths(), st.integers(1, 200))
def test_windows_are_those_of_a_plain_loop(windows: Windows, length: int) -> None:
    samples = np.arange(length, dtype=np.float32)
    expected = [
        list(islice(cycle(samples[start : start + windows.window]), windows.input))
        for start in plain_starts(length, windows.window, windows.hop)
    ]
    np.testing.assert_array_equal(slide(samples, windows), expected)


@given(lengths(), st.integers(1, 200))
def test_every_sample_is_in_a_window(windows: Windows, length: int) -> None:
    samples = np.arange(length, dtype=np.float32)
    assert set(slide(samples, windows).ravel()) == set(samples)


@pytest.mark.parametrize(
    ("length", "window", "hop", "starts"),
    [
        (10, 4, 2, [0, 2, 4, 6]),
        (11, 4, 2, [0, 2, 4, 6, 8]),
        (4, 4, 1, [0]),
        (3, 4, 1, [0]),
        (5, 4, 3, [0, 3]),
        (12, 4, 4, [0, 4, 8]),
    ],
)
def test_windows_step_until_the_end_is_covered(
    length: int, window: int, hop: int, starts: list[int]
) -> None:
    samples = np.arange(1, length + 1, dtype=np.float32)
    cut = slide(samples, Windows(1, window, hop, window))
    expected = [np.resize(samples[start : start + window], window) for start in starts]
    np.testing.assert_array_equal(cut, expected)


@pytest.mark.parametrize(
    ("model", "seconds", "starts"),
    [
        ("laion-clap", 10.0, [0, 1, 2, 3]),
        ("laion-clap", 7.0, [0]),
        ("laion-clap", 7.5, [0, 1]),
        ("ms-clap-2022", 10.0, [0, 1, 2, 3, 4, 5]),
        ("ms-clap-2023", 10.0, [0, 1, 2, 3]),
        ("m2d-clap", 10.0, [0]),
        ("m2d-clap", 0.1, [0]),
    ],
)
def test_published_windows_begin_where_they_should(
    model: str, seconds: float, starts: list[int]
) -> None:
    windows = PRESETS[model]
    found = windows.starts(round(seconds * windows.rate))
    assert [start / windows.rate for start in found] == starts


def test_laion_hears_seven_seconds_looped_to_ten() -> None:
    windows = PRESETS["laion-clap"]
    samples = np.random.default_rng(0).normal(size=10 * 48_000).astype(np.float32)
    cuts = slide(samples, windows)
    assert cuts.shape == (4, 480_000)
    np.testing.assert_array_equal(cuts[2, :336_000], samples[96_000:432_000])
    np.testing.assert_array_equal(cuts[2, 336_000:], samples[96_000:240_000])


@pytest.mark.parametrize(
    ("window", "hop", "taken"), [(5, 6, 10), (5, 0, 10), (0, 0, 10), (11, 1, 10), (-1, -2, 10)]
)
def test_windows_that_leave_something_out_are_refused(window: int, hop: int, taken: int) -> None:
    with pytest.raises(MetricError, match="do not suit a model that takes 10 s at 100 Hz"):
        Windows(100, window, hop, taken)


def crops(length: int, clip: str = CLIP, seeds: range = range(10)) -> dict[str, np.ndarray]:
    cutting = Cutting(Windows(10, 1, 1, 2), seeds)
    samples = np.arange(length, dtype=np.float32)
    found: dict[str, np.ndarray] = {}
    for settings, (cut,) in cutting.views(samples, clip, cutting.settings):
        assert cut.stop <= length
        found |= dict.fromkeys(settings, samples[cut.start : cut.stop])
    assert sorted(found) == sorted(cutting.settings)
    return found


def test_a_crop_is_a_piece_of_the_clip_and_begins_anywhere() -> None:
    found = crops(25, seeds=range(300))
    starts = {int(cut[0]) for cut in found.values()}
    assert starts == set(range(6))
    for cut in found.values():
        np.testing.assert_array_equal(cut, np.arange(cut[0], cut[0] + 20))


def test_a_crop_depends_on_seed_and_clip_alone() -> None:
    few, many = crops(5_000, seeds=range(3, 5)), crops(5_000)
    for setting, cut in few.items():
        np.testing.assert_array_equal(many[setting], cut)
    assert len({int(cut[0]) for cut in many.values()}) > 1
    other = crops(5_000, clip="cd" * 32)
    assert [cut[0] for cut in many.values()] != [cut[0] for cut in other.values()]


def test_a_short_clip_is_looped_and_is_one_view_for_all_seeds() -> None:
    cutting = Cutting(Windows(10, 1, 1, 2), range(10))
    samples = np.arange(7, dtype=np.float32)
    [(settings, (cut,))] = cutting.views(samples, CLIP, cutting.settings)
    assert settings == cutting.settings
    np.testing.assert_array_equal(looped(cut, 20), np.resize(np.arange(7), 20))


def test_only_what_is_wanted_is_cut() -> None:
    cutting = Cutting(Windows(10, 1, 1, 2), range(10))
    wanted = cutting.settings[3:5]
    views = list(cutting.views(np.arange(900, dtype=np.float32), CLIP, wanted))
    assert sorted(setting for settings, _ in views for setting in settings) == sorted(wanted)
    slides = Cutting(cutting.windows)
    assert not list(slides.views(np.arange(9, dtype=np.float32), CLIP, []))


def test_each_way_to_cut_has_a_name_of_its_own() -> None:
    plain = Windows(10, 2, 1, 3)
    ways: list[Cutting] = [
        Cutting(plain),
        Cutting(Windows(10, 1, 1, 3)),
        Cutting(Windows(10, 2, 2, 3)),
        Cutting(Windows(10, 2, 1, 4)),
        Cutting(Windows(20, 2, 1, 3)),
        Cutting(plain, range(2)),
        Cutting(Windows(20, 2, 1, 3), range(2)),
    ]
    names = [name for way in ways for name in way.settings]
    assert len(set(names)) == len(names) == 9
    assert Cutting(plain).settings == ("windows:slide|window:2|hop:1|input:3|rate:10",)
