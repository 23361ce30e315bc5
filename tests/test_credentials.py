"""Keys: found, never overridden, never shown."""

import os
from pathlib import Path

import pytest

from audiocapbench.credentials import credential, load_credentials, redacted
from audiocapbench.errors import AudioCapBenchError, ModelError


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    # setenv first, so that whatever a test loads is taken back at its end.
    for name in ("OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY", "HF_TOKEN"):
        monkeypatch.setenv(name, "x")
        monkeypatch.delenv(name)


def write(path: Path, text: str, mode: int = 0o600) -> Path:
    path.write_text(text)
    path.chmod(mode)
    return path


def test_a_file_fills_what_the_environment_lacks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", "from-the-shell")
    text = "# keys\nexport OPENAI_API_KEY='sk-one two'\nGEMINI_API_KEY = g-2 # mine\nHF_TOKEN=f\n"
    assert load_credentials(write(tmp_path / "credentials.env", text)) == []
    assert credential("OPENAI_API_KEY") == "sk-one two"
    assert credential("GEMINI_API_KEY", "GOOGLE_API_KEY") == "g-2"
    assert os.environ["HF_TOKEN"] == "from-the-shell"


def test_a_file_that_others_can_read_gets_a_warning(tmp_path: Path) -> None:
    path = write(tmp_path / "credentials.env", "OPENAI_API_KEY=k\n", 0o644)
    (warning,) = load_credentials(path)
    assert "can be read by others" in warning
    assert f"chmod 600 {path}" in warning


def test_a_bad_line_is_named_but_not_shown(tmp_path: Path) -> None:
    path = write(tmp_path / "credentials.env", "OPENAI_API_KEY=k\nsk-lost-secret\n")
    with pytest.raises(AudioCapBenchError, match="line 2: is not KEY=value") as error:
        load_credentials(path)
    assert "sk-lost-secret" not in str(error.value)
    with pytest.raises(AudioCapBenchError, match="cannot be read"):
        load_credentials(tmp_path / "nowhere.env")


def test_a_missing_key_says_what_to_do() -> None:
    with pytest.raises(ModelError, match="GEMINI_API_KEY or GOOGLE_API_KEY is not set; export it"):
        credential("GEMINI_API_KEY", "GOOGLE_API_KEY")


def test_known_keys_are_taken_out_of_any_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-abcdefghij")
    text = "Bearer sk-abcdefghij was refused for other-secret-1"
    assert redacted(text, ["other-secret-1"]) == "Bearer [secret] was refused for [secret]"
