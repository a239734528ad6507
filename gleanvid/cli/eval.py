"""``gleanvid eval``: accuracy on a benchmark, resumable, with tables and figures."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gleanvid.cli import model_options
from gleanvid.cli import options as shared
from gleanvid.cli.running import drawer, report, resumable, writable

if TYPE_CHECKING:
    from gleanvid.evaluation.provenance import Machine


def add(parser: argparse.ArgumentParser, words: Sequence[str]) -> None:
    """Add the command's options to ``parser``; ``words``: the whole command line."""
    _add_benchmark(parser, words)
    names = f"{shared.NAMES}; settings in brackets: 'holitom(tau=0.65)'"
    parser.add_argument("--compressor", default="gleanvid", help=names)
    parser.add_argument("--retention-ratio", help=shared.RATIOS)
    parser.add_argument(
        "--num-frames", "--frames", type=int, help="number of frames sampled from each clip"
    )
    parser.add_argument("--limit", type=int, help="number of questions to ask (default: all)")
    parser.add_argument("--seed", type=int, default=0, help="seed of the question sample")
    parser.add_argument(
        "--how",
        help="how an answer is chosen, comma-separated: likelihood (most probable option), "
        "letter or text (generated)",
    )
    parser.add_argument(
        "--relevance",
        action="store_true",
        help="also measure the fraction of relevance kept: dependence of the answer on the tokens, "
        "by one backward pass per question",
    )
    parser.add_argument(
        "--metric",
        default="accuracy",
        help="score that significance tests compare: accuracy, or a macro-average of Glimpse: "
        "macro, 'macro without count' or 'macro of hard kinds'",
    )
    parser.add_argument(
        "--reference",
        default="gleanvid",
        help="method of --compressor that the tables compare all others with (default: gleanvid)",
    )
    parser.add_argument(
        "--out", required=True, help="output folder for answers, tables and figures"
    )
    parser.add_argument(
        "--format", choices=["png", "pdf", "svg"], default="png", help="file format of the figures"
    )
    model_options.add_model(parser)
    add = parser.add_argument_group("several workers (Ray)").add_argument
    add(
        "--num-workers",
        type=int,
        help="number of worker processes that each load the model (default: this process only)",
    )
    add("--address", help="address of a running Ray cluster, or auto (default: start one here)")
    parser.set_defaults(run=_eval, command=["gleanvid", *words])


def _eval(options: argparse.Namespace) -> int:
    from gleanvid.evaluation.provenance import public_command, public_name
    from gleanvid.evaluation.run.journal import Journal
    from gleanvid.evaluation.run.rows import unread
    from gleanvid.evaluation.run.runner import check_ways
    from gleanvid.evaluation.run.setups import grid
    from gleanvid.evaluation.tables.comparisons import ACCURACY
    from gleanvid.evaluation.tables.publish import publish
    from gleanvid.evaluation.tables.summary import macros_of

    benchmark = _benchmark(options)
    frames = benchmark.num_frames if options.num_frames is None else options.num_frames
    ratios = shared.ratios(options.retention_ratio)
    names = shared.names_of(options.compressor)
    setups = grid(names, ratios, frames)
    if options.reference not in ("gleanvid", *names):
        raise ValueError(f"reference={options.reference!r} must be one of {', '.join(names)}")
    benchmark = benchmark.for_frames(frames)
    usual = benchmark.how
    if options.model == "builtin" and "likelihood" in benchmark.ways:
        usual = "likelihood"  # the built-in model does not know the letters of options
    ways = tuple((options.how or usual).split(","))
    check_ways(benchmark, ways)
    items = benchmark.items(options.limit, options.seed)
    metrics = (ACCURACY, *macros_of(benchmark, items))
    if options.metric not in metrics:
        allowed = ", ".join(metrics)
        raise ValueError(f"metric={options.metric!r} must be one of {allowed}")
    folder = writable(options.out)
    with _answerer(options) as (model, answer):
        settings = {
            "model_weights": model["model_weights"],
            "benchmark": benchmark.settings(),
            "seed": options.seed,
            "how": list(ways),
            "max_pixels": options.max_pixels,
            "model_settings": model_options.model_settings(options),
        }
        if options.relevance:
            settings["relevance"] = "gradient"
        machine = _machine(options.device)
        with Journal(folder / "journal.jsonl", settings) as journal, resumable(folder):
            draws = [draw for setup in setups for draw in setup.draws]
            before = len(journal.rows)
            limits = options.max_pixels, options.relevance
            answer(benchmark, items, draws, journal, ways, drawer(), *limits)
            rows = dict(journal.rows)
    if len(rows) == before:
        machine = _machine_before(folder) or machine
    named = {"model": public_name(model["model"])}
    command = public_command(options.command)
    facts = {"command": command, **model, **named, **settings, **machine}
    try:
        asked = (benchmark, items, setups, rows, ways)
        found = publish(folder, *asked, facts, options.format, options.metric, options.reference)
    except OSError as error:
        raise ValueError(
            f"the results could not be written ({error}); every answer is kept in {folder}: free "
            "some space and run the same command again"
        ) from error
    print((folder / "table.md").read_text(encoding="utf-8"))
    for how in ways:
        count, total = unread(benchmark, items, rows.values(), how)
        if count:
            report(
                f"gleanvid: {count} of {total} responses ({how}) name no option, so count as wrong"
            )
    return _exit_code(found, folder)


@contextmanager
def _answerer(options: argparse.Namespace) -> Iterator[tuple[dict[str, Any], Callable[..., None]]]:
    """Yield the model's description, and a function that answers the questions.

    With ``--num-workers`` or ``--address``, Ray workers answer; otherwise, this process does.
    """
    load = model_options.loader(options)
    if options.num_workers is None and options.address is None:
        from gleanvid.evaluation.provenance import describe_model
        from gleanvid.evaluation.run.runner import evaluate

        model = load()
        yield describe_model(model), partial(evaluate, model)
        return
    from gleanvid.evaluation.run.ray_cluster import cluster, describe
    from gleanvid.evaluation.run.ray_runner import evaluate_on_workers

    count = 1 if options.num_workers is None else options.num_workers
    with cluster(count, options.address) as num_gpus:
        yield describe(load, num_gpus), partial(evaluate_on_workers, load, count, num_gpus)


def _machine(device: str | None) -> dict[str, Machine]:
    """Return {"machine": the hardware and versions of this machine}, for the result file."""
    import torch

    from gleanvid.evaluation.provenance import describe_machine

    best = "cuda" if torch.cuda.is_available() else "cpu"
    return {"machine": describe_machine(torch.device(device or best))}


def _machine_before(folder: Path) -> dict[str, Machine]:
    """Return {"machine": ...} from the ``results.json`` of ``folder``; {} without the file.

    A resumed run keeps the times of earlier answers, so it also keeps the machine they ran on.
    """
    import json
    from contextlib import suppress

    with suppress(OSError, ValueError, KeyError, TypeError):
        told = json.loads((folder / "results.json").read_text(encoding="utf-8"))
        return {"machine": told["machine"]}
    return {}


def _exit_code(found: Sequence[Any], folder: Path) -> int:
    """Print the setups with failed questions; return the exit code: 1 if there are any.

    A setup is a compressor, its retention ratio and the number of frames. It is not a failure if
    the compressor cannot reach the ratio.
    """
    failed = {result.setup.key: result for result in found if result.failed and not result.refused}
    for key, result in failed.items():
        report(
            f"gleanvid: {key}: {result.failed} of {result.count} questions failed, "
            f"the first with {result.first_error}"
        )
    if failed:
        sys.stderr.write("gleanvid: the same command tries failed questions again\n")
    sys.stderr.write(f"results in {folder}\n")
    return 1 if failed else 0


def _add_benchmark(parser: argparse.ArgumentParser, words: Sequence[str]) -> None:
    """Add ``--benchmark``, and an option for every setting of the benchmark it selects."""
    from gleanvid.evaluation.benchmarks import BENCHMARKS, BenchmarkError, benchmark_class

    parser.add_argument(
        "--benchmark", default="glimpse", help=f"benchmark to run: {', '.join(BENCHMARKS)}"
    )
    first = argparse.ArgumentParser(add_help=False)
    first.add_argument("--benchmark", default="glimpse")
    try:
        benchmark = benchmark_class(first.parse_known_args(words)[0].benchmark)
    except BenchmarkError as error:
        parser.error(str(error))
    settings: Any = fields(benchmark)  # type: ignore[arg-type]
    for item in settings:
        option = "--" + item.name.replace("_", "-")
        default = "none" if item.default in ("", (), None) else item.default
        text = f"{benchmark.name}: {item.metadata.get('help', item.name)} (default: {default})"
        parser.add_argument(option, type=_READERS.get(str(item.type), str), help=text)
    parser.set_defaults(benchmark_settings=tuple(item.name for item in settings))


def true_or_false(text: str) -> bool:
    """Parse "true" or "false" for argparse. Raises ``ValueError`` for anything else."""
    if text.lower() not in ("true", "false"):
        raise ValueError(text)
    return text.lower() == "true"


_READERS: dict[str, Any] = {  # type of a benchmark's setting -> parser (default: str)
    "int | None": int,
    "bool": true_or_false,
    "float": float,
    "tuple[str, ...]": lambda text: tuple(text.split(",")),
}


def _benchmark(options: argparse.Namespace) -> Any:
    from gleanvid.evaluation.benchmarks import open_benchmark

    given = {name: getattr(options, name) for name in options.benchmark_settings}
    stated = {name: value for name, value in given.items() if value is not None}
    return open_benchmark(options.benchmark, **stated)
