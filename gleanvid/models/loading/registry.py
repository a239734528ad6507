"""Known checkpoints: names, sizes and licences.

Sizes and licences come from the checkpoints' own pages and configurations. ``context`` is the
number of positions in the configuration or the context length on the page. Unknown values are None
or empty. Only the built-in model was tested with its published weights; the model classes of all
others with random weights, loaded from a directory in the published format.
"""

from __future__ import annotations

from dataclasses import dataclass

LATE = "needs transformers 5.23"
AHEAD = "no methods inside the language model"
WINDOWS = f"{AHEAD}; sdpa alone; {LATE}"


@dataclass(frozen=True)
class Checkpoint:
    """A known checkpoint.

    ``size``: billions of parameters according to its name; ``context``: longest prompt in tokens.
    """

    name: str  # hub id, or "builtin"
    model_type: str
    size: float
    licence: str = ""
    context: int | None = None
    parameters: float | None = None  # exact number of parameters in billions; None: unknown
    note: str = ""
    gated: bool = False  # terms must be accepted on its page

    @property
    def weights_gb(self) -> float:
        """Size of the weights in bfloat16, in 10^9 bytes."""
        return 2 * (self.parameters or self.size)


APACHE = "Apache-2.0"
MIT = "MIT"
FAIR = "FAIR Noncommercial Research"
_K = 1024

CHECKPOINTS: tuple[Checkpoint, ...] = (
    Checkpoint(
        "builtin",
        "qwen3_vl",
        0.0073,
        APACHE,
        8 * _K,
        0.0073,
        "ships with the package; runs anywhere",
    ),
    Checkpoint("Qwen/Qwen3-VL-2B-Instruct", "qwen3_vl", 2, APACHE, 256 * _K),
    Checkpoint("Qwen/Qwen3-VL-4B-Instruct", "qwen3_vl", 4, APACHE, 256 * _K),
    Checkpoint("Qwen/Qwen3-VL-8B-Instruct", "qwen3_vl", 8, APACHE, 256 * _K, 8.8, note="paper"),
    Checkpoint("Qwen/Qwen3-VL-32B-Instruct", "qwen3_vl", 32, APACHE, 256 * _K),
    Checkpoint("Qwen/Qwen3-VL-30B-A3B-Instruct", "qwen3_vl_moe", 30, APACHE, 256 * _K),
    Checkpoint("Qwen/Qwen2.5-VL-3B-Instruct", "qwen2_5_vl", 3, "Qwen Research", 32 * _K),
    Checkpoint("Qwen/Qwen2.5-VL-7B-Instruct", "qwen2_5_vl", 7, APACHE, 32 * _K),
    Checkpoint("Qwen/Qwen2.5-VL-72B-Instruct", "qwen2_5_vl", 72, "Qwen", 32 * _K),
    Checkpoint("Qwen/Qwen2-VL-2B-Instruct", "qwen2_vl", 2, APACHE, 32 * _K),
    Checkpoint("Qwen/Qwen2-VL-7B-Instruct", "qwen2_vl", 7, APACHE, 32 * _K, 8.3),
    Checkpoint(
        "Qwen/Qwen3-Omni-30B-A3B-Instruct",
        "qwen3_omni_moe",
        30,
        APACHE,
        note=f"the thinker alone, without sound; {LATE}",
    ),
    Checkpoint("zai-org/GLM-4.1V-9B-Thinking", "glm4v", 9, MIT, 64 * _K),
    Checkpoint("zai-org/GLM-4.6V-Flash", "glm46v", 9, MIT, 128 * _K),
    Checkpoint("zai-org/GLM-4.5V", "glm4v_moe", 106, MIT, 64 * _K),
    Checkpoint("zai-org/GLM-4.6V", "glm4v_moe", 106, MIT, 128 * _K),
    Checkpoint("google/gemma-4-E2B-it", "gemma4", 5.1, APACHE, 128 * _K, note=WINDOWS),
    Checkpoint("google/gemma-4-E4B-it", "gemma4", 8, APACHE, 128 * _K, note=WINDOWS),
    Checkpoint(
        "google/gemma-4-12B-it",
        "gemma4_unified",
        12,
        APACHE,
        256 * _K,
        note=f"no vision tower, so no saliency; {WINDOWS}",
    ),
    Checkpoint("google/gemma-4-26B-A4B-it", "gemma4", 26, APACHE, 256 * _K, 25.2, note=WINDOWS),
    Checkpoint("google/gemma-4-31B-it", "gemma4", 31, APACHE, 256 * _K, 30.7, note=WINDOWS),
    Checkpoint("allenai/Molmo2-4B", "molmo2", 4, APACHE, note=LATE),
    Checkpoint("allenai/Molmo2-8B", "molmo2", 8, APACHE, 36 * _K, note=LATE),
    Checkpoint("allenai/Molmo2-O-7B", "molmo2", 7, APACHE, note=LATE),
    Checkpoint(
        "llava-hf/llava-onevision-qwen2-0.5b-ov-hf", "llava_onevision", 0.5, APACHE, 32 * _K
    ),
    Checkpoint(
        "llava-hf/llava-onevision-qwen2-7b-ov-hf",
        "llava_onevision",
        7,
        APACHE,
        32 * _K,
        parameters=8.0,
        note="paper",
    ),
    Checkpoint(
        "lmms-lab/LLaVA-Video-7B-Qwen2",
        "llava_qwen",
        7,
        APACHE,
        32 * _K,
        parameters=8.0,
        note="paper; original format, read by a class of this package",
    ),
    Checkpoint("llava-hf/LLaVA-NeXT-Video-7B-hf", "llava_next_video", 7, "Llama 2", 4 * _K),
    Checkpoint("HuggingFaceTB/SmolVLM2-256M-Video-Instruct", "smolvlm", 0.256, APACHE, 8 * _K),
    Checkpoint("HuggingFaceTB/SmolVLM2-2.2B-Instruct", "smolvlm", 2.2, APACHE),
    Checkpoint("OpenGVLab/InternVL3-1B-hf", "internvl", 1),
    Checkpoint("OpenGVLab/InternVL3-8B-hf", "internvl", 8, "Qwen", parameters=7.9),
    Checkpoint(
        "lkhl/VideoLLaMA3-2B-Image-HF",
        "video_llama_3",
        2,
        APACHE,
        parameters=1.96,
        note="transformers' format; the original repositories need remote code and are refused",
    ),
    Checkpoint("facebook/Perception-LM-1B", "perception_lm", 1, FAIR, gated=True),
    Checkpoint("facebook/Perception-LM-8B", "perception_lm", 8, FAIR, gated=True),
    Checkpoint("Qwen/Qwen3.5-27B", "qwen3_5", 27, APACHE, 256 * _K, note=AHEAD),
    Checkpoint("Qwen/Qwen3.5-35B-A3B", "qwen3_5_moe", 35, APACHE, 256 * _K, note=AHEAD),
    Checkpoint(
        "openbmb/MiniCPM-V-4.6",
        "minicpmv4_6",
        1.3,
        APACHE,
        256 * _K,
        note=f"frames are not sliced; {AHEAD}; {LATE}",
    ),
    Checkpoint("Qwen/Qwen3.6-27B", "qwen3_5", 27, APACHE, 256 * _K, note=AHEAD),
    Checkpoint("Qwen/Qwen3.6-35B-A3B", "qwen3_5_moe", 35, APACHE, 256 * _K, note=AHEAD),
    Checkpoint("Qwen/Qwen3.8-27B", "qwen3_5", 27, note=AHEAD),
)

FIRST_CHOICES = (  # (minimum GPU memory in GB, checkpoint to recommend in bfloat16)
    (80, "Qwen/Qwen3-VL-32B-Instruct"),
    (24, "Qwen/Qwen3-VL-8B-Instruct"),
    (16, "Qwen/Qwen3-VL-4B-Instruct"),
    (8, "Qwen/Qwen3-VL-2B-Instruct"),
    (0, "HuggingFaceTB/SmolVLM2-256M-Video-Instruct"),
)


def checkpoint(name: str) -> Checkpoint | None:
    """Return the known checkpoint of this name, None if there is none."""
    return next((row for row in CHECKPOINTS if row.name == name), None)


def first_choice(gpu_gb: float) -> str:
    """Return the recommended checkpoint for a GPU with ``gpu_gb`` GB of memory (0: no GPU)."""
    return next(name for least, name in FIRST_CHOICES if gpu_gb >= least)
