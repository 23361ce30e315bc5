"""Audio-language models small enough for tests: random weights, real classes and processors.

Tokenizers are made here (bytes, and the special tokens that a processor needs); chat templates are
written to the format of each model's card.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

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


def audio_flamingo(folder: Path) -> Path:
    """Audio Flamingo 3."""
    from transformers import (
        AudioFlamingo3Config,
        AudioFlamingo3ForConditionalGeneration,
        AudioFlamingo3Processor,
    )

    words = tokenizer("<sound>")
    config = AudioFlamingo3Config(
        audio_config={
            "num_mel_bins": 16,
            "num_hidden_layers": 1,
            "num_attention_heads": 2,
            "intermediate_size": 32,
            "hidden_size": 16,
        },
        text_config={"model_type": "qwen2", "vocab_size": len(words), **_TEXT},
        audio_token_id=words.convert_tokens_to_ids("<sound>"),
    )
    template = _CHATML.replace("AUDIO", "<sound>")
    processor = AudioFlamingo3Processor(_whisper(), words, chat_template=template)
    return _saved(folder, AudioFlamingo3ForConditionalGeneration(config), processor)


ARCHITECTURES: dict[str, Callable[[Path], Path]] = {
    "qwen2-audio": qwen2_audio,
    "audio-flamingo-3": audio_flamingo,
}
