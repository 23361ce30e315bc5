"""The commands of the page on local models work as printed."""

from pathlib import Path

import pytest

from needs import needs

needs("torch", "transformers", "accelerate")

from printed import blocks, commands, lay_out, page, run
from tiny_audio_models import in_hub_cache, says

LOCAL = page("docs/local.md")


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Checkpoints that a reader has, and one in the hub's cache, each of which says one thing."""
    place = lay_out(tmp_path, blocks(page("docs/benchmarks/your-own.md"), "json")[0])
    # They are slow even so: a few pairs show that they are asked.
    pairs = (place / "pairs.csv").read_text(encoding="utf-8").splitlines(keepends=True)
    (place / "pairs.csv").write_text("".join(pairs[:5]), encoding="utf-8")
    verdict = '{"accuracy": 7, "completeness": 6, "hallucination": 8, "reasoning": "Close."}'
    for folder, text in (("my-checkpoint", "Rain falls."), ("my-judge", verdict)):
        (place / folder).mkdir()
        says(place / folder, text)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(place / "hub"))
    known = ("Qwen/Qwen2-Audio-7B-Instruct", "0123456789abcdef0123456789abcdef01234567")
    in_hub_cache(place / "hub", *known, lambda one: says(one, "A piano plays."))
    return place


@pytest.mark.slow
def test_the_commands_of_the_page_run_one_after_another(place: Path) -> None:
    for command in commands(LOCAL, remote=False):
        done = run(place, command)
        assert done.returncode == 0, f"{command}: {done.stderr}"
        assert "Traceback" not in done.stderr
