"""Who answers: the listener, the controls, and models that plug-ins bring."""

from audiocapbench.models.model import AudioContract, Model, Question, SentAudio
from audiocapbench.models.registry import ModelEntry, create_model, list_models
from audiocapbench.models.settings import ModelSettings

__all__ = [
    "AudioContract",
    "Model",
    "ModelEntry",
    "ModelSettings",
    "Question",
    "SentAudio",
    "create_model",
    "list_models",
]
