"""``doctor`` says what works as using it would, and what brings the rest; it fetches nothing."""

import json
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from audiocapbench.library.doctor import EXTRAS, examine
from audiocapbench.metrics.registry import METRICS, PRESETS, chosen_metrics, refusal
from command import run_command
from needs import needs
from printed import ROOT

KEY = "sk-a-key-that-nobody-may-see"


def found() -> dict[tuple[str, str], dict[str, Any]]:
    return {(one["part"], one["name"]): one for one in examine().to_dict()["checks"]}


def test_its_extras_are_those_of_the_package_that_users_install() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    own = set(project["optional-dependencies"]) - {"test", "test-all", "docs", "check"}
    assert set(EXTRAS) == own


def test_what_works_is_what_use_would_not_refuse(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY", "VERTEX_PROJECT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("DASHSCOPE_API_KEY", KEY)
    before = set(sys.modules)
    checks = found()
    assert not {"torch", "transformers"} & (set(sys.modules) - before)
    assert KEY not in str(checks)
    parts = dict.fromkeys(part for part, _ in checks)
    assert list(parts) == "extras models metrics judges experts encoders formats keys".split()
    assert checks["models", "dashscope/…"]["works"]
    assert checks["models", "listener"]["works"]
    assert checks["models", "openai/…"]["command"] == "export OPENAI_API_KEY=…"
    assert not checks["keys", "OPENAI_API_KEY"]["works"]
    for name in METRICS:
        assert checks["metrics", name]["missing"] == refusal(name)
    assert checks["metrics", "fense"]["command"].startswith("curl -LO")
    assert not checks["metrics", "caf"]["works"]
    for one in checks.values():
        assert one["works"] == (not one["missing"])
        assert one["command"] or one["works"] or one["name"] in ("caf", "classify"), one


def test_an_extra_without_its_packages_is_brought_by_one_command(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    brought = {"formats": "av", "web": "fastapi", "sbert": "sentence_transformers"}
    for module in brought.values():
        monkeypatch.setitem(sys.modules, module, None)
    checks = found()
    for extra in brought:
        assert checks["extras", extra]["command"] == f"pip install 'audiocapbench[{extra}]'"
    assert checks["encoders", "tinybert"]["command"] == "pip install 'audiocapbench[sbert]'"
    assert not checks["formats", "audio: mp4 m4a aac webm wma and others"]["works"]


def test_what_is_installed_works_and_a_command_says_all_that_its_use_needs() -> None:
    checks = found()
    if not (tags := checks["experts", "tags"])["works"] and "download" in tags["command"]:
        assert tags["command"].endswith("--expert 'tags[trust=yes,download=yes]'")
    needs("pycocoevalcap")  # a package without a file of its own
    assert checks["extras", "coco"]["works"]


def test_the_command_prints_one_document_and_reads_credentials(tmp_path: Path) -> None:
    secrets = tmp_path / "credentials.env"
    secrets.write_text(f"OPENAI_API_KEY={KEY}\n")
    secrets.chmod(0o600)
    done = run_command("doctor", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert KEY not in done.stdout + done.stderr
    checks = {one["name"]: one for one in json.loads(done.stdout)["checks"]}
    assert checks["OPENAI_API_KEY"]["works"]
    printed = " ".join(run_command("doctor", cwd=tmp_path).stdout.split())
    assert "metrics: caf" in printed
    assert "Any model that works is a judge, too." in printed


def test_a_broken_part_is_named_and_hides_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(**_: str) -> None:
        raise RuntimeError("its wheel is for another machine")

    monkeypatch.setitem(METRICS, "vocab", METRICS["vocab"]._replace(prepare=broken))
    monkeypatch.setattr("audiocapbench.library.doctor.create_judge", broken)
    checks = found()
    assert "another machine" in checks["metrics", "vocab"]["missing"]
    assert not checks["judges", "elements"]["works"]
    assert checks["metrics", "meteor"]["works"]


def test_a_preset_says_what_it_goes_without(tmp_path: Path) -> None:
    names, lacking = chosen_metrics("aac,meteor")
    assert names[0] == "cider_d"
    assert names[-1] == "meteor"
    assert [one.split()[3] for one in lacking] == [one for one in PRESETS["aac"] if refusal(one)]
    assert "fense[detector=PATH]" in lacking[-1]
    for preset in ("paper", "offline"):
        assert chosen_metrics(preset) == (PRESETS[preset], [])
    given = tmp_path / "none.ckpt"
    _, lacking = chosen_metrics(f"aac[detector={given}]")
    assert f"There is no checkpoint at {given}" in lacking[-1]
    with pytest.raises(Exception, match="aac has no option 'rate'"):
        chosen_metrics("aac[rate=1]")
