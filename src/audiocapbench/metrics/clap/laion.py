"""LAION's CLAP by transformers' ClapModel, from a folder on disk; torch is loaded here."""

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import cached_property
from itertools import accumulate, groupby
from math import lcm
from pathlib import Path
from typing import Any

import numpy as np

from audiocapbench.audio import Samples
from audiocapbench.errors import MetricError
from audiocapbench.metrics.clap.resampling import Recorded, filters, resample
from audiocapbench.metrics.clap.windows import PRESETS, Cut, Sound, Windows, trimmed
from audiocapbench.metrics.encoders import encoder as encoders
from audiocapbench.models.checkpoint import loading, snapshot
from audiocapbench.plugins import require_packages

_DEFINING = (
    "config.json preprocessor_config.json processor_config.json tokenizer.json vocab.json "
    "merges.txt"
).split()
_TRIED, _LARGEST = 64, 512
_FRAMES = 1 << 15
_FLOOR = 1e-10

Frames = tuple[Any, Any]
"""The row of each frame of each cut, of those that cuts share and then the others; and of each of
the others, where its cut begins, how long that is, and where the centre of the frame is in it."""


class LogMel:
    """Log-mel pictures of looped cuts as a ClapFeatureExtractor makes them, on any device.

    In double precision, values equal the extractor's to within 1e-3 dB, also beside a loud tone.
    Cuts that begin a whole number of frames apart share the frames that lie wholly in them.
    """

    def __init__(self, extractor: Any, device: str, *, double: bool = True) -> None:
        import torch

        fused = extractor.truncation == "fusion"
        filters = extractor.mel_filters if fused else extractor.mel_filters_slaney
        self._length, self.hop = int(extractor.fft_window_size), int(extractor.hop_length)
        self._half, self._input = self._length // 2, int(extractor.nb_max_samples)
        # The first frame whose centre is a multiple of the hop begins here.
        self._offset = -self._half % self.hop
        self._device = device
        how: dict[str, Any] = {"dtype": torch.float64 if double else torch.float32}
        self._filters = torch.as_tensor(filters, device=device, **how)
        self._window = torch.hann_window(self._length, device=device, **how)
        self._around = torch.arange(self._length, device=device) - self._half
        # A fusion model looks at four pictures; those of a clip that fits are all the same.
        self._pictures = 4 if fused else 1

    def frames(self, starts: Sequence[int], lengths: Sequence[int], total: int) -> Frames:
        """Where the frames of cuts are found, of samples that lie one after another."""
        import torch

        first, sizes = np.array(starts), np.array(lengths)
        count = max(0, (total - self._offset - self._length) // self.hop + 1)
        centres = np.arange(0, self._input + 1, self.hop)
        rows, others = np.empty((len(first), len(centres)), np.int32), []
        fits = (centres >= self._half) & (centres + self._half <= self._input)
        for size, aligned in set(zip(lengths, first % self.hop == 0, strict=True)):
            own = np.flatnonzero((sizes == size) & ((first % self.hop == 0) == aligned))
            at = centres % size
            whole = fits & (at >= self._half) & (at + self._half <= size) & (at % self.hop == 0)
            rows[own] = (first[own] // self.hop)[:, None] + (at - self._half) // self.hop
            alone = np.flatnonzero(~(whole & aligned))
            cuts, frames = np.repeat(own, len(alone)), np.tile(alone, len(own))
            rows[cuts, frames] = np.arange(count, count + len(cuts))
            others.append(np.stack([first[cuts], sizes[cuts], centres[frames]]))
            count += len(cuts)
        return torch.from_numpy(rows), torch.from_numpy(np.concatenate(others, axis=1))

    def __call__(self, flat: Any, frames: Frames) -> Any:
        """Pictures of shape (cuts, pictures, frames, bands), of samples on the device."""
        import torch

        rows, others = frames
        found = []
        if len(flat) >= self._offset + self._length:
            shared = flat[self._offset :].unfold(0, self._length, self.hop)
            found += [self._decibels(some) for some in shared.split(_FRAMES)]
        for some in others.split(_FRAMES, dim=1):
            starts, lengths, centres = some.unsqueeze(-1)
            # The input is reflected at both of its ends, and the cut looped in it.
            at = (centres + self._around).abs()
            at = torch.minimum(at, 2 * (self._input - 1) - at)
            found.append(self._decibels(flat[starts + at % lengths]))
        return torch.cat(found)[rows.long()].unsqueeze(1).expand(-1, self._pictures, -1, -1)

    def _decibels(self, frames: Any) -> Any:
        import torch

        spectrum = torch.fft.rfft(frames.to(self._window.dtype) * self._window)
        power = torch.view_as_real(spectrum).square_().sum(-1)
        return (10 * torch.log10((power @ self._filters).clamp_min(_FLOOR))).float()


class LaionEncoder:
    """A ClapModel with no randomness left in it, on a processor or a GPU.

    A fusion model gets four equal pictures and fuses nothing; ClapFeatureExtractor would fuse one
    clip of a batch, chosen at random. ``bf16`` rounds the audio tower alone, never sentences. What
    is rounded is resampled on the device, too.
    """

    def __init__(
        self,
        name: str,
        weights: str,
        folder: Path,
        device: str = "cpu",
        precision: str = "exact",
        *,
        compiled: bool = False,
    ) -> None:
        import torch
        from transformers import AutoTokenizer, ClapFeatureExtractor, ClapModel

        # Other numbers, another model.
        rounded = "" if precision == "exact" else f"-{precision}"
        self.name, self.fingerprint = name, weights + rounded + ("-compiled" if compiled else "")
        self._device, self._precision, self._compiled = device, precision, compiled
        extractor = ClapFeatureExtractor.from_pretrained(folder, local_files_only=True)
        self._tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
        model, found = ClapModel.from_pretrained(
            folder, local_files_only=True, output_loading_info=True
        )
        # One whose file lacks weights would be filled with random numbers.
        if absent := set(found["missing_keys"]) & {key for key, _ in model.named_parameters()}:
            lacks = f"lacks {len(absent)} weights, such as {min(absent)}: fetch the folder again"
            raise MetricError(f"the CLAP model in {folder} {lacks}")
        self._model = model.float().eval().to(device)
        if precision == "bf16":
            _round_tower(self._model)
        self.resamples = precision != "exact"
        self._log_mel = LogMel(extractor, device, double=precision != "bf16")
        self._embed = torch.compile(self._pooled, dynamic=False) if compiled else self._pooled
        self._compiled_for = 0
        self._copies = torch.cuda.Stream() if device == "cuda" else None
        self.in_flight = 2 if device == "cuda" else 0
        self.dimensions = int(self._model.config.projection_dim)
        # LAION's published windows, at the rate and input length that this model has.
        published, rate = PRESETS["laion-clap"], int(extractor.sampling_rate)
        longest = extractor.nb_max_samples / rate
        window = min(published.window_s, longest)
        self.windows = Windows(rate, window, min(published.hop_s, window), longest)
        text = self._model.config.text_config
        places = text.max_position_embeddings - text.pad_token_id - 1
        self._longest = min(self._tokenizer.model_max_length, places)

    @cached_property
    def batch(self) -> int:
        """How many windows are embedded at once: what a GPU's memory holds, up to a bound."""
        if self._device == "cpu":
            return encoders.DEFAULT_BATCH
        length = self.windows.input

        def embed_silence(count: int) -> None:
            silence = [Cut(np.zeros(length, np.float32), 0, length) for _ in range(count)]
            self._begin(silence, self._pooled)()

        return encoders.count_that_fits(embed_silence, _TRIED, _LARGEST)

    def encode_audio(self, windows: Samples) -> encoders.Vectors:
        """Embed windows of shape (n, samples), at unit length."""
        return self.begin([Cut(window, 0, len(window)) for window in windows])()

    def begin(self, cuts: Sequence[Cut]) -> Callable[[], encoders.Vectors]:
        """Begin to embed cuts, looped to the input; what is returned waits for the embeddings."""
        import torch

        count = len(cuts)
        if self._compiled:
            # Each size is compiled by itself, for a minute: a smaller batch is filled up.
            self._compiled_for = max(count, self._compiled_for)
            cuts = [*cuts, *[cuts[-1]] * (self._compiled_for - count)]
        try:
            finish = self._begin(cuts, self._embed)
        except torch.cuda.OutOfMemoryError:
            self._compiled_for = 0
            raise
        return lambda: finish()[:count]

    def _begin(
        self, cuts: Sequence[Cut], embed: Callable[[Any], Any]
    ) -> Callable[[], encoders.Vectors]:
        import torch

        with encoders.computing(self._precision):
            found = embed(self._log_mel(*self._sent(cuts))).to("cpu", non_blocking=True)
            event = torch.cuda.Event() if self._copies else None
            if event:
                event.record()

        def finish() -> encoders.Vectors:
            # Until then the clips are still being copied from: this function holds them.
            if event and cuts:
                event.synchronize()
            return np.asarray(found)

        return finish

    def _sent(self, cuts: Sequence[Cut]) -> tuple[Any, Frames]:
        """Samples of the cuts on the device, each once, and where their frames are."""
        import torch

        clips: dict[tuple[int, ...], list[tuple[Sound, int]]] = defaultdict(list)
        ends: Counter[tuple[int, ...]] = Counter()
        places: list[tuple[tuple[int, ...], int]] = []
        for _, group in groupby(trimmed(cuts), key=lambda cut: id(cut.samples)):
            own = list(group)
            samples = own[0].samples
            kind = samples.kind if isinstance(samples, Recorded) else samples.shape[1:]
            clips[kind].append((samples, ends[kind]))
            places += [(kind, ends[kind] + cut.start) for cut in own]
            ends[kind] += _room(samples, self._log_mel.hop)
        first = dict(zip(ends, accumulate(ends.values(), initial=0), strict=False))
        starts = [first[kind] + start for kind, start in places]
        lengths = [cut.stop - cut.start for cut in cuts]
        frames = self._log_mel.frames(starts, lengths, ends.total())
        with torch.cuda.stream(self._copies) if self._copies else nullcontext():
            # First: what is not pinned would wait for all copies that are asked for before.
            rows, others = (one.to(self._device) for one in frames)
            parts = [self._placed(some, ends[kind]) for kind, some in clips.items()]
            flat = torch.cat(parts) if len(parts) > 1 else parts[0]
        if self._copies:
            torch.cuda.current_stream().wait_stream(self._copies)
            for tensor in (flat, rows, others):
                tensor.record_stream(torch.cuda.current_stream())
        return flat, (rows, others)

    def _placed(self, clips: Sequence[tuple[Sound, int]], total: int) -> Any:
        """Clips of one kind on the device at the model's rate, each from a given place on."""
        import torch

        if not isinstance(like := clips[0][0], Recorded):
            return self._mixed(clips, total)
        kept, step, reach = filters(like.source, like.rate)
        each = kept.shape[1]
        sent = [
            (one.frames, reach + place // each * step)
            for one, place in clips
            if isinstance(one, Recorded)
        ]
        with encoders.computing("exact"):
            weights = torch.from_numpy(kept).to(self._device, non_blocking=True)
            mono = self._mixed(sent, total // each * step + 2 * reach)
            return resample(mono, weights, step)

    def _mixed(self, clips: Sequence[tuple[Any, int]], total: int) -> Any:
        """Clips of one kind on the device, each from a given place on, as mono samples."""
        import torch

        like = torch.from_numpy(clips[0][0])
        sent = like.new_zeros((total, *like.shape[1:]), device=self._device)
        for samples, start in clips:
            part = sent[start : start + len(samples)]
            part.copy_(torch.from_numpy(samples), non_blocking=True)
        if sent.ndim == 1:
            return sent
        # The mean of one or two samples of 16 bits is exact, however it is reckoned.
        left, *right = sent.unbind(1)
        mono = left.float()
        for channel in right:
            mono += channel
        return mono.mul_(2**-15 / sent.shape[1])

    def _pooled(self, pictures: Any) -> Any:
        import torch

        alone = torch.zeros(len(pictures), 1, dtype=torch.bool, device=self._device)
        return _embeddings(self._model.get_audio_features(input_features=pictures, is_longer=alone))

    def encode_text(self, texts: list[str]) -> encoders.Vectors:
        """Embed sentences, at unit length; what is longer than the model reads is cut off."""
        tokens = self._tokenizer(
            texts, padding=True, truncation=True, max_length=self._longest, return_tensors="pt"
        )
        inputs = {key: tokens[key].to(self._device) for key in ("input_ids", "attention_mask")}
        with encoders.computing("exact"):
            return np.asarray(_embeddings(self._model.get_text_features(**inputs)).cpu())


def load_laion(
    name: str, repository: str, options: dict[str, str], device: str = "auto"
) -> LaionEncoder:
    """Load a model that ClapModel reads; the options that it knows are taken out of them."""
    precision, compiled = options.pop("precision", "exact"), yes_no(name, "compile", options)
    path, hub = options.pop("path", ""), options.pop("model", "")
    download = yes_no(name, "download", options)
    if path and hub:
        raise MetricError(f"{name}: give path or model, not both")
    require_packages(MetricError, "CLAP", "local", "torch", "transformers")
    repository = hub or repository
    folder = Path(path) if path else snapshot(repository, MetricError, download=download)
    if folder is None:
        raise MetricError(
            f"the CLAP model {repository} is not on this disk, and downloads are off: allow one "
            "with [download=yes], or name a folder that holds it with [path=FOLDER]; a metric of "
            "text alone, such as similarity, needs no download"
        )
    label = encoders.label_of(path or hub) if path or hub else name
    try:
        config = json.loads((folder / "config.json").read_bytes())
    except (OSError, ValueError):
        config = None
    if not isinstance(config, dict) or config.get("model_type") != "clap":
        raise MetricError(
            f"{folder} holds no CLAP model of transformers: its config.json is missing or is of "
            "another kind. Save one with ClapModel.save_pretrained and ClapProcessor's, or give "
            "the folder of a snapshot."
        )
    # What decides which numbers come out: weights, features, vocabulary.
    files = sorted(folder.glob("*.safetensors")) or sorted(folder.glob("pytorch_model*.bin"))
    files += [folder / file for file in _DEFINING if (folder / file).is_file()]
    chosen = encoders.choose_device(device)
    encoders.check_precision(name, precision, chosen)
    with loading("the CLAP model", folder, MetricError):
        weights = encoders.fingerprint(files)
        return LaionEncoder(label, weights, folder, chosen, precision, compiled=compiled)


def yes_no(name: str, key: str, options: dict[str, str]) -> bool:
    found = options.pop(key, "no")
    if found not in ("yes", "no"):
        raise MetricError(f"{name}: {key} is yes or no")
    return found == "yes"


def _round_tower(model: Any) -> None:
    """Give the audio tower weights of 7 bits; what goes in is normalized before, in 23."""
    import torch

    encoder = model.audio_model.audio_encoder
    for part in (encoder.patch_embed, encoder.layers, encoder.norm):
        part.bfloat16()
    kinds = {encoder.patch_embed: torch.bfloat16, model.audio_projection: torch.float}
    for part, kind in kinds.items():
        part.register_forward_pre_hook(lambda _, given, kind=kind: (given[0].to(kind), *given[1:]))


def _room(samples: Sound, hop: int) -> int:
    """How many samples a clip takes on the device, of whole hops, so that its cuts share frames.

    One that is resampled takes whole products too, and is as long behind as another is heard.
    """
    if not isinstance(samples, Recorded):
        return -(-len(samples) // hop) * hop
    weights, step, reach = filters(samples.source, samples.rate)
    each: int = weights.shape[1]
    products = -(-(len(samples.frames) + reach) // step)
    return -(-products * each // lcm(each, hop)) * lcm(each, hop)


def _embeddings(found: Any) -> Any:
    # transformers 4 returned the embeddings themselves, 5 returns them among other things.
    return getattr(found, "pooler_output", found)
