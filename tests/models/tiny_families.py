"""The tiny model of every family, by name: a function that writes its folder."""

import transformers
from packaging.version import parse

from tests.models import (
    tiny_frames,
    tiny_gemma,
    tiny_glm,
    tiny_llava,
    tiny_minicpm,
    tiny_molmo,
    tiny_omni,
    tiny_qwen,
)

FAMILIES = {
    "qwen3_vl": tiny_qwen.qwen3_vl,
    "qwen3_vl_moe": tiny_qwen.qwen3_vl_moe,
    "qwen2_5_vl": tiny_qwen.qwen25_vl,
    "qwen2_vl": tiny_qwen.qwen2_vl,
    "qwen3_omni": tiny_omni.qwen3_omni,
    "glm4v": tiny_glm.glm4v,
    "glm46v": tiny_glm.glm46v,
    "glm4v_moe": tiny_glm.glm4v_moe,
    "gemma4": tiny_gemma.gemma4,
    "gemma4_large": tiny_gemma.gemma4_large,
    "gemma4_unified": tiny_gemma.gemma4_unified,
    "molmo2": tiny_molmo.molmo2,
    "llava_onevision": tiny_llava.onevision,
    "llava_video": tiny_llava.video_average,
    "llava_video_bilinear": tiny_llava.video_bilinear,
    "smolvlm": tiny_frames.smolvlm,
    "internvl": tiny_frames.internvl,
    "video_llama_3": tiny_frames.video_llama3,
    "llava_next_video": tiny_llava.next_video,
    "perception_lm": tiny_llava.perception_lm,
}
# Model families with recurrent layers. These layers ignore attention masks, so outputs cannot be
# compared with those of a prompt whose dropped tokens are masked.
RECURRENT = {
    "qwen3_5": tiny_qwen.qwen35,
    "qwen3_5_moe": tiny_qwen.qwen35_moe,
    "minicpmv": tiny_minicpm.minicpmv,
}
# model families that need transformers 5.23 or later
LATER = {"qwen3_omni", "gemma4", "gemma4_large", "gemma4_unified", "minicpmv", "molmo2"}
ALL = list(FAMILIES | RECURRENT)
if parse(transformers.__version__) < parse("5.23"):
    FAMILIES = {family: FAMILIES[family] for family in FAMILIES if family not in LATER}
    RECURRENT = {family: RECURRENT[family] for family in RECURRENT if family not in LATER}

EVERY = FAMILIES | RECURRENT
