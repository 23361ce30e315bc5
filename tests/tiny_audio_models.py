"""Audio-language models small enough for tests: random weights, real classes and processors.

Tokenizers are made here (bytes, and the special tokens that a processor needs); chat templates are
written to the format of each model's card.
"""

import base64
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from needs import needs

needs("torch", "transformers", "tokenizers")

_CHATML = (
    "{% for message in messages %}<|im_start|>{{ message.role }}\n"
    "{% if message.content is string %}{{ message.content }}{% else %}"
    "{% for part in message.content %}{% if part.type == 'audio' %}AUDIO"
    "{% elif part.type == 'text' %}{{ part.text }}{% endif %}{% endfor %}{% endif %}"
    "<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
_TEXT = {
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 4096,
}
_WHISPER = {
    "num_mel_bins": 16,
    "encoder_layers": 1,
    "encoder_attention_heads": 2,
    "encoder_ffn_dim": 32,
    "d_model": 16,
    "max_source_positions": 1500,
}

_ENCODER = {
    "num_mel_bins": 16,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "intermediate_size": 32,
    "hidden_size": 16,
}
_WHISPER_OMNI = {**_WHISPER, "n_window": 50}
_VISION = {
    "depth": 1,
    "hidden_size": 16,
    "intermediate_size": 32,
    "num_heads": 2,
    "out_hidden_size": 32,
}
_AUDIO_TOKENS = {
    "audio_token": "<|AUDIO|>",
    "audio_bos_token": "<|audio_bos|>",
    "audio_eos_token": "<|audio_eos|>",
}
_IMAGE_TOKENS = {
    "image_token": "<|IMAGE|>",
    "video_token": "<|VIDEO|>",
    "vision_bos_token": "<|vision_bos|>",
    "vision_eos_token": "<|vision_eos|>",
}


def tokenizer(*special: str, **named: str) -> Any:
    """A tokenizer of bytes with special tokens, of which some have names."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    inner = Tokenizer(models.BPE({letter: number for number, letter in enumerate(letters)}, []))
    inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    inner.decoder = decoders.ByteLevel()
    own = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", *special, *named.values()]
    inner.add_special_tokens(own)
    return PreTrainedTokenizerFast(
        tokenizer_object=inner,
        eos_token="<|im_end|>",
        pad_token="<|endoftext|>",
        extra_special_tokens=named or None,
    )


def _whisper() -> Any:
    from transformers import WhisperFeatureExtractor

    return WhisperFeatureExtractor(feature_size=16)


def _saved(folder: Path, model: Any, processor: Any) -> Path:
    import torch

    with torch.no_grad():
        # Fresh weights hardly tell clips apart, and end an answer at once or never.
        for weights in model.parameters():
            if weights.ndim > 1:
                weights.normal_(0, 0.12)
    model.save_pretrained(folder)
    processor.save_pretrained(folder)
    return folder


def qwen2_audio(folder: Path) -> Path:
    """Qwen2-Audio."""
    from transformers import (
        Qwen2AudioConfig,
        Qwen2AudioForConditionalGeneration,
        Qwen2AudioProcessor,
    )

    words = tokenizer("<|AUDIO|>", "<|audio_bos|>", "<|audio_eos|>")
    config = Qwen2AudioConfig(
        audio_config=_WHISPER,
        text_config={"model_type": "qwen2", "vocab_size": len(words), **_TEXT},
        audio_token_index=words.convert_tokens_to_ids("<|AUDIO|>"),
    )
    template = _CHATML.replace("AUDIO", "Audio 1: <|audio_bos|><|AUDIO|><|audio_eos|>\n")
    processor = Qwen2AudioProcessor(_whisper(), words, chat_template=template)
    return _saved(folder, Qwen2AudioForConditionalGeneration(config), processor)


def text_only(folder: Path) -> Path:
    """A model that reads and hears nothing."""
    from transformers import LlamaConfig, LlamaForCausalLM

    words = tokenizer()
    words.chat_template = _CHATML
    return _saved(folder, LlamaForCausalLM(LlamaConfig(vocab_size=len(words), **_TEXT)), words)


def says(folder: Path, text: str) -> Path:
    """A Qwen2-Audio that answers everything with one text: a token of its own, and the end."""
    import torch
    from transformers import AutoProcessor, Qwen2AudioForConditionalGeneration

    qwen2_audio(folder)
    processor = AutoProcessor.from_pretrained(folder)
    words = processor.tokenizer
    words.add_tokens([text])
    model = Qwen2AudioForConditionalGeneration.from_pretrained(folder)
    model.resize_token_embeddings(len(words))
    begins, whole = words.convert_tokens_to_ids(["\u010a", text])  # what a prompt ends with
    with torch.no_grad():
        for name, weights in model.named_parameters():
            if name.endswith(("o_proj.weight", "down_proj.weight")):
                weights.zero_()  # what is said depends on the last token alone
        spoken, heard = model.get_output_embeddings().weight, model.get_input_embeddings().weight
        heard.zero_()[:, 2] = spoken.zero_()[words.eos_token_id, 1] = 1
        heard[[begins, whole]] = 0
        heard[begins, 0] = heard[whole, 1] = spoken[whole, 0] = 1
        spoken[words.eos_token_id, 2] = 1
    model.save_pretrained(folder)
    processor.save_pretrained(folder)
    return folder


def in_hub_cache(cache: Path, repository: str, commit: str, make: Callable[[Path], Path]) -> Path:
    """A checkpoint as a download leaves it."""
    root = cache / f"models--{repository.replace('/', '--')}"
    (root / "refs").mkdir(parents=True)
    (root / "refs" / "main").write_text(commit)
    folder = root / "snapshots" / commit
    folder.mkdir(parents=True)
    return make(folder)


def audio_flamingo(folder: Path) -> Path:
    """Audio Flamingo 3."""
    from transformers import (
        AudioFlamingo3Config,
        AudioFlamingo3ForConditionalGeneration,
        AudioFlamingo3Processor,
    )

    words = tokenizer("<sound>")
    config = AudioFlamingo3Config(
        audio_config=_ENCODER,
        text_config={"model_type": "qwen2", "vocab_size": len(words), **_TEXT},
        audio_token_id=words.convert_tokens_to_ids("<sound>"),
    )
    template = _CHATML.replace("AUDIO", "<sound>")
    processor = AudioFlamingo3Processor(_whisper(), words, chat_template=template)
    return _saved(folder, AudioFlamingo3ForConditionalGeneration(config), processor)


def music_flamingo(folder: Path) -> Path:
    """Music Flamingo."""
    from transformers import (
        MusicFlamingoConfig,
        MusicFlamingoForConditionalGeneration,
        MusicFlamingoProcessor,
    )

    words = tokenizer("<sound>", "<|sound_bos|>", "<|sound_eos|>")
    config = MusicFlamingoConfig(
        audio_config={"model_type": "audioflamingo3_encoder", **_ENCODER},
        text_config={"model_type": "qwen2", "vocab_size": len(words), **_TEXT},
        audio_token_id=words.convert_tokens_to_ids("<sound>"),
        audio_bos_token_id=words.convert_tokens_to_ids("<|sound_bos|>"),
        audio_eos_token_id=words.convert_tokens_to_ids("<|sound_eos|>"),
    )
    template = _CHATML.replace("AUDIO", "<sound>")
    processor = MusicFlamingoProcessor(_whisper(), words, chat_template=template)
    return _saved(folder, MusicFlamingoForConditionalGeneration(config), processor)


def glm_asr(folder: Path) -> Path:
    """GLM-ASR."""
    from transformers import GlmAsrConfig, GlmAsrForConditionalGeneration, GlmAsrProcessor

    words = tokenizer("<|pad|>", "<|begin_of_audio|>", "<|end_of_audio|>")
    config = GlmAsrConfig(
        audio_config={"model_type": "glmasr_encoder", **_ENCODER},
        text_config={"model_type": "llama", "vocab_size": len(words), **_TEXT},
        audio_token_id=words.convert_tokens_to_ids("<|pad|>"),
    )
    template = _CHATML.replace("AUDIO", "<|begin_of_audio|><|pad|><|end_of_audio|>")
    processor = GlmAsrProcessor(_whisper(), words, chat_template=template)
    return _saved(folder, GlmAsrForConditionalGeneration(config), processor)


def qwen3_asr(folder: Path) -> Path:
    """Qwen3-ASR, which hears and never only reads."""
    from transformers import (
        Qwen3ASRConfig,
        Qwen3ASRFeatureExtractor,
        Qwen3ASRForConditionalGeneration,
        Qwen3ASRProcessor,
    )

    words = tokenizer(**_AUDIO_TOKENS)
    config = Qwen3ASRConfig(
        audio_config={"downsample_hidden_size": 8, "output_dim": 32, **_WHISPER_OMNI},
        text_config={"model_type": "qwen3", "vocab_size": len(words), "head_dim": 8, **_TEXT},
        audio_token_id=words.convert_tokens_to_ids("<|AUDIO|>"),
        eos_token_id=words.eos_token_id,
        pad_token_id=words.pad_token_id,
    )
    template = _CHATML.replace("AUDIO", "<|audio_bos|><|AUDIO|><|audio_eos|>")
    extractor = Qwen3ASRFeatureExtractor(feature_size=16)
    processor = Qwen3ASRProcessor(extractor, words, chat_template=template)
    return _saved(folder, Qwen3ASRForConditionalGeneration(config), processor)


class _Published:
    """The parts of a processor that hear and read, saved beside what would see.

    As published, but without the library that what sees needs.
    """

    def __init__(self, kind: Any, hearing: Any, words: Any, template: str, seeing: Any) -> None:
        self._parts, self._kind, self._seeing = (hearing, words), kind, seeing
        words.chat_template = template

    def save_pretrained(self, folder: Path) -> None:
        for part in self._parts:
            part.save_pretrained(folder)
        path = folder / "preprocessor_config.json"
        whole = json.loads(path.read_text()) | {"processor_class": self._kind.__name__}
        path.write_text(json.dumps(whole | self._seeing))


def _omni_processor(kind: Any, words: Any) -> Any:
    template = _CHATML.replace("AUDIO", "<|audio_bos|><|AUDIO|><|audio_eos|>")
    seeing = {"image_processor_type": "Qwen2VLImageProcessor", "merge_size": 2, "patch_size": 14}
    return _Published(kind, _whisper(), words, template, seeing)


def _with_a_talker(folder: Path) -> Path:
    """As published: the config says that the model speaks, too."""
    path = folder / "config.json"
    config = json.loads(path.read_text())
    path.write_text(json.dumps(config | {"enable_audio_output": True}))
    return folder


def qwen2_5_omni(folder: Path) -> Path:
    """Qwen2.5-Omni."""
    import torch
    from transformers import (
        Qwen2_5OmniConfig,
        Qwen2_5OmniForConditionalGeneration,
        Qwen2_5OmniProcessor,
    )

    words = tokenizer(**_AUDIO_TOKENS, **_IMAGE_TOKENS)
    thinker = {
        "audio_config": {"output_dim": 32, **_WHISPER_OMNI},
        "vision_config": {**_VISION, "fullatt_block_indexes": [0], "window_size": 56},
        "text_config": {
            "vocab_size": len(words),
            "rope_parameters": {"rope_type": "default", "mrope_section": [2, 1, 1]},
            **_TEXT,
        },
        "audio_token_index": words.convert_tokens_to_ids("<|AUDIO|>"),
        "image_token_index": words.convert_tokens_to_ids("<|IMAGE|>"),
        "video_token_index": words.convert_tokens_to_ids("<|VIDEO|>"),
        "audio_start_token_id": words.convert_tokens_to_ids("<|audio_bos|>"),
        "audio_end_token_id": words.convert_tokens_to_ids("<|audio_eos|>"),
        "vision_start_token_id": words.convert_tokens_to_ids("<|vision_bos|>"),
    }
    config = Qwen2_5OmniConfig(thinker_config=thinker, enable_audio_output=False)
    processor = _omni_processor(Qwen2_5OmniProcessor, words)
    torch.save({}, folder / "spk_dict.pt")  # voices
    return _with_a_talker(_saved(folder, Qwen2_5OmniForConditionalGeneration(config), processor))


def qwen3_omni(folder: Path) -> Path:
    """Qwen3-Omni."""
    from transformers import (
        Qwen3OmniMoeConfig,
        Qwen3OmniMoeForConditionalGeneration,
        Qwen3OmniMoeProcessor,
    )

    words = tokenizer(**_AUDIO_TOKENS, **_IMAGE_TOKENS)
    thinker = {
        "audio_config": {"downsample_hidden_size": 8, "output_dim": 32, **_WHISPER_OMNI},
        "vision_config": {**_VISION, "num_position_embeddings": 16, "deepstack_visual_indexes": []},
        "text_config": {
            "vocab_size": len(words),
            "rope_parameters": {"rope_type": "default", "mrope_section": [2, 1, 1]},
            "head_dim": 8,
            "num_experts": 2,
            "num_experts_per_tok": 1,
            "moe_intermediate_size": 16,
            **_TEXT,
        },
        "audio_token_id": words.convert_tokens_to_ids("<|AUDIO|>"),
        "image_token_id": words.convert_tokens_to_ids("<|IMAGE|>"),
        "video_token_id": words.convert_tokens_to_ids("<|VIDEO|>"),
        "audio_start_token_id": words.convert_tokens_to_ids("<|audio_bos|>"),
        "vision_start_token_id": words.convert_tokens_to_ids("<|vision_bos|>"),
    }
    config = Qwen3OmniMoeConfig(thinker_config=thinker, enable_audio_output=False)
    processor = _omni_processor(Qwen3OmniMoeProcessor, words)
    return _with_a_talker(_saved(folder, Qwen3OmniMoeForConditionalGeneration(config), processor))


def granite_speech(folder: Path) -> Path:
    """Granite Speech, whose template knows text only: the clip's place is a token in it."""
    from transformers import (
        GraniteSpeechConfig,
        GraniteSpeechFeatureExtractor,
        GraniteSpeechForConditionalGeneration,
        GraniteSpeechProcessor,
    )

    words = tokenizer("<|audio|>")
    config = GraniteSpeechConfig(
        text_config={"model_type": "granite", "vocab_size": len(words), **_TEXT},
        encoder_config={
            "num_layers": 1,
            "hidden_dim": 16,
            "num_heads": 2,
            "dim_head": 8,
            "output_dim": 8,
        },
        projector_config={
            "model_type": "blip_2_qformer",
            "hidden_size": 16,
            "encoder_hidden_size": 16,
            "num_hidden_layers": 1,
            "num_attention_heads": 2,
            "intermediate_size": 32,
        },
        audio_token_index=words.convert_tokens_to_ids("<|audio|>"),
        has_lora_adapter=False,
    )
    template = (
        "{% for message in messages %}<|start_of_role|>{{ message['role'] }}<|end_of_role|>"
        "{{ message['content'] }}<|im_end|>\n{% endfor %}"
        "{% if add_generation_prompt %}<|start_of_role|>assistant<|end_of_role|>{% endif %}"
    )
    extractor = GraniteSpeechFeatureExtractor()
    processor = GraniteSpeechProcessor(extractor, words, chat_template=template)
    return _saved(folder, GraniteSpeechForConditionalGeneration(config), processor)


def phi4(folder: Path) -> Path:
    """Phi-4 multimodal."""
    from transformers import (
        Phi4MultimodalConfig,
        Phi4MultimodalFeatureExtractor,
        Phi4MultimodalForCausalLM,
        Phi4MultimodalProcessor,
    )

    words = tokenizer(image_token="<|image|>", audio_token="<|audio|>")
    config = Phi4MultimodalConfig(
        vocab_size=len(words),
        pad_token_id=words.pad_token_id,
        bos_token_id=words.pad_token_id,
        eos_token_id=words.eos_token_id,
        original_max_position_embeddings=4096,
        vision_config={
            "hidden_size": 16,
            "intermediate_size": 32,
            "num_hidden_layers": 2,
            "num_attention_heads": 2,
            "image_token_id": words.convert_tokens_to_ids("<|image|>"),
        },
        audio_config={
            "hidden_size": 16,
            "intermediate_size": 32,
            "num_blocks": 2,
            "num_attention_heads": 2,
            "ext_pw_out_channel": 16,
            "depthwise_separable_out_channel": 16,
            "nemo_conv_channels": 16,
            "audio_token_id": words.convert_tokens_to_ids("<|audio|>"),
        },
        **_TEXT,
    )
    template = (
        "{% for message in messages %}<|{{ message.role }}|>"
        "{% if message.content is string %}{{ message.content }}{% else %}"
        "{% for part in message.content %}{% if part.type == 'audio' %}<|audio|>"
        "{% elif part.type == 'text' %}{{ part.text }}{% endif %}{% endfor %}{% endif %}"
        "<|end|>{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}"
    )
    seeing = {"image_processor_type": "Phi4MultimodalImageProcessor"}
    hearing = Phi4MultimodalFeatureExtractor()
    processor = _Published(Phi4MultimodalProcessor, hearing, words, template, seeing)
    return _saved(folder, Phi4MultimodalForCausalLM(config), processor)


def voxtral(folder: Path) -> Path:
    """Voxtral, whose tokenizer is Mistral's own: bytes here, and its special tokens."""
    needs("mistral_common")
    from mistral_common.tokens.tokenizers.base import SpecialTokens
    from transformers import (
        MistralCommonBackend,
        VoxtralConfig,
        VoxtralForConditionalGeneration,
        VoxtralProcessor,
        WhisperFeatureExtractor,
    )

    special = list(SpecialTokens)
    letters = [base64.b64encode(bytes([number])).decode() for number in range(256)]
    window = {"num_mel_bins": 16, "hop_length": 160, "window_size": 400}
    hearing = {"sampling_rate": 16_000, "frame_rate": 12.5, "chunk_length_s": 30.0}
    whole = {
        "config": {
            "pattern": r"\s+|\S+",
            "num_vocab_tokens": 256,
            "default_vocab_size": 256 + len(special),
            "default_num_special_tokens": len(special),
            "version": "v7",
        },
        "vocab": [
            {"rank": rank, "token_bytes": one, "token_str": None}
            for rank, one in enumerate(letters)
        ],
        "special_tokens": [
            {"rank": rank, "token_str": one, "is_control": True} for rank, one in enumerate(special)
        ],
        "audio": {**hearing, "audio_encoding_config": window},
    }
    (folder / "tekken.json").write_text(json.dumps(whole))
    words = MistralCommonBackend.from_pretrained(folder)
    config = VoxtralConfig(
        audio_config={**_ENCODER, "hidden_size": 16, "intermediate_size": 64},
        text_config={"model_type": "llama", "vocab_size": words.vocab_size, "head_dim": 8, **_TEXT},
        audio_token_id=words.convert_tokens_to_ids("[AUDIO]"),
    )
    processor = VoxtralProcessor(WhisperFeatureExtractor(feature_size=16), words)
    return _saved(folder, VoxtralForConditionalGeneration(config), processor)


ARCHITECTURES: dict[str, Callable[[Path], Path]] = {
    "qwen2-audio": qwen2_audio,
    "audio-flamingo-3": audio_flamingo,
    "music-flamingo": music_flamingo,
    "glm-asr": glm_asr,
    "qwen3-asr": qwen3_asr,
    "qwen2.5-omni": qwen2_5_omni,
    "qwen3-omni": qwen3_omni,
    "granite-speech": granite_speech,
    "phi-4": phi4,
    "voxtral": voxtral,
}
NEEDS = {"granite-speech": "torchaudio", "voxtral": "mistral_common"}
"""Libraries that their processors need."""
