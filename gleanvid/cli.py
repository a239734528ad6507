"""The command line: ``gleanvid ask``, ``gleanvid compare``, ``gleanvid bench``.

Options of a compressor are read from its declared settings, so a new method needs no line here.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gleanvid.types import ModelError, VideoError


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code (2: bad input, with one sentence on stderr)."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    options = _parser(given).parse_args(given)
    try:
        return options.run(options)
    except (ValueError, VideoError, ModelError) as error:
        sys.stderr.write(f"gleanvid: {error}\n")
        return 2
    except KeyboardInterrupt:
        sys.stderr.write("gleanvid: stopped\n")
        return 130


def _parser(given: Sequence[str]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="gleanvid", description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(required=True, metavar="command")
    ask = commands.add_parser("ask", help="answer a question about a video with compressed tokens")
    _add_question(ask)
    _add_compressor(ask, given)
    ask.add_argument("--save", metavar="DIR", help="write overlays (PNG) and the run (JSON + NPZ)")
    ask.add_argument("--json", action="store_true", help="print the run as JSON instead of text")
    ask.set_defaults(run=_ask)
    compare = commands.add_parser("compare", help="the same question under several compressors")
    _add_question(compare)
    compare.add_argument("--compressor", default="all", help="names, comma-separated, or all")
    compare.add_argument("--retention-ratio", type=float, default=0.25)
    compare.add_argument("--json", action="store_true", help="print JSON lines")
    compare.set_defaults(run=_compare)
    bench = commands.add_parser("bench", help="measure").add_subparsers(
        required=True, metavar="what"
    )
    compress = bench.add_parser("compress", help="time and memory of compress() on made-up tokens")
    compress.add_argument("--grid", default="32x14x14", help="units x rows x columns")
    compress.add_argument("--width", type=int, default=3584, help="feature width D")
    compress.add_argument("--retention-ratio", type=float, default=0.25)
    compress.add_argument("--compressor", default="gleanvid", help="names, comma-separated")
    compress.add_argument(
        "--all", action="store_true", help="every compressor that reaches the ratio"
    )
    compress.add_argument("--repeats", type=int, default=5)
    compress.add_argument("--device", default=None, help="cpu or cuda (default: what is there)")
    compress.add_argument("--json", action="store_true", help="print JSON instead of a table")
    compress.set_defaults(run=_bench_compress)
    return parser


def _add_question(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("video", help="path of a video file")
    parser.add_argument("question")
    parser.add_argument("--model", default="builtin", help="builtin, a hub id or a local directory")
    parser.add_argument("--num-frames", type=int, default=32, help="frames sampled from the video")
    parser.add_argument("--max-new-tokens", type=int, default=64)
    parser.add_argument("--backend", default="pyav", help="pyav, decord or opencv")
    parser.add_argument(
        "--device", default=None, help="cpu, cuda, cuda:1 ... (default: best there)"
    )
    parser.add_argument("--dtype", default=None, help="float32, bfloat16 or float16")


def _add_compressor(parser: argparse.ArgumentParser, given: Sequence[str]) -> None:
    """``--compressor`` and the options of the method that the command line names."""
    from gleanvid.compressors import COMPRESSORS, declared_settings

    first = argparse.ArgumentParser(add_help=False)
    first.add_argument("--compressor", default="gleanvid")
    named = first.parse_known_args(given)[0].compressor
    chosen = COMPRESSORS.get(named, COMPRESSORS["gleanvid"])
    parser.add_argument("--compressor", choices=COMPRESSORS, default="gleanvid")
    for name, (default, kind, declared) in declared_settings(chosen).items():
        help_text = f"{declared.help}; {declared.describe_range()} (default {default})"
        parser.add_argument(
            "--" + name.replace("_", "-"),
            type=_reader(kind),
            default=default,
            help=help_text.replace("%", "%%"),
        )
    parser.set_defaults(method=chosen, settings=tuple(declared_settings(chosen)))


def _reader(kind: type) -> Any:
    def read(text: str) -> Any:
        if text.lower() in ("none", "all"):
            return None
        if kind is bool:
            return {"true": True, "false": False}[text.lower()]
        return kind(text)

    read.__name__ = kind.__name__  # argparse names it in its message
    return read


def _read(options: argparse.Namespace) -> tuple[Any, Any, float]:
    import time

    from gleanvid.models import load_model
    from gleanvid.pipeline import MAX_SIDE
    from gleanvid.video import read_video

    started = time.perf_counter()
    video = read_video(
        options.video, options.num_frames, backend=options.backend, max_side=MAX_SIDE
    )
    decode_s = time.perf_counter() - started
    for note in video.notes:
        sys.stderr.write(f"note: {note}\n")
    return video, load_model(options.model, options.device, options.dtype), decode_s


def _ask(options: argparse.Namespace) -> int:
    from dataclasses import replace

    from gleanvid.pipeline import ask

    compressor = options.method(**{name: getattr(options, name) for name in options.settings})
    video, model, decode_s = _read(options)
    show = None if options.json else lambda text: print(text, end="", flush=True)
    run = ask(video, options.question, model, compressor, options.max_new_tokens, on_text=show)
    run = replace(run, cost=replace(run.cost, decode_s=decode_s))
    if options.json:
        print(json.dumps(run.summary(), indent=2, ensure_ascii=False))
    else:
        print("\n\n" + cost_table(run))
    if options.save:
        _save(run, Path(options.save))
        sys.stderr.write(f"saved to {options.save}\n")
    return 0


def _save(run: Any, folder: Path) -> None:
    from PIL import Image

    from gleanvid.plots import contact_sheet, overlay_frame

    run.save(folder)
    Image.fromarray(contact_sheet(run)).save(folder / "overview.png")
    for unit in range(run.compression.grid[0]):
        Image.fromarray(overlay_frame(run, unit)).save(folder / f"unit_{unit:03d}.png")


def cost_table(run: Any) -> str:
    """The cost of a run as aligned lines of text."""
    cost = run.cost
    kept = f"{cost.visual_tokens} -> {cost.visual_tokens_kept}"
    flops = f"{cost.prefill_flops_full:.3g} -> {cost.prefill_flops:.3g} MAC"
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
        "peak memory": f"{cost.peak_memory_mib:.0f} MiB",
        "prefill FLOPs": f"{flops} (-{cost.flops_reduction:.1%})",
    }
    return "\n".join(f"{name:<14} {value}" for name, value in lines.items())


def _methods(names: str, retention_ratio: float) -> list[Any]:
    from gleanvid.compressors import COMPRESSORS

    chosen = list(COMPRESSORS) if names == "all" else names.split(",")
    unknown = [name for name in chosen if name not in COMPRESSORS]
    if unknown:
        raise ValueError(f"compressor={unknown[0]!r} must be one of {', '.join(COMPRESSORS)}")
    return [
        COMPRESSORS[name](**({} if name == "full" else {"retention_ratio": retention_ratio}))
        for name in chosen
    ]


def _compare(options: argparse.Namespace) -> int:
    from gleanvid.pipeline import Failure, compare

    methods = _methods(options.compressor, options.retention_ratio)
    video, model, _ = _read(options)
    if not options.json:
        heads = ("tokens", "average", "ttft s", "total s", "MiB", "FLOPs")
        print(f"{'compressor':<14}" + "".join(f" {head:>8}" for head in heads) + "  answer")
    for result in compare(video, options.question, model, methods, options.max_new_tokens):
        if isinstance(result, Failure):
            row = {"compressor": result.compressor.settings(), "error": str(result.error)}
            text = f"{result.compressor.name:<14} failed: {result.error}"
        else:
            row, cost = result.summary(), result.cost
            share = 1 - cost.flops_reduction
            text = f"{result.compressor['name']:<14} {cost.visual_tokens_kept:>8}"
            text += f" {cost.average_retention:>8.1%} {cost.ttft_s:>8.3f}"
            text += f" {cost.ttft_s + cost.generate_s:>8.3f} {cost.peak_memory_mib:>8.0f}"
            text += f" {share:>8.1%}  {result.answer}"
        print(json.dumps(row, ensure_ascii=False) if options.json else text, flush=True)
    return 0


def _bench_compress(options: argparse.Namespace) -> int:
    from gleanvid.evaluation.bench_compress import measure, table

    grid = tuple(int(part) for part in options.grid.split("x"))
    if len(grid) != 3 or min(grid) < 1:
        raise ValueError(f"grid={options.grid!r} must be units x rows x columns, e.g. 32x14x14")
    methods = _methods("all" if options.all else options.compressor, options.retention_ratio)
    report = measure(methods, grid, options.width, options.repeats, options.device)
    print(json.dumps(report, indent=2) if options.json else table(report))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
