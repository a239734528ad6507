"""What decides a training run, and how it is driven."""

from __future__ import annotations

from dataclasses import dataclass

import torch


@dataclass(frozen=True)
class TrainSettings:
    """All that decides a run, except its length in steps. ``version`` of the world, and of the
    model's shape."""

    version: int = 1
    seed: int = 0
    learning_rate: float = 1e-3
    weight_decay: float = 0.02
    warm_up: int = 100  # steps, at the start and where the language loss sets in
    token_budget: int = 1600  # visual and question tokens per batch
    seen_weight: float = 1.0  # of what stands at the tokens, beside the answers
    past_weight: float = 0.5  # of what has happened there
    pointing_weight: float = 0.3  # of questions that find their evidence
    crowding_weight: float = 0.0  # of visual tokens that leave directions unused
    look_every: int = 1  # steps; in between the vision tower is left as it is, which saves time
    bfloat16: bool = True  # where the device computes in it
    start_from: str = ""  # model directory a run begins with
    first_step: int = 0  # of the curriculum, for a run that begins with trained weights


@dataclass(frozen=True)
class Pace:
    """How a run is driven; changes none of its numbers but ``steps``."""

    steps: int = 6000
    cooling: float = 0.25  # share of the steps in which the rate falls to nothing
    workers: int = 1
    device: str = "cpu"
    validate_every: int = 500  # steps
    save_every: int = 100
    examined: int = 50  # validation questions of each family, in version 2


def computes_bfloat16(device: torch.device) -> bool:
    """Whether a device computes in bfloat16. CPUs that only imitate it are far slower than in
    float32."""
    return device.type != "cpu" or bool(torch.cpu._is_avx512_bf16_supported())
