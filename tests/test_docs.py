"""Every command and example of the documentation works as printed, and the site builds."""

import re
import runpy
import subprocess
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import pytest

from fakes.http_server import Request
from fakes.openai_batches import OpenAIBatchServer, completion
from needs import needs
from printed import ROOT, blocks, commands, install, lay_out, local_providers, page, run

PAGES = sorted(str(one.relative_to(ROOT)) for one in (ROOT / "docs").rglob("*.md"))
MONEY = "docs/money.md"
OWN_TESTS = [
    f"docs/{one}.md" for one in "certainty cluster extending local models rating money".split()
]
OWN_CLIPS = page("docs/benchmarks/your-own.md")
EXTENDING = page("docs/extending.md")


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder as a reader has it."""
    return lay_out(tmp_path, blocks(OWN_CLIPS, "json")[0])


@pytest.mark.slow
@pytest.mark.parametrize("name", [one for one in PAGES if one not in OWN_TESTS])
def test_the_offline_commands_of_a_page_run_one_after_another(
    place: Path, name: str, request: pytest.FixtureRequest
) -> None:
    local = commands(page(name), remote=False)
    for published in re.findall(r"--pairs (\S+\.json)", " ".join(local)):
        # Files that a reader downloads are real data, which is not part of the repository.
        shared: Path = request.getfixturevalue("shared")
        (place / published).symlink_to(next(shared.glob(f"*/{published}")))
    for tracker in re.findall(r"--track (\w+)", " ".join(local)):
        needs(tracker)
    if any(" figures " in one for one in local):
        needs("vl_convert")
    if any(" view" in one for one in local):
        needs("fastapi")
    if name == "docs/bridges.md":
        request.getfixturevalue("tables")
    for command in local:
        done = run(place, command)
        assert done.returncode == 0, f"{command}: {done.stderr}"
        assert "Traceback" not in done.stderr


@pytest.fixture
def tables(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A dataset of parquet that a reader has."""
    needs("pyarrow")
    from fakes.hub_repositories import tone
    from fakes.hub_server import parquet

    monkeypatch.setenv("XDG_CACHE_HOME", str(place / "cache"))
    rows = [
        {"audio": tone(n), "caption": "A tone.", "more": "It hums.", "name": f"tone {n}"}
        for n in range(2)
    ]
    (place / "my-dataset").mkdir()
    (place / "my-dataset" / "clips.parquet").write_bytes(parquet(rows))


@pytest.fixture
def providers(place: Path) -> Iterator[dict[str, str]]:
    with local_providers(place) as settings:
        yield settings


@pytest.mark.parametrize(
    "name", [one for one in PAGES if one != MONEY and commands(page(one), remote=True)]
)
def test_the_other_commands_run_against_local_servers(
    place: Path, providers: dict[str, str], name: str
) -> None:
    for command in commands(page(name), remote=True):
        # The published ID lists are on the internet; the tests' own stand in for them.
        lists = " --ids-dir ids" if "build audiocapbench" in command else ""
        done = run(place, command + lists, **providers)
        assert done.returncode == 0, f"{command}: {done.stderr}"


@pytest.mark.slow
def test_the_page_on_money_shows_prices_first_and_what_was_spent_then(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text, verdict = page(MONEY), '{"accuracy": 7, "completeness": 5, "hallucination": 9}'

    def reply(request: Request) -> dict[str, object]:
        return completion("A dog barks." if b"input_audio" in request.body else verdict)

    (tmp_path / "study.toml").write_text(blocks(text, "toml")[0])
    (tmp_path / "usage.csv").write_text("date,model,cost\n2026-11-01,gpt-audio,0.11\n")
    with OpenAIBatchServer(reply=reply) as server:
        shown, *others = commands(text, remote=True) + commands(text, remote=False)
        first = run(tmp_path, shown, **server.settings)
        assert (first.returncode, "nothing was asked" in first.stderr) == (2, True)
        assert blocks(text, "text")[0] in first.stderr
        assert not server.requests
        for command in others:
            done = run(tmp_path, command, **server.settings)
            assert done.returncode == 0, f"{command}: {done.stderr}"
        monkeypatch.chdir(tmp_path)
        for name, value in server.settings.items():
            monkeypatch.setenv(name, value)
        asked = len(server.requests)
        exec(compile(blocks(text, "python")[0], MONEY, "exec"), {})
    # What the commands asked is not asked again by the script, whose budget is the project's.
    assert len(server.requests) == asked
    assert " of 5.0 dollars" in (told := capsys.readouterr().out)
    assert "0.0000" not in told


@pytest.mark.slow
def test_the_examples_of_your_own_parts_work_together(place: Path) -> None:
    module = "\n".join(blocks(EXTENDING, "python"))
    install(place, module, blocks(EXTENDING, "toml")[0])
    printed = commands(EXTENDING, remote=False)
    ran, warm, duets, listed, judges, benchmarks, checked = (
        run(place, command) for command in printed
    )
    assert ran.returncode == 0, ran.stderr
    assert warm.returncode == 0, warm.stderr
    assert duets.returncode == 0, duets.stderr
    assert "the groups of Duet_Score" in duets.stdout
    assert "instruments named" in judges.stdout
    assert "options in brackets: clips" in " ".join(benchmarks.stdout.split())
    assert "shared_words" in ran.stdout
    assert "brevity" in ran.stdout
    assert "share of words that a reference has too" in " ".join(listed.stdout.split())
    for more in ("leaderboard", "report 1", "compare 1 1", "leaderboard --metric shared_words"):
        done = run(place, f"audiocapbench {more}")
        assert "Traceback" not in done.stderr, done.stderr
        assert done.returncode == (2 if "compare" in more else 0), done.stderr
    assert checked.returncode == 0, checked.stderr
    assert "does not" in " ".join((checked.stdout + checked.stderr).split())


@pytest.mark.parametrize("name", PAGES)
def test_links_lead_to_pages_that_exist(name: str) -> None:
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page(name)):
        assert "://" not in target, "the site asks nothing of the internet"
        assert (ROOT / name).parent.joinpath(target).resolve().is_file(), target


def test_every_page_is_in_the_navigation() -> None:
    listed = re.findall(r": ([\w/-]+\.md)$", page("mkdocs.yml"), flags=re.MULTILINE)
    assert sorted(f"docs/{one}" for one in listed) == PAGES


def test_what_pages_have_from_the_program_is_current() -> None:
    """The command line, the costs of the paper's table, and what elements makes of examples."""
    if metadata.version("typer").split(".")[1].zfill(3) < "029":
        pytest.skip("docs/cli.md is written with a newer Typer")
    needs("websockets")  # the paper's models are made, and two of them are heard through one
    for path, text in runpy.run_path(str(ROOT / "tools" / "write_docs.py"))["pages"]().items():
        assert path.read_text(encoding="utf-8") == text, f"{path.name} is not current: make docs"


def test_the_site_builds_without_a_warning(tmp_path: Path) -> None:
    for needed in ("mkdocs", "material", "mkdocstrings"):
        needs(needed)
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    reference = (tmp_path / "api" / "index.html").read_text()
    assert "Ask a model about a benchmark" in reference


# What stands after a program or an option, is not quoted, and has a bracket behind a letter.
UNQUOTED = re.compile(
    r"(?:\baudiocapbench|\bpipx?|\buvx?|\buv|--[a-z-]+)(?: [^\s'\"`]+)* [^\s'\"`{}\[]*[\w.]\[\w.*"
)


def test_brackets_are_quoted_wherever_a_shell_would_read_them() -> None:
    """An unquoted bracket is a pattern to zsh, which then runs nothing."""
    for odd in (
        "pip install -e .[hf]",
        "audiocapbench judges check o/x[hears=yes]",
        "--model l[a=b]",
    ):
        assert UNQUOTED.search(odd), odd
    for good in (
        "pip install -e '.[hf]'",
        "--engine ray[=ADDRESS]",
        "audiocapbench run X [OPTIONS]",
    ):
        assert not UNQUOTED.search(good), good
    files = [*ROOT.glob("*.md"), ROOT / "Makefile"]
    for folder, kinds in {"docs": ("md", "ipynb"), "src": ("py",), "tools": ("py",)}.items():
        files += [one for kind in kinds for one in (ROOT / folder).rglob(f"*.{kind}")]
    found = {str(path): UNQUOTED.findall(path.read_text("utf-8")) for path in files}
    assert {path: lines for path, lines in found.items() if lines} == {}
    blocks_of = {path: blocks(path.read_text("utf-8"), "sh") for path in files}
    lines = [
        (str(path), line.split(" #")[0])
        for path, given in blocks_of.items()
        for block in given
        for line in block.splitlines()
    ]
    # Patterns of any kind, not only brackets: *, ? and what follows a ~.
    bare = [(path, re.sub(r"'[^']*'|\"[^\"]*\"", "", line)) for path, line in lines]
    assert [(path, line) for path, line in bare if re.search(r"[\[\]*?~]", line)] == []


def test_a_clone_is_installed_from_where_it_is() -> None:
    """What is not published cannot be found by name, except where it is installed already."""
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        for block in re.findall(r"```sh\n(.*?)```", path.read_text("utf-8"), flags=re.DOTALL):
            assert not re.search(r"pip install ['\"]?audiocapbench", block), path
