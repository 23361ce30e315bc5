"""Providers are records: each setting is taken or refused, each fact is read from one place."""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from audiocapbench.credentials import redacted
from audiocapbench.errors import JudgeError, ModelError
from audiocapbench.judges import create_judge
from audiocapbench.judges.judge import ModelJudge
from audiocapbench.models import ModelSettings, create_model, list_models
from audiocapbench.models.model import SETTINGS, Provider
from audiocapbench.models.price import FREE
from audiocapbench.models.registry import built_in_providers, price_of
from fakes.entry_points import installed
from needs import needs

ROOT = Path(__file__).resolve().parents[2]
VALUES: dict[str, Any] = {
    "temperature": 0.7,
    "max_tokens": 9,
    "timeout": 5.0,
    "system": "You listen.",
}
NAMES = {
    "listener": "listener",
    "control": "control/safe",
    "openai-realtime": "openai-realtime/gpt-4o-realtime-preview",
    "dashscope": "dashscope/qwen-omni-turbo",
    "endpoint": "endpoint/m@http://127.0.0.1:1/v1",
}

MODULE = '''
from audiocapbench import AudioContract, ModelSettings, Provider, Reply, SimpleModel
from audiocapbench.models.price import FREE


class Bare:
    """Takes a name, and no settings."""

    contract = AudioContract("wav", rate=8000)
    price = FREE
    parameters = {}
    cacheable = False
    concurrency = 1

    def __init__(self, name):
        self.name = name

    async def answer(self, question):
        return Reply("A tone.")


class Taking(SimpleModel):
    """Takes a temperature."""

    contract = AudioContract("none")
    settings = ("temperature", "timeout")
    key_names = ("TAKING_SECRET",)

    async def answer(self, question):
        return Reply(f"At {self.given.temperature}, within {self.given.timeout_s:g} s.")


class Computing(Taking):
    """Its parameters cannot be set."""

    @property
    def parameters(self):
        return {"size": 2}


RECORD = Provider(
    "another name", "our own server", lambda name, settings: Taking(name, settings),
    contract=AudioContract("wav"), settings=("temperature", "max_tokens"), price=None,
)


class Odd(SimpleModel):
    """Declares a setting that there is not."""

    settings = ("top_p",)


class Hollow:
    """Has next to nothing."""

    def __init__(self, name):
        self.name = name


class Silent(SimpleModel):
    contract = AudioContract("none")


class Blocking(Silent):
    def answer(self, question):
        return Reply("")


class Wordy(Bare):
    contract = "wav"


def broken(name):
    raise RuntimeError("no weights")


nothing = 3
'''
ENTRIES = """
bare = "{module}:Bare"
taking = "{module}:Taking"
computing = "{module}:Computing"
record = "{module}:RECORD"
odd = "{module}:Odd"
hollow = "{module}:Hollow"
silent = "{module}:Silent"
blocking = "{module}:Blocking"
wordy = "{module}:Wordy"
broken = "{module}:broken"
nothing = "{module}:nothing"
absent = "{module}:Absent"
"""


@pytest.fixture
def plug_ins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with installed(tmp_path, monkeypatch, MODULE, ENTRIES):
        yield


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    keys = [name for provider in built_in_providers().values() for name in provider.key_names]
    for name in [*keys, "TAKING_SECRET"]:
        monkeypatch.setenv(name, f"key-of-{name}")


@pytest.mark.parametrize("provider", list(built_in_providers()))
@pytest.mark.parametrize("setting", SETTINGS)
def test_every_provider_takes_or_refuses_every_setting(
    provider: str, setting: str, tmp_path: Path
) -> None:
    record = built_in_providers()[provider]
    for package in record.packages:
        needs(package)
    if provider in ("local", "vllm"):
        from tiny_audio_models import qwen2_audio  # here: it needs torch, and the others do not

        name = f"{provider}/{qwen2_audio(tmp_path)}"
    else:
        name = NAMES.get(provider) or record.models[0].name
    settings = ModelSettings(**{setting: VALUES[setting]})
    if setting in record.settings:
        model = create_model(name, settings)
        assert setting == "timeout" or VALUES[setting] in model.parameters.values()
        return
    with pytest.raises(
        ModelError, match=f"^{re.escape(name)} takes no {setting}.*; it takes "
    ) as caught:
        create_model(name, settings)
    for taken in record.settings:
        assert taken in str(caught.value)


def test_a_refusal_names_all_that_is_refused_and_what_is_taken() -> None:
    with pytest.raises(ModelError) as caught:
        create_model("listener", ModelSettings(0.7, 9))
    assert str(caught.value) == "listener takes no temperature and no max_tokens; " + (
        "it takes no settings"
    )
    with pytest.raises(ModelError) as caught:
        create_model("gemini/gemini-2.5-flash", ModelSettings(system="Listen."))
    assert str(caught.value) == "gemini/gemini-2.5-flash takes no system prompt; " + (
        "it takes temperature, max_tokens, timeout"
    )


@pytest.mark.usefixtures("plug_ins")
def test_a_plug_in_takes_what_it_declares_and_refuses_the_rest() -> None:
    assert create_model("bare/x").name == "bare/x"
    with pytest.raises(ModelError, match="bare/x takes no temperature; it takes no settings"):
        create_model("bare/x", ModelSettings(temperature=0.7))
    with pytest.raises(ModelError, match="taking/x takes no system prompt; it takes temperature"):
        create_model("taking/x", ModelSettings(system="Listen."))
    with pytest.raises(ModelError, match="record/x takes no timeout; it takes temperature, max_"):
        create_model("record/x", ModelSettings(timeout=3.0))


@pytest.mark.usefixtures("plug_ins")
@pytest.mark.parametrize("plug_in", ["taking", "computing", "record"])
def test_what_a_plug_in_took_tells_its_answers_apart(plug_in: str) -> None:
    settings = ModelSettings(temperature=0.7)
    assert create_model(f"{plug_in}/x", settings).parameters["temperature"] == 0.7
    assert "temperature" not in create_model(f"{plug_in}/x").parameters
    defaults = ModelSettings(temperature=0.0, system="Not taken.")
    assert create_model(f"{plug_in}/x", None, defaults).parameters["temperature"] == 0.0
    if plug_in == "taking":
        assert "timeout" not in create_model("taking/x", ModelSettings(timeout=3.0)).parameters


def temperature_of(judge: str, settings: ModelSettings | None) -> object:
    made = create_judge(judge, settings=settings)
    assert isinstance(made, ModelJudge)
    return made.model.parameters["temperature"]


@pytest.mark.usefixtures("plug_ins")
def test_judges_pass_the_same_gate() -> None:
    settings = ModelSettings(temperature=0.7)
    assert create_judge("bare/x").name == "bare/x"
    assert temperature_of("taking/x", settings) == 0.7
    assert temperature_of("taking/x", None) == 0.0
    with pytest.raises(ModelError, match="bare/x takes no temperature"):
        create_judge("bare/x", settings=settings)
    with pytest.raises(JudgeError, match="elements takes no temperature; it takes options"):
        create_judge("elements", settings=settings)


@pytest.mark.usefixtures("plug_ins")
@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("odd/x", r"declares the settings \('top_p',\); a tuple of these is known: temperature"),
        (
            "hollow/x",
            "a Hollow without contract, parameters, cacheable, concurrency, answer;",
        ),
        ("hollow/x", "derive it from audiocapbench.SimpleModel, which has all but"),
        ("silent/x", "makes a Silent without answer"),
        ("blocking/x", "whose answer cannot be awaited; write 'async def answer'"),
        ("wordy/x", "declares the contract 'wav'; it is of type AudioContract, or left out"),
        ("broken/x", r"fails \(RuntimeError: no weights\)"),
        ("nothing/x", "is neither a class or function nor a Provider"),
        ("absent/x", "Absent fails"),
    ],
)
def test_a_faulty_plug_in_is_one_sentence_before_anything_is_asked(name: str, reason: str) -> None:
    with pytest.raises(ModelError, match=reason):
        create_model(name)


@pytest.mark.usefixtures("plug_ins")
def test_the_listing_reads_the_records_and_survives_a_faulty_plug_in() -> None:
    listed = {entry.name: entry for entry in list_models()}
    assert str(listed["bare/…"].contract) == "wav, 8000 Hz, mono"
    assert listed["taking/…"].settings == ("temperature", "timeout")
    assert listed["record/…"].description == "our own server"
    assert "Absent fails" in listed["absent/…"].description
    assert listed["gemini/…"].description == "Google Gemini; GEMINI_API_KEY, or VERTEX_PROJECT"
    for record in built_in_providers().values():
        for model in record.models:
            if model.description:
                assert listed[model.name].contract == (model.contract or record.contract)


def test_keys_of_every_provider_are_hidden_and_those_of_plug_ins_too(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for record in built_in_providers().values():
        for name in record.key_names:
            assert redacted(f"Bearer key-of-{name}.") == "Bearer [secret]."
    monkeypatch.setenv("NEWCOMER_API_KEY", "nc-0123456789")
    assert redacted("nc-0123456789 is refused") == "[secret] is refused"
    monkeypatch.setenv("TAKING_SECRET", "odd-name-0123")
    with installed(tmp_path, monkeypatch, MODULE, ENTRIES):
        create_model("taking/x")
        assert redacted("odd-name-0123 is refused") == "[secret] is refused"
        monkeypatch.delenv("TAKING_SECRET")
        with pytest.raises(ModelError, match="TAKING_SECRET is not set; export it"):
            create_model("taking/x")


@pytest.mark.usefixtures("plug_ins")
def test_prices_come_from_the_records() -> None:
    assert price_of("bare/x") is FREE
    assert price_of("taking/x") is None
    assert price_of("control/safe") is FREE
    for record in built_in_providers().values():
        for model in record.models:
            assert price_of(model.name) == (model.price or record.price)


def test_extras_exist_and_names_are_their_own() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    for name, record in built_in_providers().items():
        assert isinstance(record, Provider)
        assert record.name == name
        assert record.extra or not record.packages
        assert not record.extra or record.extra in extras
        assert all(model.name.partition("/")[0] == name for model in record.models)
