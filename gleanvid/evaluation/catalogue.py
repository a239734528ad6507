"""The table of compressors that the README shows, read from the catalogue itself."""

from __future__ import annotations

from gleanvid.compressors import COMPRESSORS, Compressor


def compressor_table() -> str:
    """Markdown: one row a method, with its default settings."""
    lines = [
        "| name | source | acts | prunes or merges | needs | licence of the original |",
        "|---|---|---|---|---|---|",
    ]
    lines += ["| " + " | ".join(_row(method)) + " |" for method in COMPRESSORS.values()]
    return "\n".join(lines)


def _row(method: type[Compressor]) -> tuple[str, ...]:
    layers = [layer for layer, _ in method().stages]
    acts = "before the language model" if layers[0] == 0 else "inside the language model"
    if layers[0] == 0 and len(layers) > 1:
        acts = "before and inside the language model"
    needs = ", ".join(sorted(method.needs)) or "features"
    deed = "merges" if method.merges else "prunes"
    if method().retention_ratio == 1.0:
        deed = "keeps all"
    return f"`{method.name}`", method.paper, acts, deed, needs, method.licence
