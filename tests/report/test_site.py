"""The leaderboard site in a real browser: filtered, sorted, on any path and from a disk."""

import functools
import http.server
import json
import shlex
import shutil
import subprocess
import threading
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from audiocapbench.engine import score_run
from audiocapbench.report.site.pages import may_be_shared
from audiocapbench.store import Store
from browser import Opener, Visit, launched, visits
from command import COMMAND, run_command
from folders import write_folder, write_lines
from four_models import JUDGE, put_models
from made_store import MadeRun, made_samples, put_run
from needs import needs, needs_program
from printed import blocks
from printed import page as page_of
from report_pages import EVIL, shown_first
from site_files import changed, write_submissions


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with submissions and the site of them; one answer is hostile."""
    folder = tmp_path_factory.mktemp("site")
    alpha, *_ = write_submissions(folder)
    document = json.loads(alpha.read_text(encoding="utf-8"))
    answers = document["answers"]
    answers[0]["reply"]["text"] = EVIL
    # Only a judge's words stay: what metrics gave belongs to the answer as it was.
    scores = [one for one in document["scores"] if one["dimension"] is not None]
    changed(alpha, alpha, answers=answers, scores=scores)
    (folder / "board" / "site").mkdir(parents=True)
    done = build(folder, folder / "board" / "site")
    assert done.startswith(f"{folder / 'board' / 'site' / 'index.html'}: 4 models, 0.")
    return folder


def only(folder: Path, place: Path, *names: str) -> Path:
    """A folder with some of the submissions, which are sooner checked and shown than all."""
    (place / "submissions").mkdir()
    for name in names:
        shutil.copy(folder / "submissions" / f"{name}.json", place / "submissions")
    return place


def build(folder: Path, out: Path, *words: str) -> str:
    given = ("--submissions", str(folder / "submissions"), "--out", str(out))
    done = run_command("site", *given, "--title", "Our board", *words)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_many_problems_are_counted_and_the_first_are_told(tmp_path: Path) -> None:
    with Store.open(str(tmp_path / "runs.db")) as store:
        put_models(store)  # with scores of rouge_l that their answers do not give
    given = ("--runs", "1,2,3,4", "--store", str(tmp_path / "runs.db"))
    done = run_command("site", *given, "--out", str(tmp_path / "site"))
    assert done.returncode == 2
    count, *first = done.stderr.splitlines()
    assert count == "12 problems; nothing was written"
    assert [line.partition(": was made by ")[0] for line in first] == [
        "run 1: rouge_l",
        "run 1: rouge_l of sound",
        "run 1: rouge_l of music",
    ]
    assert all(line.endswith("(and 3 more of this kind)") for line in first)


@pytest.mark.slow
def test_a_site_is_the_same_each_time_and_old_pages_go(folder: Path, tmp_path: Path) -> None:
    site = folder / "board" / "site"
    pages = {one.relative_to(site): one.read_bytes() for one in site.rglob("*") if one.is_file()}
    out = tmp_path / "site"
    shutil.copytree(site, out)
    (out / "models" / "gone-00000000.html").write_text("old", encoding="utf-8")
    build(folder, out)
    assert {one.relative_to(out) for one in out.rglob("*") if one.is_file()} == set(pages)
    for name, content in pages.items():
        assert (out / name).read_bytes() == content
    board = json.loads(pages[Path("leaderboard.json")])["boards"][0]
    sent = json.loads((folder / "submissions" / "beta.json").read_text(encoding="utf-8"))
    begun = {one["begun"] for one in board["models"] if one["label"] == "acme/beta"}
    assert begun == {sent["created_at"][:16].replace("T", " ")}
    assert board["models"][0]["page"].split("-")[-2] in ("alpha", "beta")
    assert sum(map(len, pages.values())) < 900_000


def test_nothing_is_written_over_what_is_no_site(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine", encoding="utf-8")
    beta = folder / "submissions" / "beta.json"
    given = ("site", "--submissions", str(beta))
    done = run_command(*given, "--out", str(tmp_path))
    assert (done.returncode, "is not empty" in done.stderr) == (2, True)
    assert [one.name for one in tmp_path.iterdir()] == ["mine.txt"]
    wrong = changed(beta, tmp_path / "wrong.json", by="<b>")
    done = run_command(*given, "--submissions", str(wrong), "--out", str(tmp_path / "new"))
    assert (done.returncode, done.stderr.startswith(f"{wrong}: by: ")) == (2, True)
    assert not (tmp_path / "new").exists()
    (tmp_path / "file").write_text("")
    done = run_command(*given, "--out", str(tmp_path / "file"))
    assert (done.returncode, "file: Not a directory" in done.stderr) == (2, True)
    assert "Errno" not in done.stderr
    done = run_command("site", "--out", str(tmp_path / "new"))
    assert (done.returncode, "say what to show" in done.stderr) == (2, True)


def test_one_model_is_shown_once_and_others_of_its_name_by_their_authors(
    folder: Path, tmp_path: Path
) -> None:
    beta = folder / "submissions" / "beta.json"
    copy = changed(beta, tmp_path / "copy.json")
    words = ("--submissions", str(beta), "--submissions", str(copy))
    for command in (
        ("site", *words, "--out", str(tmp_path / "site")),
        ("site", "check", *words[1::2]),
    ):
        done = run_command(*command)
        assert done.returncode == 2
        assert "are of one model with the same settings" in done.stderr
    changed(beta, copy, by="Somebody else")
    done = run_command("site", *words, "--out", str(tmp_path / "site"))
    assert done.returncode == 0, done.stderr
    board = json.loads((tmp_path / "site" / "leaderboard.json").read_text())["boards"][0]
    names = {one["label"] for one in board["models"]}
    assert names == {"acme/beta (Team B)", "acme/beta (Somebody else)"}
    assert "acme/beta (Team B)" in shown_first(board)["verdict"]
    assert set(board["views"][""]["winners"]) == {None}


def test_runs_of_a_store_and_several_benchmarks_share_a_site(folder: Path, tmp_path: Path) -> None:
    store = ("--store", str(tmp_path / "runs.db"))
    run_command("run", "demo", "--model", "control/safe", "--limit", "12", *store)
    build(only(folder, tmp_path, "beta", "safe"), tmp_path / "site", "--runs", "1", *store)
    boards = json.loads((tmp_path / "site" / "leaderboard.json").read_text())["boards"]
    assert [(one["benchmark"], len(one["models"])) for one in boards] == [("made", 2), ("demo", 1)]
    done = run_command("site", "--runs", "1,x", "--out", str(tmp_path / "other"), *store)
    assert done.returncode == 2
    assert "x" in done.stderr
    assert not (tmp_path / "other").exists()


@pytest.fixture(scope="module")
def browser(folder: Path) -> Iterator[Any]:
    needs("playwright")
    yield from launched()


@pytest.fixture
def visit(browser: Any) -> Iterator[Opener]:
    yield from visits(browser)


@pytest.fixture
def page(folder: Path) -> str:
    return (folder / "board" / "site" / "index.html").as_uri()


def models(seen: Visit) -> list[str]:
    heads = seen.page.locator("#leaderboard .card >> nth=0 >> tbody th.model a.link")
    found: list[str] = heads.all_text_contents()
    return found


def counted(seen: Visit, words: str) -> None:
    seen.until(f"document.getElementById('count-models').textContent === {json.dumps(words)}")


def test_models_are_filtered_ranked_and_sorted(visit: Opener, page: str) -> None:
    seen = visit(page)
    shown = seen.page
    everyone = models(seen)
    assert set(everyone[:2]) == {"acme/alpha", "acme/beta"}
    assert len(everyone) == 4
    assert shown.locator("td.tie .lines i:not(.none)").count() >= 2
    assert "claimed" in shown.inner_text("tr:has-text('zeta/gamma')")
    shown.check("#no-controls")
    counted(seen, "3 of 4 models")
    seen.until(lambda: "control/safe" not in models(seen))
    shown.select_option("#weights", "closed")
    counted(seen, "1 of 4 models")
    seen.becomes(lambda: models(seen), ["acme/beta"])
    assert "controls=hidden" in shown.evaluate("location.href")
    shown.uncheck("#no-controls")
    shown.select_option("#weights", "")
    counted(seen, "")
    shown.fill("#find", "gamma")
    counted(seen, "1 of 4 models")
    seen.becomes(lambda: models(seen), ["zeta/gamma"])
    shown.fill("#find", "nobody")
    seen.says("#leaderboard", "No model fits")
    shown.fill("#find", "")
    counted(seen, "")
    shown.click("#leaderboard .card >> nth=0 >> button.sort >> text=model")
    seen.becomes(lambda: models(seen), sorted(everyone))
    shown.click("#leaderboard .card >> nth=0 >> button.sort >> text=rank")
    seen.becomes(lambda: models(seen), everyone)


def test_a_score_and_a_category_have_ranks_of_their_own(visit: Opener, page: str) -> None:
    seen = visit(page)
    seen.page.select_option("#rank", "rouge_l")
    seen.says("#leaderboard .lead", "Ranked by rouge_l, from 0 to 1")
    cells = seen.page.locator("#leaderboard .card >> nth=0 >> td.lead").all_inner_texts()
    values = [float(one.split()[0]) for one in cells]
    assert values == sorted(values, reverse=True)
    seen.says("#leaderboard .verdict", "rouge_l on 40 samples")
    seen.page.select_option("#part", "music")
    seen.says("#leaderboard .verdict", "rouge_l on 20 samples")
    assert "20/20" in seen.page.inner_text("#leaderboard .card >> nth=0")
    again = visit(seen.page.evaluate("location.href"))
    assert again.page.input_value("#part") == "music"
    assert again.page.input_value("#rank") == "rouge_l"
    assert models(again) == models(seen)


def test_samples_without_categories_are_offered_none(visit: Opener, tmp_path: Path) -> None:
    with Store.open(str(tmp_path / "runs.db")) as store:
        for name in ("a/one", "b/one"):
            score_run(store, put_run(store, MadeRun(name), made_samples(12)), ["rouge_l"])
    done = run_command("site", "--runs", "1,2", "--out", "site", "--store", "runs.db", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    seen = visit((tmp_path / "site" / "index.html").as_uri())
    assert len(models(seen)) == 2
    assert seen.page.locator("#part").count() == 0


def test_a_row_leads_to_its_page_and_back(visit: Opener, page: str) -> None:
    seen = visit(page)
    more = seen.page.locator("a", has_text="more").first
    assert more.get_attribute("href") == "https://example.org/a"
    assert "nofollow" in more.get_attribute("rel")
    seen.page.click("a.link >> text=acme/alpha >> nth=0")
    seen.says("h1", "acme/alpha")
    seen.says("#leaderboard", "By Team A, licence MIT, weights open")
    seen.says("#leaderboard .lead", "Who is better stands under “All models”.")
    assert seen.page.locator("#leaderboard .two h2").all_inner_texts() == ["Notes"]
    seen.page.click("#tab-explore")
    seen.counted("40 samples")
    assert seen.page.evaluate("window.hit") is None
    seen.page.click("#home")
    seen.says("h1", "Our board")
    seen.until(lambda: len(models(seen)) == 4)


def test_models_that_fit_and_how_they_were_made_are_shown(visit: Opener, page: str) -> None:
    seen = visit(f"{page}#leaderboard&controls=hidden")
    assert seen.page.locator("#leaderboard .board tbody tr").count() == 3
    seen.page.click("#tab-made")
    seen.says("#made h2", "Signatures")
    assert JUDGE in seen.page.inner_text("#made")


def test_it_works_under_a_path_and_asks_for_nothing_else(browser: Any, folder: Path) -> None:
    handler = functools.partial(QuietHandler, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}/board/site"
        opened = visits(browser, (f"{address}/",))
        seen = next(opened)(f"{address}/index.html")
        seen.page.click("a.link >> text=acme/beta >> nth=0")
        seen.page.wait_for_url(f"{address}/models/acme-beta-*")
        seen.says("h1", "acme/beta")
        seen.page.wait_for_selector("body[data-shown=leaderboard]")
        assert next(opened, None) is None
        server.shutdown()


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    """A web server of files, as any is."""

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


@pytest.mark.parametrize("width", [390, 1440])
def test_it_fits_a_phone_and_works_without_scripts(visit: Opener, page: str, width: int) -> None:
    seen = visit(page, viewport={"width": width, "height": 800})
    for address in (page, f"{page}#made"):
        seen.go(address)
        seen.until(f"document.documentElement.scrollWidth <= {width}")
    bare = visit(page, java_script_enabled=False)
    assert "Scripts are off" in bare.page.content()
    assert "acme/alpha" in bare.page.content()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_wrong(visit: Opener, page: str, scheme: str) -> None:
    needs_program("axe-core")
    seen = visit(page, color_scheme=scheme, bypass_csp=True)
    for tab in ("leaderboard", "made"):
        seen.go(f"{page}#{tab}")
        assert seen.violations() == [], tab


def test_the_recipes_for_hosts_are_whole_and_their_commands_run(
    folder: Path, tmp_path: Path
) -> None:
    yaml = needs("yaml")
    workflow, space = (yaml.safe_load_all(one) for one in blocks(page_of("docs/site.md"), "yaml"))
    jobs = next(workflow)["jobs"]
    commands = [step["run"] for step in jobs["check"]["steps"] if "run" in step]
    assert commands.pop(0) == "pip install audiocapbench"
    beta = only(folder, tmp_path, "beta") / "submissions" / "beta.json"
    dataset = json.loads(beta.read_text())["dataset"]
    for command in commands:
        words = shlex.split(command.replace("4abe9dfb5708", dataset[:12]))
        done = run_command(*words[1:], cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    uploaded = jobs["check"]["steps"][-1]
    assert (tmp_path / uploaded["with"]["path"] / "index.html").is_file()
    assert jobs["publish"]["needs"] == "check"
    settings = next(space)
    assert settings["sdk"] == "static"
    assert (tmp_path / "site" / settings["app_file"]).is_file()


def test_people_have_a_column_that_nothing_is_ranked_by(
    folder: Path, tmp_path: Path, visit: Opener
) -> None:
    rows = ["audio,caption_a,caption_b,preferred,person,model_a,model_b"]
    pairs = (
        ("acme/alpha", "acme/beta", "abbb"),
        ("acme/beta", "zeta/gamma", "aaab"),
        ("acme/alpha", "zeta/gamma", "aatb"),
    )
    for who, (clip, (one, other, said)) in product(range(6), product(range(8), pairs)):
        choice = {"a": "a", "b": "b", "t": "tie"}[said[(who + clip) % 4]]
        rows.append(f"{clip}.wav,x,y,{choice},person {who},{one},{other}")
    votes = tmp_path / "votes.csv"
    votes.write_text("\n".join(rows), encoding="utf-8")
    place = only(folder, tmp_path, "alpha", "beta", "gamma")
    build(place, tmp_path / "plain")
    build(place, tmp_path / "voted", "--votes", str(votes))
    plain, voted = (
        json.loads((tmp_path / name / "leaderboard.json").read_text(encoding="utf-8"))["boards"][0]
        for name in ("plain", "voted")
    )
    assert voted["scorers"][-1]["label"] == "people prefer"
    assert (voted["headline"], voted["models"]) == (plain["headline"], plain["models"])
    cells = shown_first(voted)["estimates"][-1]
    shares = dict(zip((one["label"] for one in voted["models"]), cells, strict=True))
    assert [round(one["n"]) for one in shares.values()] == [96] * 3
    assert all(one["interval"][0] < one["value"] < one["interval"][1] for one in shares.values())
    assert max(shares, key=lambda name: shares[name]["value"]) == "acme/beta"
    assert "by 144 votes of 6 raters" in voted["views"][""]["verdicts"][-1]
    score = voted["scorers"][voted["headline"]]["label"]
    agreed = f"It goes with {score} by Kendall's tau –, Spearman's rho –, over 2 models;"
    assert agreed in voted["boards"][-1]["note"], (
        "of the third there is what it claims, and no more"
    )
    index = tmp_path / "voted" / "index.html"
    assert "<td>96</td>" in index.read_text(encoding="utf-8"), "votes are no share of samples"
    seen = visit(f"{index.as_uri()}#leaderboard&rank=people%20prefer")
    row = seen.page.locator("#leaderboard tbody tr >> nth=0 >> td.num").all_inner_texts()
    assert "96" in row
    assert seen.page.locator("#leaderboard .spark").count() == 0, "nobody voted by category"
    (place / "submissions" / "beta.json").unlink()
    build(place, tmp_path / "two", "--votes", str(votes))
    (board,) = json.loads((tmp_path / "two" / "leaderboard.json").read_text("utf-8"))["boards"]
    (said,) = board["views"][""]["verdicts"][-1:]
    assert "acme/beta" not in said, "who is not on the board is not preferred there"
    assert "by 48 votes of 6 raters" in said
    votes.write_text("\n".join([rows[0], "0.wav,x,y,a,ana,who,what"]), encoding="utf-8")
    words = ("--submissions", str(place / "submissions"), "--out", str(tmp_path / "none"))
    done = run_command("site", *words, "--votes", str(votes))
    assert done.returncode, "votes on others say nothing of these"
    assert "of models that were voted on, such as what, who" in done.stderr


def test_clips_can_be_heard_where_the_keepers_data_have_a_licence_that_allows_it(
    tmp_path: Path, visit: Opener
) -> None:
    data = write_folder(tmp_path / "data", 3)
    rows = [json.loads(line) for line in (data / "metadata.jsonl").read_text().splitlines()]
    said = ("CC-BY-4.0", "CC-BY-NC-4.0", None)
    write_lines(data, [one | {"licence": own} for one, own in zip(rows, said, strict=True)])
    store, out = ("--store", str(tmp_path / "runs.db")), tmp_path / "site"
    # In a process of its own: a browser's loop is at work in this one.
    command = [*COMMAND, "run", str(data), "--model", "control/right", *store]
    subprocess.run(command, check=True, capture_output=True)
    site = ("site", "--runs", "1", *store, "--out", str(out))
    done = run_command(*site, "--clips", str(data))
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("MB, 1 clip can be heard\n")
    (clip,) = (out / "clips").iterdir()
    assert clip.read_bytes() == (data / "clips" / "0.wav").read_bytes()
    (page,) = (out / "models").glob("*.html")
    seen = visit(page.as_uri() + "#explore&clip=tone_0")
    seen.opened("tone_0")
    seen.page.locator("#clip h2").focus()
    seen.page.keyboard.press("p")
    seen.until("document.querySelector('#clip audio').currentTime > 0")
    assert seen.page.evaluate("document.querySelector('#clip audio').src").endswith(clip.name)
    seen.go(f"{page.as_uri()}#explore&clip=tone_1")
    seen.says("#clip", "its licence does not allow it, or is not known")
    own = out / "clips" / "ours.txt"
    own.write_text("not of the site", encoding="utf-8")
    assert run_command(*site).returncode == 0
    assert list((out / "clips").iterdir()) == [own]  # this site was told of no clips


@pytest.mark.parametrize(
    ("licence", "free"),
    [
        ("CC0-1.0", True),
        ("http://creativecommons.org/publicdomain/zero/1.0/", True),
        ("https://creativecommons.org/licenses/by/3.0/", True),
        ("CC BY-SA 4.0", True),
        ("Public domain", True),
        ("http://creativecommons.org/licenses/by-nc/3.0/", False),
        ("CC-BY-NC-4.0", False),
        ("CC-BY-ND-4.0", False),
        ("not CC0", False),
        ("unknown", False),
        (None, False),
        (7, False),
    ],
)
def test_only_licences_that_let_anybody_share_a_sound_do(licence: object, free: bool) -> None:
    assert may_be_shared(licence) is free
