"""The page about rating does as it says: every project opens, is rated, and every command runs."""

import random
from pathlib import Path

import pytest

from needs import needs

needs("uvicorn")

from audiocapbench.benchmarks.captioning import demo_clips
from printed import blocks, commands, lay_out, page, run
from rating_project import Rater, serving

PAGE = page("docs/rating.md")


def rate(project: Path) -> None:
    """All that are invited rate all that they are shown, each in a way of their own."""
    kind = project.stem
    with serving(project, arena=kind == "arena") as server:
        for name in filter(None, server.tokens):
            draw, rater = random.Random(name), Rater(server, name)
            while (found := rater.next())["state"] == "item":
                answer: dict[str, int] = {"choice": draw.randint(1, 2)}
                answer |= {} if kind == "arena" else {"confidence": draw.randint(1, 3)}
                if kind == "judge":
                    scales = ("accuracy", "completeness", "hallucination")
                    answer = {scale: draw.randint(4, 10) for scale in scales}
                elif kind == "rel":
                    answer = {"rel": draw.randint(2, 5)}
                elif kind == "pairs":  # all prefer the longer one
                    texts = found["item"]["captions"]
                    answer["choice"] = 1 if len(texts[0]) > len(texts[1]) else 2
                assert rater.save(found["item"], answer).status == 200


@pytest.mark.slow
def test_the_projects_of_the_page_are_rated_and_used_as_printed(tmp_path: Path) -> None:
    place = lay_out(tmp_path, "{}")
    (place / "demo-clips").symlink_to(demo_clips())
    for block in blocks(PAGE, "toml"):
        name = block.splitlines()[0].removeprefix("# ")
        (place / name).write_text(f"{block}listen = 0\n", encoding="utf-8")
    served = []
    for command in commands(PAGE, remote=False):
        if " view " in command:
            served.append(command.rpartition(" ")[2])
            rate(place / served[-1])
            continue
        done = run(place, command)
        assert done.returncode == 0, f"{command}: {done.stderr}"
        assert "Traceback" not in done.stderr
    assert served == ["pairs.toml", "arena.toml", "judge.toml", "rel.toml", "pick.toml"]
