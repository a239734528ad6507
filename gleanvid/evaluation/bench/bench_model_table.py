"""The report of ``bench_model`` as a Markdown table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gleanvid.evaluation.markdown import markdown_table
from gleanvid.evaluation.provenance import in_words
from gleanvid.evaluation.run.journal import REFUSAL

_HEADS = ["frames", "compressor", "kept", "tokens", "vision s", "compress ms", "prefill s"]
_HEADS += ["first token s", "generate s", "answer tokens", "total s", "total s, min to max"]
_HEADS += ["peak MiB", "items/s", "LLM MAC"]


def table(report: Mapping[str, Any]) -> str:
    """Return machine, settings and a Markdown table of the costs.

    Changes against full tokens are in brackets. The column "prefill" includes compression. "first
    token" also includes vision encoding. "total" also includes preprocessing and generation.
    """
    model, settings = report["model"], report["settings"]
    size = "x".join(map(str, settings["frame_size"]))
    lines = [
        f"{model['name']}, {model['parameters'] / 1e9:.2f} B parameters, {model['dtype']}, "
        f"{model['attention']}; {in_words(report['machine'])}",
        "",
        f"Frames of {size} pixels, {settings['new_tokens']} new tokens at most, batch 1, median of "
        f"{settings['repeats']} runs after {settings['warmup']} warm-up runs. In brackets: change "
        "against full tokens. Prefill includes compression; first token also includes vision "
        "encoding; total includes everything.",
        "",
        markdown_table(_HEADS, [_cells(row) for row in report["rows"]]),
    ]
    if "command" in report:
        lines[:0] = [f"`{report['command']}`", ""]
    return "\n".join(lines)


def _cells(row: Mapping[str, Any]) -> list[str]:
    compressor = row["compressor"]
    first = [str(row["num_frames"]), compressor["name"], f"{compressor['retention_ratio']:.0%}"]
    if "error" in row:
        return [*first, row["error"].removeprefix(REFUSAL), *[""] * (len(_HEADS) - len(first) - 1)]
    relative = row.get("relative", {})

    def change(name: str) -> str:
        return f" ({relative[name] - 1:+.1%})" if name in relative else ""

    tokens = f"{row['prompt_tokens_kept']:.0f} of {row['prompt_tokens']:.0f}"
    prefill_s = row["compress_s"] + row["prefill_s"]
    totals = row["samples"]["total_s"]
    return [
        *first,
        tokens,
        f"{row['vision_s']:.3f}{change('vision_s')}",
        f"{row['compress_s'] * 1e3:.2f}",
        f"{prefill_s:.4f}{change('compress_and_prefill_s')}",
        f"{row['first_token_s']:.3f}{change('first_token_s')}",
        f"{row['generate_s']:.3f}{change('generate_s')}",
        f"{row['new_tokens']:.0f}",
        f"{row['total_s']:.3f}{change('total_s')}",
        f"{min(totals):.3f} to {max(totals):.3f}",
        f"{row['peak_memory_mib']:.0f}{change('peak_memory_mib')}",
        f"{row['throughput']:.2f}{change('throughput')}",
        f"{row['prefill_flops']:.3g}{change('prefill_flops')}",
    ]
