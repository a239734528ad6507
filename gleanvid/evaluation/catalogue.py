"""Tables of all compressors and all known model checkpoints, made from the code itself."""

from __future__ import annotations

from dataclasses import dataclass

from gleanvid.compressors import COMPRESSORS, Compressor
from gleanvid.evaluation.markdown import markdown_table
from gleanvid.models.loading.registry import CHECKPOINTS, Checkpoint
from gleanvid.serving.vllm.methods import refusal

_QUERIES = {"last": "attention (last token)", "text": "attention (question)"}
_HEADS = ["method", "acts", "needs", "does", "exact budget", "works with vLLM"]
_HEADS += ["licence", "source", "by its own paper", "not ported"]
_NOTE = (
    "Methods act before or inside the language model. Saliency is the attention that a token gets "
    "in the vision encoder, keys are the keys of that encoder. Licences are those of the original "
    "code. What papers say of their own methods holds on their models and in their settings: "
    "nothing in that column was measured here."
)


@dataclass(frozen=True)
class Facts:
    """Texts about a compressor with default settings; ``deed``: "prunes", "merges", "keeps all"."""

    name: str
    title: str
    paper: str
    acts: str
    needs: str
    deed: str
    budget: str
    vllm: str
    licence: str
    not_ported: str
    reported: str


def methods() -> list[Facts]:
    """Return the properties of all compressors."""
    return [_facts(method) for method in COMPRESSORS.values()]


def _facts(method: type[Compressor]) -> Facts:
    usual = method()
    return Facts(
        method.name,
        method.title,
        method.paper,
        _acts(usual),
        ", ".join(_needs(usual)),
        _deed(usual),
        _budget(usual),
        _vllm(usual),
        _licence(method),
        method.not_ported,
        method.reported,
    )


def _licence(method: type[Compressor]) -> str:
    """Return the licence that a method states; a plug-in does not inherit this repository's."""
    stated = [vars(kind).get("licence") for kind in method.__mro__ if kind is not Compressor]
    own = next((licence for licence in stated if licence), "")
    is_ours = method.__module__.startswith("gleanvid.")
    return Compressor.licence if is_ours and not own else own


def methods_table() -> str:
    """Return Markdown: one row per method, and a sentence that explains the columns."""
    rows = [
        (
            f"`{row.name}`",
            _short(row.acts),
            row.needs,
            row.deed,
            row.budget,
            row.vllm,
            row.licence,
            row.paper,
            row.reported,
            row.not_ported,
        )
        for row in methods()
    ]
    return f"{markdown_table(_HEADS, rows, numbers=False)}\n{_NOTE}"


def _short(acts: str) -> str:
    return acts.removesuffix(" the language model")


def compressor_table() -> str:
    """Return a Markdown table: name, paper, where a method acts, whether it merges, its needs."""
    heads = ["name", "source", "acts ... the language model", "prunes or merges", "needs"]
    rows = [
        (f"`{row.name}`", row.paper, _short(row.acts), row.deed, row.needs) for row in methods()
    ]
    return markdown_table(heads, rows, numbers=False).rstrip()


def _layers(method: Compressor) -> list[int]:
    return [layer for layer, _ in method.stages]


def _acts(method: Compressor) -> str:
    layers = _layers(method)
    if layers[0]:
        return "inside the language model"
    return f"before {'and inside ' if len(layers) > 1 else ''}the language model"


def _needs(method: Compressor) -> list[str]:
    """Return the inputs that a method needs besides the features; ["features"] if none."""
    asked = {_QUERIES[stage.queries] for _, stage in method.stages if stage.queries}
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
    """Return "yes" if a method works with :mod:`gleanvid.serving.vllm`, else "no: " and why."""
    reason = refusal(method)
    return "yes" if reason is None else "no: " + reason.partition(",")[0].partition(":")[0]


_TESTED = (
    "Only `builtin` was tested with its published weights, every other class with random weights."
)


def model_table() -> str:
    """Return Markdown: one row per known checkpoint, and how they were tested."""
    heads = ["checkpoint", "type", "parameters", "bf16 weights alone", "context", "licence", "note"]
    table = markdown_table(heads, [_checkpoint(row) for row in CHECKPOINTS], numbers=False)
    return f"{table}\n{_TESTED}"


def _checkpoint(row: Checkpoint) -> tuple[str, ...]:
    about, count = "" if row.parameters else "~", row.parameters or row.size
    memory = f"{about}{row.weights_gb:.{0 if row.weights_gb >= 10 else 1}f} GB"
    parameters = f"{about}{count:g} B"
    if row.weights_gb < 0.1:
        memory, parameters = f"{about}{row.weights_gb * 1e3:.0f} MB", f"{about}{count * 1e3:.1f} M"
    context = f"{row.context // 1024}K" if row.context else ""
    numbers = (parameters, memory, context)
    return f"`{row.name}`", row.model_type, *numbers, row.licence, row.note
