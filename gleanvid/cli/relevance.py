"""``gleanvid relevance VIDEO QUESTION``: write which tokens an answer depends on."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gleanvid.cli import model_options
from gleanvid.cli import options as shared
from gleanvid.cli.running import report, writable
from gleanvid.errors import printable

if TYPE_CHECKING:
    from gleanvid.attribution.relevance import Relevance
    from gleanvid.run import Run


def add(parser: argparse.ArgumentParser, words: Sequence[str]) -> None:
    """Add the command's options to ``parser``; ``words``: the whole command line."""
    shared.add_question(parser, words)
    shared.add_compressor(parser, words)
    parser.add_argument(
        "--answer", help="answer whose relevance is measured (default: the model's own answer)"
    )
    parser.add_argument(
        "--by",
        default="gradient",
        help="way to measure: gradient, occlusion (slow) or attention (known to mislead)",
    )
    parser.add_argument(
        "--words",
        action="store_true",
        help="also write a relevance map for each word of the answer",
    )
    parser.add_argument(
        "--passes", type=int, default=64, help="maximum number of forward passes of occlusion"
    )
    parser.add_argument(
        "--out",
        required=True,
        metavar="DIR",
        help="output folder for maps (PNG), values (NPZ) and summary (JSON)",
    )
    parser.set_defaults(run=_relevance)


def _relevance(options: argparse.Namespace) -> int:
    from gleanvid.api import ask, relevance
    from gleanvid.attribution.measure import check_way
    from gleanvid.compressors.shared.records import whole_record

    check_way(options.by, options.words, options.passes)
    compressor = options.method(**{name: getattr(options, name) for name in options.settings})
    folder = writable(options.out)
    video, model, _ = model_options.read_and_load(options)
    found = relevance(
        video,
        options.question,
        model,
        options.answer,
        options.by,
        words=options.words,
        passes=options.passes,
    )
    run = ask(video, options.question, model, compressor, sampling=shared.sampling(options))
    record = whole_record(run.by_layer)
    kept = {
        "compressor": dict(run.compressor),
        "answer": run.answer,
        "tokens": [record.num_kept, record.num_tokens],
        **found.kept_over_layers(run.by_layer, len(run.cost.visual_tokens_by_layer)),
    }
    _save(found, run, kept, folder)
    print(printable(_table(found, kept), "\n"))
    report(f"saved to {options.out}")
    return 0


def _table(found: Relevance, kept: dict[str, Any]) -> str:
    count, total = kept["tokens"]
    lines = {
        "answer": found.answer,
        "log-probability": f"{found.log_probability:.3f}",
        "method": f"{found.method}, {found.seconds:.2f} s",
        "compressor": f"{kept['compressor']['name']}, {count} of {total} tokens",
        "its answer": kept["answer"],
        "relevance kept": f"{kept['kept']:.1%} (best tokens {kept['best']:.1%}, "
        f"random {kept['random']:.1%})",
    }
    text = "\n".join(f"{name:<16} {value}" for name, value in lines.items())
    return f"{text}\n\nRelevance shows what this model uses of its input, not what is true."


def _save(found: Relevance, run: Run, kept: dict[str, Any], folder: Path) -> None:
    """Write ``relevance.json``, ``relevance.npz``, an overview and an image per temporal unit."""
    import numpy as np
    from PIL import Image

    from gleanvid.plots import contact_sheet, heat_frame

    maps = {f"word_{place:03d}": values.numpy() for place, (_, values) in enumerate(found.words)}
    arrays: dict[str, Any] = {"tokens": found.tokens.numpy(), "grid": np.array(found.grid), **maps}
    geometry: dict[str, Any] = {
        "seconds": run.seconds.numpy(),
        "rectangles": run.rectangles.numpy(),
    }
    np.savez_compressed(folder / "relevance.npz", **arrays, **geometry)
    facts = found.summary() | {"model": run.model, "compression": kept}
    text = json.dumps(facts, indent=2, ensure_ascii=False)
    (folder / "relevance.json").write_text(text + "\n", encoding="utf-8")
    Image.fromarray(contact_sheet(run, heat=found.tokens)).save(folder / "overview.png")
    for unit in range(found.grid[0]):
        Image.fromarray(heat_frame(run, found.tokens, unit)).save(folder / f"unit_{unit:03d}.png")
