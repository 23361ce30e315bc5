"""A name that stands for nothing is answered with the one that was meant, and what there is."""

from pathlib import Path

import pytest

from audiocapbench.errors import AudioCapBenchError, did_you_mean
from audiocapbench.judges import create_judge
from audiocapbench.models import create_model
from command import run_command

RUN = ("run", "demo", "--model", "control/safe")


@pytest.mark.parametrize(
    ("words", "near"),
    [
        (("run", "demo", "--model", "listner"), "listener"),
        (("run", "demo", "--model", "Listener"), "listener"),
        (("run", "demo", "--model", "gpt-4o-audio-preview"), "openai/gpt-4o-audio-preview"),
        (("run", "demo", "--model", "opnai/gpt-4o-audio-preview"), "openai/gpt-4o-audio-preview"),
        (("run", "demo", "--model", "control/rigth"), "control/right"),
        ((*RUN, "--judge", "element"), "elements"),
        ((*RUN, "--judge", "Elements"), "elements"),
        ((*RUN, "--judge", "elements[encodr=minilm]"), "encoder"),
        ((*RUN, "--metrics", "ROUGE-L"), "rouge_l"),
        ((*RUN, "--metrics", "meteo"), "meteor"),
        ((*RUN, "--metrics", "date[encode=minilm]"), "encoder"),
        ((*RUN, "--metrics", "similarity[encoder=minilmm]"), "minilm"),
        ((*RUN, "--category", "Musik"), "music"),
        (("run", "dem", "--model", "control/safe"), "demo"),
        (("run", "mecat_caption", "--model", "control/safe"), "mecat-caption"),
        (("run", "mecat-caption[prompt=i1]", "--model", "control/safe", "--data", "."), "prompts"),
        (("figures", "1", "--format", "pgn"), "png"),
    ],
)
def test_a_slip_is_answered_with_what_was_meant(
    tmp_path: Path, words: tuple[str, ...], near: str
) -> None:
    said = run_command(*words, cwd=tmp_path)
    assert said.returncode == 2
    assert f"did you mean '{near}'?" in said.stderr
    assert "Traceback" not in said.stderr


def test_a_judge_that_is_none_is_not_called_a_model() -> None:
    with pytest.raises(AudioCapBenchError, match=r"there is no judge 'element'.*elements"):
        create_judge("element")


def test_what_two_names_share_before_a_slash_makes_them_no_more_alike() -> None:
    assert did_you_mean("control/left", ["control/right", "control/empty"]) == ""
    assert did_you_mean("openai/gpt-5", ["gemini/gpt-5"]) == " (did you mean 'gemini/gpt-5'?)"


@pytest.mark.parametrize("name", ["", " ", "/", "zzzzzz", "x" * 5000, "\udc80", "*", "ключ"])
def test_what_is_near_to_nothing_gets_no_guess(name: str) -> None:
    assert did_you_mean(name, ["rouge_l", "openai/gpt"]) == ""
    with pytest.raises(AudioCapBenchError):
        create_model(name)
