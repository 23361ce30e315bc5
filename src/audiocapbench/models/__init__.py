"""Who answers: providers and their models, the listener, the controls, and plug-ins."""

from audiocapbench.models.model import (
    AudioContract,
    BatchModel,
    KnownModel,
    Model,
    ModelSettings,
    Provider,
    Question,
    SentAudio,
    SimpleModel,
)
from audiocapbench.models.registry import create_model, create_models, list_models

__all__ = ["AudioContract", "BatchModel", "KnownModel", "Model", "ModelSettings", "Provider"]
__all__ += ["Question", "SentAudio", "SimpleModel", "create_model", "create_models", "list_models"]
