"""Stands in for a model that is not loaded: returns the tokens of recorded clips."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import torch

from gleanvid.evaluation.recording.file_format import is_recording
from gleanvid.evaluation.recording.recording import RecordedVideo, read_facts
from gleanvid.models.encoded import Encoded
from gleanvid.models.token_model import TokenModel
from gleanvid.types import ModelError, Video

NOTHING_NEW = (
    "This clip is a recording, and its model is not loaded here: only the recorded questions have "
    "an answer, each under the recorded compressors. For other questions, and for methods that "
    "read the question, load the model and the video."
)


class RecordedModel(TokenModel):
    """Stands in for a model that is not loaded: returns recorded tokens, and cannot answer."""

    cannot_answer = NOTHING_NEW

    def __init__(self, facts: dict[str, Any]) -> None:
        about = facts["model"]
        super().__init__(str(about["model"]), about["max_pixels"])
        self.described = {name: about[name] for name in ("model", "model_weights", "processor")}
        self._layers: int = about["layers"]

    @property
    def device(self) -> torch.device:
        return torch.device("cpu")

    @property
    def num_layers(self) -> int:
        return self._layers

    def encode(self, video: Video, needs: frozenset[str] = frozenset(), **_: Any) -> Encoded:
        """Return the recorded tokens of a clip.

        Raises ``ModelError`` if the clip is not a recorded one, or if the recording lacks signals
        in ``needs``.
        """
        if not isinstance(video, RecordedVideo) or video.tokens is None:
            raise ModelError(
                "Only recorded clips can be used here: the model that encoded them is not loaded."
            )
        encoded = Encoded(video, video.tokens, video.encode_s, "", {}, None)
        if missing := needs - {"text"} - encoded.signals.keys():
            raise ModelError(
                f"This recording holds no {' and no '.join(sorted(missing))}: record the clip "
                "with a compressor that needs it, or choose another compressor."
            )
        return encoded


def recorded_model(paths: Iterable[Path]) -> RecordedModel | None:
    """Return the stand-in for the model that made these recordings; None if none is a recording.

    Raises ``ValueError`` if only some paths are recordings, or if their models' weights differ.
    """
    places = list(paths)
    recordings = [path for path in places if is_recording(path)]
    if not recordings:
        return None
    if len(recordings) < len(places):
        raise ValueError("clips: name recordings or videos, not both")
    models = [RecordedModel(read_facts(path)) for path in recordings]
    for path, model in zip(recordings, models, strict=True):
        if model.described["model_weights"] != models[0].described["model_weights"]:
            raise ValueError(f"{path.name} was recorded with other weights than the first clip")
    return models[0]
