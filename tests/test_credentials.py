"""Keys: found, never overridden, never shown."""

import base64
import os
from pathlib import Path
from urllib.parse import quote, quote_plus, unquote

import pytest

from audiocapbench.credentials import HIDDEN, credential, known_secrets, load_credentials, without
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


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "credentials.env", "OPENAI_API_KEY=sk-\0lost\n")
    for odd in (path, tmp_path / "a\0b"):
        with pytest.raises(AudioCapBenchError, match="cannot be read") as error:
            load_credentials(odd)
        assert "lost" not in str(error.value)


def test_a_missing_key_says_what_to_do() -> None:
    with pytest.raises(ModelError, match="GEMINI_API_KEY or GOOGLE_API_KEY is not set; export it"):
        credential("GEMINI_API_KEY", "GOOGLE_API_KEY")


def test_known_keys_are_taken_out_of_any_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-abcdefghij")
    text = "Bearer sk-abcdefghij was refused for other-secret-1"
    assert (
        without(text, known_secrets() | {"other-secret-1"})
        == "Bearer [secret] was refused for [secret]"
    )


@pytest.mark.parametrize("key", ["sk-abcdefghij", "a1b2", "hunter2", "p@ss/w0rd+key=="])
def test_a_key_of_any_length_is_hidden_however_it_is_written(key: str) -> None:
    for text in (
        f"Bearer {key}",
        f'{{"api_key": "{key}"}}',
        f"https://host/v1?key={quote(key, safe='')}&x=1",
        f"https://me:{quote_plus(key)}@host/v1",
        f"the header x-goog-api-key: {key}.",
        f"{key} was refused",
    ):
        assert key not in unquote(without(text, [key])), text
        assert HIDDEN in without(text, [key]), text


def test_a_key_in_base64_is_hidden_wherever_it_begins() -> None:
    key = "sk-abcdefghij"
    for user in ("", "u:", "me:", "you:"):
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            text = without(f"Basic {encode(f'{user}{key}'.encode()).decode()}", [key])
            assert HIDDEN in text
            assert len(text) < len("Basic ") + len(HIDDEN) + 10


def test_a_key_that_may_be_a_word_is_hidden_only_where_keys_stand() -> None:
    said = "none of a dog barks; Bearer none; 'api_key': 'none'; http://x:none@h; nonessential"
    kept = "none of a dog barks; Bearer [secret]; 'api_key': '[secret]'; http://x:[secret]@h; "
    assert without(said, ["none"]) == f"{kept}nonessential"
    assert without("a dog and a cat, key: a", ["a"]) == "a dog and a cat, key: [secret]"
    assert without("k9 barks, k90 and xk9 not", ["k9x1"]) == "k9 barks, k90 and xk9 not"
    assert without("nothing to hide", [""]) == "nothing to hide"
