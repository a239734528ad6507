"""The models that LMMs-Eval finds if gleanvid is installed.

LMMs-Eval calls :func:`manifests` at every start, through the entry point ``lmms_eval.models``. So
this module imports nothing heavy. Use: ``gleanvid lmms-eval --model gleanvid_qwen3_vl --model_args
pretrained=Qwen/Qwen3-VL-8B-Instruct,compressor=gleanvid,retention_ratio=0.25 --tasks videomme
--output_path DIR``, or ``lmms-eval`` with the model argument ``journal=DIR`` for a journal.
"""

from __future__ import annotations

from typing import Any

_CLASSES = {
    "gleanvid_qwen3_vl": "GleanVIDQwen3VL",
    "gleanvid_llava_onevision": "GleanVIDLlavaOneVision",
    "gleanvid_llava_video": "GleanVIDLlavaVideo",
}


def manifests() -> list[Any]:
    """Return one LMMs-Eval ``ModelManifest`` per model."""
    from lmms_eval.models.registry_v2 import ModelManifest

    home = "gleanvid.evaluation.lmms_eval.adapter"
    return [
        ModelManifest(model_id=name, chat_class_path=f"{home}.{kind}")
        for name, kind in _CLASSES.items()
    ]
