"""``gleanvid ask VIDEO QUESTION``: answer a question with compressed tokens and print the cost."""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gleanvid.cli import model_options
from gleanvid.cli import options as shared
from gleanvid.cli.running import add_html, html_writer, report
from gleanvid.errors import printable


def add(parser: argparse.ArgumentParser, words: Sequence[str]) -> None:
    """Add the command's options to ``parser``; ``words``: the whole command line."""
    shared.add_question(parser, words)
    shared.add_compressor(parser, words)
    parser.add_argument(
        "--save",
        metavar="DIR",
        help="output folder for images of the kept tokens (PNG) and the run (JSON, NPZ)",
    )
    add_html(parser, "this run")
    shared.add_json(parser, "answer and costs as JSON instead of text")
    parser.set_defaults(run=_ask)


def _ask(options: argparse.Namespace) -> int:
    from gleanvid.api import ask

    compressor = options.method(**{name: getattr(options, name) for name in options.settings})
    write_html = html_writer(options.html)
    video, model, decode_s = model_options.read_and_load(options)
    show = None if options.json else lambda text: print(printable(text, "\n\t"), end="", flush=True)
    sampling = shared.sampling(options)
    run = ask(video, options.question, model, compressor, sampling=sampling, on_text=show)
    run = run.with_decode_s(decode_s)
    if options.json:
        print(json.dumps(run.summary(), indent=2, ensure_ascii=False))
    else:
        print("\n\n" + printable(cost_table(run), "\n"))
    if options.save:
        _save(run, Path(options.save))
        report(f"saved to {options.save}")
    write_html([run], model)
    return 0


def _save(run: Any, folder: Path) -> None:
    from PIL import Image

    from gleanvid.plots import contact_sheet, overlay_frame

    run.save(folder)
    Image.fromarray(contact_sheet(run)).save(folder / "overview.png")
    for unit in range(run.compression.grid[0]):
        Image.fromarray(overlay_frame(run, unit)).save(folder / f"unit_{unit:03d}.png")


def cost_table(run: Any) -> str:
    """Format the cost of a run as aligned lines of text."""
    from gleanvid.metrics import saturation

    cost = run.cost
    kept = f"{cost.visual_tokens} -> {cost.visual_tokens_kept}"
    flops = f"{cost.prefill_flops_full:.3g} -> {cost.prefill_flops:.3g}"
    lines = {
        "model": run.model,
        "compressor": run.compressor["name"],
        "visual tokens": f"{kept} ({cost.visual_tokens_kept / cost.visual_tokens:.1%})",
        "over layers": f"{cost.average_retention:.1%} on average",
        "prompt tokens": f"{cost.prompt_tokens} -> {cost.prompt_tokens_kept}",
        "decode": f"{cost.decode_s:.3f} s",
        "encode": f"{cost.encode_s:.3f} s",
        "compress": f"{cost.compress_s * 1e3:.1f} ms",
        "prefill": f"{cost.prefill_s:.3f} s",
        "generate": f"{cost.generate_s:.3f} s, {cost.new_tokens} tokens",
        "peak memory": f"{run.device_memory_mib:.0f} MiB",
        "prefill MAC": f"{flops} (-{cost.flops_reduction:.1%})",
    }
    if math.isnan(run.device_memory_mib):
        del lines["peak memory"]
    if (ratio := run.compression.trace.get("budget_over_width")) is not None:
        lines["kept / width"] = f"{float(ratio):.2f}"
    if sentence := str(saturation(run.compression) or ""):
        lines["saturated"] = sentence
    return "\n".join(f"{name:<14} {value}" for name, value in lines.items())
