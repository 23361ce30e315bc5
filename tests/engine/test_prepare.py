"""What is sent is what the contract says, byte for byte."""

import io
from pathlib import Path

import numpy as np
import pytest
import soundfile

from audiocapbench import audio
from audiocapbench.data import Clip
from audiocapbench.engine.retrying_client import prepare
from audiocapbench.errors import AudioError
from audiocapbench.models import AudioContract, create_model
from audiocapbench.models.registry import create_published


@pytest.fixture
def clip(tmp_path: Path) -> Clip:
    path = tmp_path / "stereo.wav"
    noise = np.random.default_rng(1).uniform(-0.5, 0.5, (44_100 * 3, 2))
    soundfile.write(path, noise, 44_100)
    return Clip(path, "stereo.wav", audio.sha256(path), 3.0, 44_100, 2)


def test_no_audio_is_no_audio(clip: Clip) -> None:
    assert prepare(clip, AudioContract("none")) is None


def test_a_file_is_sent_as_it_is(clip: Clip) -> None:
    sent = prepare(clip, AudioContract("file"))
    assert sent is not None
    assert sent.content == clip.path.read_bytes()
    assert sent.sha256 == clip.sha256


def test_raw_pcm_has_no_header_and_the_rate_of_the_contract(clip: Clip) -> None:
    sent = prepare(clip, AudioContract("pcm16", rate=24_000))
    assert sent is not None
    assert len(sent.content) == 24_000 * 3 * 2
    assert not sent.content.startswith(b"RIFF")
    assert (sent.rate, sent.channels, sent.duration_s) == (24_000, 1, 3.0)
    assert sent.sha256 == audio.sha256(sent.content)


def test_a_wav_keeps_rate_and_channels_where_the_contract_lets_it(clip: Clip) -> None:
    sent = prepare(clip, AudioContract("wav", mono=False))
    assert sent is not None
    info = soundfile.info(io.BytesIO(sent.content))
    assert (info.samplerate, info.channels, info.frames) == (44_100, 2, 44_100 * 3)


def test_past_the_longest_clip_it_is_cut_or_refused(clip: Clip) -> None:
    cut = prepare(clip, AudioContract("wav", longest_s=2.0, past_limit="truncate"))
    assert cut is not None
    assert cut.duration_s == 2.0
    with pytest.raises(
        AudioError, match=r"stereo\.wav: is 3\.0 s long; this model takes at most 2"
    ):
        prepare(clip, AudioContract("wav", longest_s=2.0))


def test_past_the_largest_payload_it_is_refused(clip: Clip) -> None:
    with pytest.raises(AudioError, match=r"is 0\.3 MB as sent; this model takes at most 0\.1 MB"):
        prepare(clip, AudioContract("wav", largest_bytes=100_000))


def test_a_file_that_vanished_is_one_clear_error(clip: Clip) -> None:
    clip.path.unlink()
    for container in ("file", "wav"):
        with pytest.raises(AudioError, match="cannot be read"):
            prepare(clip, AudioContract(container))


def test_the_published_protocol_hears_the_plain_mean(tmp_path: Path) -> None:
    path = tmp_path / "turned.wav"
    noise = np.random.default_rng(1).uniform(-0.5, 0.5, 16_000)
    soundfile.write(path, np.stack([noise, -noise], axis=1), 16_000)
    clip = Clip(path, "turned.wav", audio.sha256(path), 1.0, 16_000, 2)
    ours, published = (make("listener") for make in (create_model, create_published))
    heard = prepare(clip, ours.contract)
    plain = prepare(clip, published.contract)
    assert str(ours.contract) == str(published.contract)
    assert heard is not None
    assert plain is not None
    assert not any(plain.content)
    assert any(heard.content)
    assert (plain.note, bool(heard.note)) == ("", True)
