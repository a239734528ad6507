"""What one has to know of every method to choose one, read from the methods themselves."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gleanvid.compressors import COMPRESSORS, Compressor
from gleanvid.evaluation.markdown import markdown_table
from gleanvid.serving.vllm.methods import refusal

WORK = Path(__file__).parents[2] / "results" / "compress_work.json"
_ROWS = {"last": "attention (last token)", "text": "attention (question)"}
_HEADS = ["method", "acts", "needs", "does", "exact budget", "works with vLLM", "kernels"]
_HEADS += ["licence", "source", "by its own paper", "not ported"]
_NOTE = (
    "Methods act before or inside the language model. Saliency is the attention that a token gets "
    "in the vision encoder, keys are that encoder's. Kernels are those of one `compress` of "
    "32 x 14 x 14 tokens of width 3584, 25 % kept, by the code here (`gleanvid bench compress "
    "--count`). Licences "
    "are those of the originals. What papers say of their own methods holds on their models and "
    "in their settings: nothing in that column was measured here."
)


@dataclass(frozen=True)
class Facts:
    """One method with its default settings. ``kernels`` is None where they are not on file."""

    name: str
    title: str
    paper: str
    acts: str
    needs: str
    deed: str
    budget: str
    vllm: str
    kernels: int | None
    licence: str
    not_ported: str
    reported: str


def methods(work: Mapping[str, int] | None = None) -> list[Facts]:
    """All methods in the order of the catalogue; ``work``: kernels by name, else those on file."""
    kernels = kernels_on_file() if work is None else work
    return [facts_of(method, kernels.get(name)) for name, method in COMPRESSORS.items()]


def facts_of(method: type[Compressor], kernels: int | None = None) -> Facts:
    """What is true of one method."""
    return Facts(
        method.name,
        method.title,
        method.paper,
        _acts(method()),
        ", ".join(_needs(method())),
        _deed(method()),
        _budget(method()),
        _vllm(method()),
        kernels,
        method.licence,
        method.not_ported,
        method.reported,
    )


def methods_table() -> str:
    """Markdown: one row a method, and a sentence on its columns."""
    rows = [
        (
            f"`{row.name}`",
            row.acts.removesuffix(" the language model"),
            row.needs,
            row.deed,
            row.budget,
            row.vllm,
            "" if row.kernels is None else f"{row.kernels:,}",
            row.licence,
            row.paper,
            row.reported,
            row.not_ported,
        )
        for row in methods()
    ]
    return f"{markdown_table(_HEADS, rows, numbers=False)}\n{_NOTE}"


def kernels_on_file(path: Path = WORK) -> dict[str, int]:
    """Kernels by method from a file of ``bench compress --count``; none where there is no file."""
    if not path.exists():
        return {}
    report: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return {row["compressor"]: row["kernels"] for row in report["rows"]}


def _layers(method: Compressor) -> list[int]:
    return [layer for layer, _ in method.stages]


def _acts(method: Compressor) -> str:
    layers = _layers(method)
    if layers[0]:
        return "inside the language model"
    return f"before {'and inside ' if len(layers) > 1 else ''}the language model"


def _needs(method: Compressor) -> list[str]:
    """Signals besides the features; the features where there are none."""
    asked = {_ROWS[stage.queries] for _, stage in method.stages if stage.queries}
    signals = set().union(*(stage.needs for _, stage in method.stages))
    return [*sorted(signals), *sorted(asked)] or ["features"]


def _deed(method: Compressor) -> str:
    if method.retention_ratio == 1.0:
        return "keeps all"
    return "merges" if method.merges else "prunes"


def _budget(method: Compressor) -> str:
    if method.retention_ratio == 1.0:
        return "all"
    exact = "to the token" if _layers(method) == [0] else "on average over the layers"
    return f"{exact}, not below {method.keeps_whole}" if method.keeps_whole else exact


def _vllm(method: Compressor) -> str:
    """Whether :mod:`gleanvid.serving.vllm` serves it, or in short why not."""
    reason = refusal(method)
    return "yes" if reason is None else "no: " + reason.partition(",")[0].partition(":")[0]
