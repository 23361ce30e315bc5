"""Open-weight models on this machine: asked by their own processors, in batches, offline."""

import base64
import json
import math
import pickle
import shutil
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from audiocapbench.audio import Waveform, wav
from audiocapbench.benchmarks import open_benchmark
from audiocapbench.data.outcome import Status
from audiocapbench.engine import run_benchmark
from audiocapbench.engine.retrying_client import prepare
from audiocapbench.errors import FatalError, ModelError
from audiocapbench.meta.pairs import CaptionPair
from audiocapbench.meta.scorers.scorer import PointwiseScorer, TrialSettings, create_scorer
from audiocapbench.models import ModelSettings, Question, SentAudio, create_model
from audiocapbench.models.model import RepeatedModel
from audiocapbench.models.probabilities import LOGPROBS, token_shares
from audiocapbench.models.registry import price_of
from audiocapbench.store import Store
from command import run_command
from folders import write_folder
from needs import needs

torch = needs("torch", "safetensors")
needs("transformers")

from audiocapbench.models.local import LocalModel
from tiny_audio_models import (
    ARCHITECTURES,
    NEEDS,
    in_hub_cache,
    qwen2_audio,
    says,
    text_only,
)

INSTRUCTION = "Describe what is heard."
VERDICT = '{"accuracy": 7, "completeness": 6, "hallucination": 8, "reasoning": "Close enough."}'


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Checkpoints by architecture, each made once."""
    root, made = tmp_path_factory.mktemp("checkpoints"), dict[str, Path]()

    def of(name: str) -> Path:
        if name in NEEDS:
            needs(NEEDS[name])
        if name not in made:
            (root / name).mkdir()
            torch.manual_seed(0)
            made[name] = ARCHITECTURES[name](root / name)
        return made[name]

    return of


def tone(seconds: float, hertz: float = 300.0) -> Any:
    times = np.arange(round(seconds * 16_000)) / 16_000
    return (0.3 * np.sin(2 * np.pi * hertz * times)).astype(np.float32)


def question(number: int, seconds: float | None, words: str = INSTRUCTION) -> Question:
    if seconds is None:
        return Question(str(number), words, None)
    clip = tone(seconds, 200.0 + 100 * number)
    sent = SentAudio(clip.tobytes(), "float32", 16_000, 1, seconds, "")
    return Question(str(number), words, sent)


def local(folder: Path, options: str = "", **settings: Any) -> LocalModel:
    given = ModelSettings(**{"max_tokens": 6, **settings})
    model = create_model(f"local/{folder}{options}", given)
    assert isinstance(model, LocalModel)
    return model


def directly(processor: Any, name: str) -> Any:
    """What a processor makes of a clip and an instruction, called as its model's card shows."""
    clip = tone(0.7, 200.0)
    if name == "granite-speech":
        text = [{"role": "user", "content": f"<|audio|>{INSTRUCTION}"}]
        prompt = processor.apply_chat_template(text, tokenize=False, add_generation_prompt=True)
        return processor(prompt, torch.from_numpy(clip)[None], return_tensors="pt")
    processor.chat_template = processor.chat_template or processor.tokenizer.chat_template
    sound: dict[str, Any] = {"type": "audio", "audio": clip}
    if name == "voxtral":
        file = wav(Waveform(clip[:, None], 16_000))
        sound = {"type": "audio", "base64": base64.b64encode(file).decode()}
    content = [sound, {"type": "text", "text": INSTRUCTION}]
    return processor.apply_chat_template(
        [[{"role": "user", "content": content}]],
        tokenize=True,
        add_generation_prompt=True,
        return_dict=True,
        return_tensors="pt",
    )


def processor_of(folder: Path, model: LocalModel) -> Any:
    """A checkpoint's processor as its card loads it; or, without torchvision, what hears."""
    from transformers import AutoFeatureExtractor, AutoProcessor

    if not isinstance(getattr(model.processor.processor, "image_processor", None), SimpleNamespace):
        return AutoProcessor.from_pretrained(folder)
    own = AutoFeatureExtractor.from_pretrained(folder).to_dict()
    assert model.processor._extractor.to_dict() == own
    return model.processor.processor


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_a_model_is_asked_exactly_as_its_processor_writes_it(
    name: str, checkpoint: Callable[[str], Path]
) -> None:
    model = local(checkpoint(name))
    asked: list[dict[str, Any]] = []
    network = model._loaded()
    generate = network.generate

    def spy(**given: Any) -> Any:
        asked.append(given)
        return generate(**given)

    network.generate = spy
    (reply,) = model.answer_many([question(0, 0.7)])
    wanted = directly(processor_of(checkpoint(name), model), name)
    for key, value in wanted.items():
        assert torch.equal(torch.as_tensor(value), asked[0][key]), key
    assert asked[0]["do_sample"] is False
    assert reply.input_tokens == wanted["input_ids"].shape[1]
    assert reply.status in (Status.OK, Status.TRUNCATED, Status.EMPTY)


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_a_batch_of_clips_of_any_length_answers_as_each_alone(
    name: str, checkpoint: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    model = local(checkpoint(name))
    asked = [question(0, 0.5), question(1, 1.6, "And what else?"), question(2, None)]
    asked += [question(3, 1.1), question(4, None, "Is it raining? Answer with one word.")]
    together = model.answer_many(asked)
    assert [model.answer_many([one])[0] for one in asked] == together
    assert len({one.text for one in together}) > 2
    monkeypatch.setattr(sys.modules[LocalModel.__module__], "_LARGE", 2)  # as large ones are
    assert model.answer_many(asked) == together


@pytest.mark.parametrize("name", ["qwen2-audio", "qwen3-omni"])
def test_the_probabilities_of_tokens_are_those_of_the_network(
    name: str, checkpoint: Callable[[str], Path]
) -> None:
    plain = local(checkpoint(name))
    model = plain.with_options(LOGPROBS)
    asked = [question(0, 0.7), question(1, 0.7)]
    replies = model.answer_many(asked)
    assert [one.text for one in replies] == [one.text for one in plain.answer_many(asked)]
    inputs, _, _ = model._prepare(asked[:1])
    with torch.inference_mode():
        (scores,) = model._loaded()(**inputs).logits[:, -1].float().softmax(-1)
    content = json.loads(replies[0].raw or "")["choices"][0]["logprobs"]["content"]
    assert len(content) == (replies[0].output_tokens or 0) - (
        replies[0].status is not Status.TRUNCATED
    )
    told = [math.exp(one["logprob"]) for one in content[0]["top_logprobs"]]
    assert told == pytest.approx(scores.topk(20).values.tolist(), rel=1e-3)
    words = model.processor.tokenizer
    likely = [one["token"] for one in content[0]["top_logprobs"]]
    assert likely[0] == content[0]["token"] == words.decode([int(scores.argmax())])
    assert model.parameters["top_logprobs"] == 20
    again = pickle.loads(pickle.dumps(model))  # as it travels to another machine
    assert (again.top, again.parameters) == (20, model.parameters)
    with pytest.raises(ModelError, match="takes no response_format"):
        plain.with_options({"response_format": {}})


@pytest.mark.parametrize("name", ["qwen2-audio"])
def test_the_run_command_answers_by_a_folder_of_weights(
    name: str, checkpoint: Callable[[str], Path], tmp_path: Path
) -> None:
    write_folder(tmp_path / "tones", 3)
    words = ("run", "tones", "--model", f"local/{checkpoint(name)}[batch=2]", "--max-tokens", "4")
    done = run_command(*words, "--metrics", "rouge_l", "--json", cwd=tmp_path)
    assert done.returncode in (0, 1), done.stderr
    (run,) = json.loads(done.stdout)["runs"]
    assert run["answered"] + sum(run.get("failures", {}).values() or [3 - run["answered"]]) == 3
    clips = open_benchmark(str(tmp_path / "tones")).samples
    model = local(checkpoint(name))
    sent = prepare(clips[0].clip, model.contract)
    assert sent is not None
    import soundfile

    decoded, _ = soundfile.read(clips[0].clip.path, dtype="float32")
    assert np.array_equal(np.frombuffer(sent.content, "<f4"), decoded)


def test_memory_that_runs_out_halves_the_batch_and_goes_on(
    checkpoint: Callable[[str], Path],
) -> None:
    model = local(checkpoint("qwen2-audio"), "[batch=8]")
    asked = [question(number, 0.2 + 0.05 * number) for number in range(8)]
    wanted = model.answer_many(asked)
    network, sizes = model._loaded(), list[int]()
    generate = network.generate

    def tight(**given: Any) -> Any:
        sizes.append(len(given["input_ids"]))
        if sizes[-1] > 3:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return generate(**given)

    network.generate = tight
    assert model.answer_many(asked) == wanted
    assert sizes == [8, 4, 2, 2, 2, 2]

    def none(**_: Any) -> Any:
        raise torch.OutOfMemoryError("CUDA out of memory")

    network.generate = none
    (failed,) = model.answer_many(asked[:1])
    assert failed.status is Status.FAILED
    assert "out of memory with this clip alone" in (failed.error or "")


def test_a_compiled_model_answers_as_any_in_batches_of_one_size(
    checkpoint: Callable[[str], Path],
) -> None:
    folder = checkpoint("qwen2-audio")
    asked = [question(number, 0.2 + 0.1 * number) for number in range(5)]
    model = local(folder, "[compile=yes,batch=4]")
    assert model.answer_many(asked) == local(folder, "[batch=1]").answer_many(asked)
    inputs, _, _ = model._prepare(asked[:1])
    assert inputs["input_ids"].shape[0] == 4
    assert inputs["input_ids"].shape[1] % 64 == 0
    assert model.parameters["compile"] is True
    assert "compile" not in local(folder).parameters
    assert (local(folder, "[compile=yes]").batch, local(folder).batch) == (32, 4)
    alone, sizes = model.answer_many(asked[:1]), list[int]()
    generate = model._loaded().generate

    def tight(**given: Any) -> Any:
        sizes.append(len(given["input_ids"]))
        if sizes[-1] > 1:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return generate(**given)

    model._loaded().generate = tight
    assert model.answer_many(asked[:1]) == alone  # memory did not hold what was filled up
    assert sizes == [4, 2, 1]


def test_an_answer_ends_at_its_end_and_is_truncated_or_empty_otherwise(
    checkpoint: Callable[[str], Path],
) -> None:
    model = local(checkpoint("qwen2-audio"))
    network = model._loaded()
    words = model.processor.tokenizer
    end = words.eos_token_id
    said = [words.encode("Rain."), [], words.encode("On and"), words.encode("  ")]

    def scripted(**given: Any) -> Any:
        rows = [*said[0], end], [end], said[2], [*said[3], end]
        longest = max(map(len, rows))
        padded = torch.tensor([row + [words.pad_token_id] * (longest - len(row)) for row in rows])
        return torch.cat([given["input_ids"], padded], dim=1)

    network.generate = scripted
    replies = model.answer_many([question(number, 0.3) for number in range(4)])
    assert [one.text for one in replies] == ["Rain.", "", "On and", ""]
    wanted = [Status.OK, Status.EMPTY, Status.TRUNCATED, Status.EMPTY]
    assert [one.status for one in replies] == wanted
    assert [one.output_tokens for one in replies][:2] == [6, 1]


def test_what_changes_the_answers_changes_the_parameters(
    checkpoint: Callable[[str], Path], tmp_path: Path
) -> None:
    folder = checkpoint("qwen2-audio")
    model = local(folder)
    assert model.parameters["dtype"] == "float32"
    assert model.parameters["device"] == "cpu"
    assert str(model.parameters["revision"]).startswith("sha256:")
    assert local(folder, "[dtype=bf16]").parameters != model.parameters
    other = tmp_path / "other"
    shutil.copytree(folder, other)
    assert local(other).parameters == model.parameters
    weights = bytearray((other / "model.safetensors").read_bytes())
    weights[-1] ^= 1
    (other / "model.safetensors").write_bytes(weights)
    assert local(other).parameters != model.parameters
    assert price_of(model.name) is not None


COMMIT = "0123456789abcdef0123456789abcdef01234567"


def test_a_model_of_the_hub_is_pinned_to_its_commit(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    folder = in_hub_cache(tmp_path / "hub", "Org/Name", COMMIT, qwen2_audio)
    model = create_model("local/Org/Name")
    assert model.parameters["revision"] == COMMIT
    pinned = create_model(f"local/Org/Name[revision={COMMIT},code=trust]")
    assert pinned.parameters == model.parameters
    index = {"weight_map": {"a": "model.safetensors", "b": "model-2.safetensors"}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    with pytest.raises(ModelError, match=r"model-2\.safetensors is missing"):
        create_model("local/Org/Name")


def test_weights_that_a_model_lacks_are_never_made_up(
    checkpoint: Callable[[str], Path], tmp_path: Path
) -> None:
    from safetensors.torch import load_file, save_file

    folder = tmp_path / "copy"
    shutil.copytree(checkpoint("qwen2-audio"), folder)
    weights = load_file(folder / "model.safetensors")
    weights.pop(next(key for key in weights if "multi_modal_projector" in key))
    save_file(weights, folder / "model.safetensors", {"format": "pt"})
    with pytest.raises(FatalError, match="weights are missing"):
        local(folder).answer_many([question(0, 0.3)])
    (folder / "model.safetensors").write_bytes(b"cut off")
    with pytest.raises(FatalError, match="cannot be loaded"):
        local(folder).answer_many([question(0, 0.3)])


def test_a_model_of_text_without_a_chat_template_is_refused_before_it_is_asked(
    checkpoint: Callable[[str], Path], tmp_path: Path
) -> None:
    (tmp_path / "config.json").write_text('{"model_type": "llama"}')
    (tmp_path / "model.safetensors").touch()
    shutil.copy(checkpoint("qwen2-audio") / "tokenizer.json", tmp_path)
    told = {"tokenizer_class": "PreTrainedTokenizerFast", "eos_token": "<|im_end|>"}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(told))
    with pytest.raises(ModelError, match="its chat template cannot ask"):
        local(tmp_path)
    (tmp_path / "chat_template.jinja").write_text("{{ messages[0].content }}")
    assert local(tmp_path).contract.container == "none"


def test_a_model_of_text_alone_answers_in_batches_as_it_does_one_by_one(tmp_path: Path) -> None:
    model = local(text_only(tmp_path))
    asked = [question(number, None, "So? " * (number + 1)) for number in range(3)]
    together = model.answer_many(asked)
    assert [model.answer_many([one])[0] for one in asked] == together
    words = [model.processor.prompt(model.processor.conversation(asked[2].instruction, None))]
    tokens = model.processor.tokenizer(words)["input_ids"][0]
    assert (together[2].input_tokens, together[2].audio_tokens) == (len(tokens), None)


def test_the_next_batch_is_prepared_while_the_device_has_one(
    checkpoint: Callable[[str], Path], tmp_path: Path
) -> None:
    write_folder(tmp_path / "tones", 6)
    model = local(checkpoint("qwen2-audio"), "[batch=2]")
    network, inputs = model._loaded(), model.processor.inputs
    generate, prepared, alone = network.generate, threading.Semaphore(0), list[int]()

    def watched(asked: Any) -> Any:
        made = inputs(asked)
        prepared.release()
        return made

    def patient(**given: Any) -> Any:
        # Its own tensors and, unless it is the last batch, those of the next are there.
        alone.append(len(given["input_ids"]))
        assert prepared.acquire(timeout=180)
        assert sum(alone) == 6 or prepared.acquire(timeout=180)
        prepared.release()
        return generate(**given)

    model.processor.inputs, network.generate = watched, patient  # type: ignore[method-assign]
    with Store.open(str(tmp_path / "store.db")) as store:
        end = run_benchmark(open_benchmark(str(tmp_path / "tones")), model, store)
    assert sum(end.statuses.values()) == 6
    assert not end.statuses["failed"]


def test_a_batch_beside_a_cards_leaves_most_cores_alone(
    checkpoint: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    threads = torch.get_num_threads()
    torch.set_num_threads(8)
    try:
        model, seen = local(checkpoint("qwen2-audio")), list[int]()
        prepare = model._prepare

        def watched(questions: Any) -> Any:
            seen.append(torch.get_num_threads())
            return prepare(questions)

        monkeypatch.setattr(model, "_prepare", watched)
        asked = [question(0, None, "So?")]
        model._answer(asked, threading.Event())
        model._answer(asked, threading.Event())
        model._is_on_card = True
        with suppress(ModelError):  # there may be no card
            model._answer(asked, threading.Event())
        assert seen == [8, 8, 2]
        assert torch.get_num_threads() == 8
    finally:
        torch.set_num_threads(threads)


def test_a_local_model_judges_and_compares_captions(tmp_path: Path) -> None:
    import csv

    write_folder(tmp_path / "tones", 4)
    for name, text in (("judge", VERDICT), ("chooser", "A")):
        (tmp_path / name).mkdir()
        says(tmp_path / name, text)
    words = ("run", "tones", "--model", "control/safe", "--judge", "local/./judge[batch=3]")
    done = run_command(*words, "--metrics", "rouge_l", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (run,) = json.loads(done.stdout)["runs"]
    assert "local/./judge[batch=3]" in json.dumps(run)
    with (tmp_path / "pairs.csv").open("w", newline="") as stream:
        table = csv.writer(stream)
        table.writerow(["audio", "caption_a", "caption_b", "preferred"])
        for number in range(4):
            pair = ["A tone hums.", "A dog barks.", "ab"[number % 2]]
            table.writerow([f"tones/clips/{number}.wav", *pair])
    words = ("meta", "csv", "--pairs", "pairs.csv", "--scorer", "model:local/./chooser[batch=2]")
    done = run_command(*words, "--data", ".", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["answers"]["first"] == 4


def test_a_local_model_rates_captions_by_the_probabilities_of_its_digits(tmp_path: Path) -> None:
    write_folder(tmp_path / "tones", 2)
    (tmp_path / "rater").mkdir()
    name = f"local/{says(tmp_path / 'rater', '7')}"
    (reply,) = local(tmp_path / "rater").with_options(LOGPROBS).answer_many([question(0, 0.3)])
    assert reply.text == "7"
    likely = token_shares(reply.raw or "")[0][1]
    digits = {int(one): share for one, share in likely.items() if one in "0123456789"}
    expected = sum(one * share for one, share in digits.items()) / sum(digits.values()) / 9
    settings = TrialSettings(store_url=str(tmp_path / "trial.db"), data=tmp_path)
    scorer = create_scorer(f"rate:{name}", settings)
    assert isinstance(scorer, PointwiseScorer)
    pair = CaptionPair("1", "tones/clips/0.wav", "A tone hums.", "A dog barks.", 0, "HM", "HM_1")
    scores = np.concatenate(scorer.score([pair]))
    assert scores == pytest.approx([expected, expected], rel=1e-5)
    assert scorer.latest.notes == ()
    settings.store.close()


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("Org/Missing", r"local/Org/Missing\[download=yes\], name a folder .* endpoint/Org"),
        ("Org/Missing[revision=abc]", "Org/Missing at abc is not on this machine"),
        ("nowhere", "there is no folder 'nowhere'"),
        ("Org/N[code=trust]", "pin what you have read"),
        ("Org/N[code=trust,revision=main]", "pin what you have read"),
        ("Org/N[size=3]", "has no option 'size'; it has revision"),
        ("Org/N[batch]", "'batch' is not an option; write option=value"),
        ("Org/N[batch=0,download=maybe]", "download is 'maybe'; it is no or yes"),
        ("Org/N[", "is not local/ORG/NAME"),
        ("", "names no model"),
        ("~nobody-of-this-name/x", "is no folder's name"),
        ("x" * 5000, "is no folder's name"),
        ("Org/N[batch=2,batch=3]", "batch is given twice"),
    ],
)
def test_a_model_that_cannot_be_had_is_said_with_what_to_do(
    written: str, said: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    with pytest.raises(ModelError, match=said):
        create_model(f"local/{written}")


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        ("model.safetensors", r"\*.safetensors is missing"),
        ("config.json", "config.json is missing"),
        ("processor_config.json", "cannot be loaded"),
        ("tokenizer.json", "cannot be loaded"),
        ("model.safetensors.index.json", "5 is missing"),
    ],
)
def test_a_folder_that_is_not_whole_is_refused_before_anything_is_asked(
    damage: str, said: str, checkpoint: Callable[[str], Path], tmp_path: Path
) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(checkpoint("qwen2-audio"), folder)
    if damage == "processor_config.json":
        (folder / damage).write_text("{")
    elif damage == "model.safetensors.index.json":
        (folder / damage).write_text('{"weight_map": {"a": 5}}')
    else:
        (folder / damage).unlink()
    with pytest.raises(ModelError, match=said):
        create_model(f"local/{folder}")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("[batch=0]", "batch is '0'"),
        ("[device=tpu]", "device is 'tpu'"),
        *(
            (f"[device={one}]", f"device is '{one}'")
            for one in ("cpu:x", "cpu:7", "split:2", "cuda:")
        ),
        ("[device=cuda:99]", "this machine has (no|[0-9]+) CUDA devices"),
        ("[dtype=int8]", "dtype is 'int8'"),
        ("[revision=abc]", "a folder has no revision"),
        ("[download=yes,code=no]", "code is 'no'"),
    ],
)
def test_options_that_make_no_sense_are_refused(
    options: str, said: str, checkpoint: Callable[[str], Path]
) -> None:
    with pytest.raises(ModelError, match=said):
        create_model(f"local/{checkpoint('qwen2-audio')}{options}")


def test_a_repeat_draws_other_words_and_the_same_ones_in_another_process(
    checkpoint: Callable[[str], Path],
) -> None:
    def drawn(repeat: int) -> list[str]:
        model = local(checkpoint("qwen2-audio"), temperature=1.5)
        again = RepeatedModel(model, repeat) if repeat else model
        if hasattr(again, "prepare"):  # as before every run
            again.prepare(())
        return [one.text for one in model.answer_many([question(0, 0.7), question(1, None)])]

    first, second = drawn(0), drawn(1)
    assert first == drawn(0)
    assert second == drawn(1)
    assert first != second
