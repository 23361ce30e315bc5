"""What the user says about a trial, for scorers that ask models, hear clips or draw lots."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from audiocapbench.engine.ask_context import AskContext
from audiocapbench.meta.pairs.pair import TrialProtocol


@dataclass(frozen=True)
class TrialSettings(AskContext):
    """How scorers are made and asked; all of them share one store and one budget.

    Attributes:
        data: Folder with the clips, for scorers that hear them.
        follow_links: Whether clips may be links that lead out of that folder.
        prompt: Name of the prompt that a model is asked to compare with.
        prompt_file: A prompt of the user's own, in place of a named one.
        swap: Whether models are asked in both orders.
        answer: The form in which models give their choice: text, schema or logprobs.
        reader: Model that reads free-text answers where the parser is not certain.
        read: Whether the reader reads what is ``uncertain`` alone, or ``all``.
        protocol: How metrics are held to references: plainly, or in the manner of FENSE.
    """

    data: Path | None = None
    follow_links: bool = False
    prompt: str = "simple"
    prompt_file: Path | None = None
    swap: bool = False
    answer: Literal["text", "schema", "logprobs"] = "text"
    reader: str | None = None
    read: Literal["uncertain", "all"] = "uncertain"
    protocol: TrialProtocol = "plain"
    seed: int = 42
