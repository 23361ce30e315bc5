"""A ClapModel small enough for tests, with random weights, saved as a real one would be."""

from pathlib import Path
from typing import Any

from needs import needs

needs("torch", "transformers", "tokenizers")

RATE = 8_000


def save_tiny_clap(folder: Path, seed: int = 0, *, fused: bool = False) -> Path:
    """Write model, feature extractor and tokenizer into a folder; nothing is downloaded."""
    import torch
    from transformers import ClapConfig, ClapFeatureExtractor, ClapModel

    audio = {
        "hidden_size": 32,
        "patch_embeds_hidden_size": 16,
        "depths": [1, 1],
        "num_attention_heads": [2, 2],
        "spec_size": 32,
        "window_size": 4,
        "num_mel_bins": 16,
        "num_hidden_layers": 2,
    }
    if fused:
        audio |= {
            "enable_fusion": True,
            "fusion_type": "aff_2d",
            "patch_embed_input_channels": 1,
        }
    text = {
        "vocab_size": 300,
        "hidden_size": 16,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "intermediate_size": 32,
        "max_position_embeddings": 80,
    }
    torch.manual_seed(seed)
    config = ClapConfig(text_config=text, audio_config=audio, projection_dim=24)
    model = ClapModel(config)
    with torch.no_grad():
        # Fresh weights are so small that all sounds look alike; make them tell sounds apart.
        for weights in model.parameters():
            if weights.ndim > 1:
                weights.normal_(0, 0.3)
    model.save_pretrained(folder)
    extractor = ClapFeatureExtractor(
        feature_size=16,
        sampling_rate=RATE,
        hop_length=1600,
        fft_window_size=512,
        frequency_max=4000,
        truncation="fusion" if fused else "rand_trunc",
    )
    extractor.save_pretrained(folder)
    _tokenizer().save_pretrained(folder)
    return folder


def pictures(log_mel: Any, waves: Any) -> Any:
    """Log-mel pictures of whole inputs, one a row."""
    count, length = waves.shape
    flat = waves.reshape(-1)
    return log_mel(flat, log_mel.frames(range(0, len(flat), length), [length] * count, len(flat)))


def _tokenizer() -> Any:
    """One token a byte: it reads any text and needs no vocabulary file."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    special = ["<s>", "<pad>", "</s>", "<unk>"]
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {token: number for number, token in enumerate([*special, *letters])}
    tokenizer = Tokenizer(models.BPE(vocabulary, [], unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0))
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        bos_token="<s>",
        pad_token="<pad>",
        eos_token="</s>",
        unk_token="<unk>",
        model_max_length=512,
    )
