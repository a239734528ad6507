"""Options that several commands share, and their conversion to values.

The options of a compressor are made from its declared settings.
"""

from __future__ import annotations

import argparse
import logging
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from gleanvid import plugins
from gleanvid.cli.model_options import add_model
from gleanvid.video.plan import seconds

if TYPE_CHECKING:
    from gleanvid.models.generation.sampling import Sampling

NAMES = "compressor names, comma-separated, or all"
RATIO = "fraction of the visual tokens to keep, in (0, 1]"
ONE_RATIO = "retention ratio in (0, 1] of all methods (default: the one in brackets, else 0.25)"
RATIOS = "retention ratios in (0, 1], comma-separated (default: the one in brackets, else 0.25)"
SAMPLING: dict[str, tuple[type, Any, str]] = {  # setting -> type, default, help
    "temperature": (float, 0.0, "sampling temperature of the answer; 0 = greedy decoding"),
    "top_p": (float, 1.0, "nucleus sampling: cumulative probability of the tokens sampled from"),
    "seed": (int, None, "random seed for sampling the answer"),
}


def load_plugins(parser: argparse.ArgumentParser, words: Sequence[str]) -> None:
    """Add ``--plugin`` and ``--traceback``, and load the plug-ins that the command line names.

    Raises ``PluginError`` for one that cannot be loaded.
    """
    first = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    for each in (first, parser):
        each.add_argument(
            "--plugin",
            action="append",
            default=[],
            metavar="FILE",
            help="Python file that defines compressors, model families or benchmarks; can be "
            "repeated",
        )
        each.add_argument(
            "--traceback",
            action="store_true",
            help="show the whole Python traceback of an error in a plug-in",
        )
    options = first.parse_known_args(words)[0]
    if options.traceback:
        logging.basicConfig(format="%(message)s")
        logging.getLogger(plugins.__name__).setLevel(logging.INFO)
    for name in options.plugin:
        plugins.load(name)


def add_question(parser: argparse.ArgumentParser, words: Sequence[str] = ()) -> None:
    """Add the video, the question, and the options for reading and answering.

    ``words``: the command line; sampling options give way to settings of its ``--compressor``.
    """
    parser.add_argument("video", help="path of a video or an image")
    parser.add_argument("question", help="question about the video")
    add_frames(parser)
    for name, about in (("from", "first"), ("to", "last")):
        text = f"{about} second of the time span to sample frames from, as 75, 75.5 or 1:15"
        parser.add_argument(f"--{name}", dest=f"{name}_s", type=seconds, metavar="TIME", help=text)
    parser.add_argument(
        "--max-new-tokens", type=int, default=64, help="maximum answer length in tokens"
    )
    _add_sampling(parser, _method(_named(words)))
    add_model(parser)


def _add_sampling(parser: argparse.ArgumentParser, method: Any) -> None:
    """Add the sampling options under two names, such as ``--sampling-seed`` and ``--seed``.

    The short name is refused if it is a setting of ``method``, too.
    """
    from gleanvid.compressors import declared_settings

    add = parser.add_argument_group("sampling").add_argument
    for name, (kind, default, about) in SAMPLING.items():
        short = "--" + name.replace("_", "-")
        long, is_taken = "--sampling" + short[1:], name in declared_settings(type(method))
        flags = [long] if is_taken else [long, short]
        add(*flags, type=kind, default=default, help=about, dest=f"sampling_{name}")
        if is_taken:
            advice = f"write {long}, or {method.name}({name}=...) for that of the compressor"
            add(short, type=partial(_refuse, advice), help=argparse.SUPPRESS)


def _refuse(advice: str, text: str) -> None:
    raise argparse.ArgumentTypeError(advice)


def add_frames(parser: argparse.ArgumentParser, video: str = "the video") -> None:
    """Add ``--num-frames`` and ``--backend``; ``video``: what the help calls their source."""
    parser.add_argument(
        "--num-frames",
        "--frames",
        type=int,
        default=32,
        help=f"number of frames sampled from {video}",
    )
    parser.add_argument(
        "--backend", default="pyav", help="video decoder: pyav, torchcodec, decord or opencv"
    )


def add_json(parser: argparse.ArgumentParser, what: str) -> None:
    """Add ``--json``, whose help is "print" and ``what``."""
    parser.add_argument("--json", action="store_true", help=f"print {what}")


def whole_numbers(name: str, listed: str) -> list[int]:
    """Parse comma-separated integers of at least 1. Raises ``ValueError`` for anything else."""
    parts = listed.split(",")
    if not all(part.isdigit() and int(part) > 0 for part in parts):
        raise ValueError(
            f"{name}={listed!r} must be whole numbers of at least 1, comma-separated, e.g. 8,16,32"
        )
    return [int(part) for part in parts]


def ratios(listed: str | None) -> Sequence[float | None]:
    """Parse comma-separated retention ratios; (None,) without any.

    Raises ``ValueError`` outside (0, 1].
    """
    if listed is None:
        return (None,)
    try:
        found = [float(part) for part in listed.split(",")]
    except ValueError:
        raise ValueError(f"retention_ratio={listed!r} must be numbers in (0, 1]") from None
    for ratio in found:
        if not 0 < ratio <= 1:
            raise ValueError(f"retention_ratio={ratio!r} must be in (0, 1]")
    return found


def sampling(options: argparse.Namespace) -> Sampling:
    """Return the sampling settings from the options of :func:`add_question`.

    Raises ``ValueError`` for settings that greedy decoding would ignore.
    """
    from gleanvid.models.generation.sampling import Sampling

    # The options have the prefix ``sampling_``: compressors may have settings of these names.
    drawing = {name: getattr(options, f"sampling_{name}") for name in SAMPLING}
    if not drawing["temperature"] and (drawing["top_p"] != 1 or drawing["seed"] is not None):
        raise ValueError("top-p and seed change nothing without --temperature above 0")
    return Sampling(options.max_new_tokens, **drawing)


def add_compressor(parser: argparse.ArgumentParser, words: Sequence[str]) -> None:
    """Add ``--compressor`` and the options of the method that the command line names.

    Settings in brackets after the name become the defaults: ``gleanvid(tau=2)``. An option that
    contradicts them is refused.
    """
    from gleanvid.compressors import COMPRESSORS, declared_settings, settings_in

    listed = ", ".join(COMPRESSORS)
    names = f"compressor: {listed}; settings may follow in brackets (default: gleanvid)"
    parser.add_argument("--compressor", default="gleanvid", metavar="NAME", help=names)
    chosen, written = _method(_named(words)), settings_in(_named(words))
    declared = declared_settings(type(chosen))
    for name, (_, kind, about) in declared.items():
        default = getattr(chosen, name)
        help_text = f"{about.help}; {about.describe_range(kind)} (default: {default})"
        try:
            parser.add_argument(
                "--" + name.replace("_", "-"),
                dest=name,
                type=_reader(kind, (default,) if name in written else ()),
                default=default,
                help=help_text.replace("%", "%%"),
            )
        except argparse.ArgumentError as error:  # the command already has an option of this name
            if name in SAMPLING:  # only in brackets; see _add_sampling
                parser.set_defaults(**{name: default})
                continue
            raise ValueError(
                f"the setting {name} of {chosen.name} is an option of this command, too: rename it"
            ) from error
    parser.set_defaults(method=type(chosen), settings=tuple(declared))


def _named(words: Sequence[str]) -> str:
    """Return the text of ``--compressor`` in a command line."""
    first = argparse.ArgumentParser(add_help=False)
    first.add_argument("--compressor", "--compressors", default="gleanvid")
    return str(first.parse_known_args(words)[0].compressor)


def _reader(kind: type, written: Sequence[Any] = ()) -> Any:
    """Return a function that parses a value; ``written``: the only one allowed, if any."""

    def value(text: str) -> Any:
        if text.lower() in ("none", "all"):
            return None
        if kind is bool:
            # Text other than "true" and "false" is returned as it is; the compressor refuses it.
            return {"true": True, "false": False}.get(text.lower(), text)
        return kind(text)

    def read(text: str) -> Any:
        found = value(text)
        if written and found != written[0]:
            raise argparse.ArgumentTypeError(f"{text}, but --compressor says {written[0]!r}")
        return found

    read.__name__ = kind.__name__  # argparse prints this name in its error message
    return read


def methods(names: str, retention_ratio: float | None) -> list[Any]:
    """Parse comma-separated compressor names, or ``all``; settings may follow in brackets.

    Raises ``ValueError`` for an unknown name or setting.
    """
    from gleanvid.compressors import COMPRESSORS, names_in

    chosen = list(COMPRESSORS) if names == "all" else names_in(names)
    return [_method(name, retention_ratio) for name in chosen]


def names_of(text: str) -> list[str]:
    """Expand ``all`` to every method but "ablation", which equals GleanVID by default."""
    from gleanvid.compressors import COMPRESSORS, names_in

    return [name for name in COMPRESSORS if name != "ablation"] if text == "all" else names_in(text)


def _method(text: str, retention_ratio: float | None = None) -> Any:
    from gleanvid.compressors import key_of, method_from, settings_in

    try:
        key_of(settings_in(text)["name"])
    except ValueError as error:
        raise ValueError(f"{error}; --plugin FILE adds compressors of your own") from None
    return method_from(text, retention_ratio)
