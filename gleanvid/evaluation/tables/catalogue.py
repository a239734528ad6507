"""The tables of compressors and checkpoints that the README shows, read from the code itself."""

from __future__ import annotations

from gleanvid.evaluation.catalogue import Facts, methods
from gleanvid.evaluation.markdown import markdown_table
from gleanvid.models.loading.registry import CHECKPOINTS, Checkpoint


def compressor_table() -> str:
    """Markdown: one row a method, with its default settings."""
    heads = ["name", "source", "acts", "prunes or merges", "needs", "licence of the original"]
    return markdown_table(heads, [_row(facts) for facts in methods({})], numbers=False).rstrip()


def _row(facts: Facts) -> tuple[str, ...]:
    row = (facts.paper, facts.acts, facts.deed, facts.needs, facts.licence)
    return f"`{facts.name}`", *row


def model_table() -> str:
    """Markdown: one row a checkpoint."""
    heads = ["checkpoint", "type", "parameters", "bf16 weights alone", "context", "licence"]
    heads += ["tested here", "note"]
    return markdown_table(heads, [_checkpoint(row) for row in CHECKPOINTS], numbers=False).rstrip()


def _checkpoint(row: Checkpoint) -> tuple[str, ...]:
    about, count = "" if row.parameters else "about ", row.parameters or row.size
    memory = f"{about}{row.weights_gb:.{0 if row.weights_gb >= 10 else 1}f} GB"
    parameters = f"{about}{count:g} B"
    if row.weights_gb < 0.1:
        memory, parameters = f"{about}{row.weights_gb * 1e3:.0f} MB", f"{about}{count * 1e3:.1f} M"
    context = f"{row.context // 1024}K" if row.context else ""
    numbers = (parameters, memory, context)
    return f"`{row.name}`", row.model_type, *numbers, row.licence, row.tested, row.note
