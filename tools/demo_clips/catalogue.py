"""The thirty demo clips in order: what each is called, how it is made and how loud it is."""

from collections.abc import Callable
from typing import NamedTuple

from demo_clips import music, nature, objects, scenes, speech
from demo_clips.dsp import Rng
from demo_clips.take import Take


class Clip(NamedTuple):
    """One clip of the benchmark; a level of None leaves the sound as it is."""

    id: str
    slug: str
    make: Callable[[Rng], Take]
    rate: int
    level_db: float | None

    @property
    def category(self) -> str:
        """The part of the id before the number."""
        return self.id.rsplit("_", 1)[0]

    @property
    def file_name(self) -> str:
        """Where the clip lies in the benchmark's folder."""
        return f"clips/{self.id}_{self.slug}.ogg"


CLIPS = (
    Clip("sound_01", "rain_thunder", nature.rain_thunder, 32_000, -18),
    Clip("sound_02", "footsteps_door", objects.footsteps_door, 24_000, -20),
    Clip("sound_03", "dog_growl_barks", nature.dog, 24_000, -17),
    Clip("sound_04", "birds_wind", nature.birds, 32_000, -20),
    Clip("sound_05", "car_drives_off", objects.car, 24_000, -17),
    Clip("sound_06", "sea_gulls", nature.sea, 32_000, -18),
    Clip("sound_07", "telephone", objects.telephone, 32_000, -19),
    Clip("sound_08", "clock_alarm", objects.clock_alarm, 32_000, -19),
    Clip("sound_09", "water_drip_pour", nature.water, 32_000, -20),
    Clip("sound_10", "siren_passing", objects.siren, 24_000, -17),
    Clip("music_01", "solo_piano", music.solo_piano, 32_000, -18),
    Clip("music_02", "dance", music.dance, 32_000, -15),
    Clip("music_03", "folk_waltz", music.folk_waltz, 32_000, -17),
    Clip("music_04", "ambient_flute", music.ambient, 32_000, -18),
    Clip("music_05", "blues_shuffle", music.blues, 32_000, -16),
    Clip("music_06", "chiptune", music.chiptune, 32_000, -16),
    Clip("music_07", "church_organ", music.church_organ, 32_000, -16),
    Clip("music_08", "music_box", music.lullaby, 32_000, -19),
    Clip("speech_01", "library", speech.library, 16_000, -18),
    Clip("speech_02", "station", speech.station, 16_000, -18),
    Clip("speech_03", "victory", speech.victory, 16_000, -16),
    Clip("speech_04", "calming", speech.calming, 16_000, -20),
    Clip("speech_05", "whisper", speech.whisper, 16_000, -24),
    Clip("speech_06", "pause", speech.hesitation, 16_000, -18),
    Clip("speech_07", "memory", speech.memory, 16_000, -18),
    Clip("speech_08", "dialogue", speech.dialogue, 16_000, -18),
    Clip("mixed_01", "voice_over_guitar", scenes.speech_over_music, 24_000, -18),
    Clip("mixed_02", "voice_in_rain", scenes.speech_in_rain, 24_000, -18),
    Clip("silence_01", "digital", scenes.digital_silence, 16_000, None),
    Clip("silence_02", "noise_floor", scenes.noise_floor, 16_000, -66),
)
