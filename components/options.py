"""Command-line options of the app, and their checks."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from gleanvid.cli import model_options
from gleanvid.cli import options as shared
from gleanvid.cli.parser import Parser

from .server.visitors import networks


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the app, including those of the model."""
    add = parser.add_argument
    add(
        "--host",
        default="127.0.0.1",
        help="IP address to listen on; 0.0.0.0 serves the local network",
    )
    add("--port", type=int, help="port to listen on (default: the first free one from 7860)")
    add(
        "--public",
        action="store_true",
        help="apply the stricter limits of a server on the internet",
    )
    add(
        "--max-frames", type=int, help="maximum number of frames that a visitor may sample per clip"
    )
    add("--deadline", type=float, help="time limit of one answer or preview, in seconds")
    add(
        "--allow-host",
        action="append",
        default=[],
        metavar="NAME",
        help="host name under which visitors reach the server; can be repeated",
    )
    add(
        "--trusted-proxy",
        action="append",
        default=[],
        metavar="ADDRESS",
        help="IP address or network of a proxy whose X-Forwarded headers are trusted",
    )
    add("--root-path", help="URL path under which a reverse proxy serves the app, e.g. /gleanvid")
    add("--share", action="store_true", help="create a public link through Gradio")
    add(
        "--mcp",
        action="store_true",
        help="also serve the API endpoints as MCP tools (needs gleanvid[mcp])",
    )
    add(
        "--offer",
        nargs="+",
        action="extend",
        default=[],
        metavar="ID",
        help="further models to offer on the page; a public server loads them all at its start",
    )
    add(
        "--recordings",
        type=Path,
        metavar="FOLDER",
        help="folder of recordings by `gleanvid record` to offer on the page",
    )
    model_options.add_model(
        parser
    )  # the model of ``--model`` is offered in addition to the built-in ones


def check(options: argparse.Namespace) -> None:
    """Raise ``ValueError`` for options of the app that contradict each other."""
    if options.mcp and find_spec("mcp") is None:
        raise ValueError("--mcp needs one more package: pip install 'gleanvid[mcp]'")
    if options.recordings is not None and not options.recordings.is_dir():
        raise ValueError(f"--recordings={options.recordings} is not a folder")
    if options.port is not None and not 0 <= options.port <= 65535:
        raise ValueError(f"--port={options.port} must be 0 to 65535")
    for name in options.allow_host:
        if name != "*" and "*" in name.removeprefix("*."):
            raise ValueError(f"--allow-host={name}: * may only stand in front, as in *.example.org")
    try:
        networks(options.trusted_proxy)
    except ValueError as error:
        text = f"--trusted-proxy: {error}; give an address such as 10.0.0.5 or 10.0.0.0/8"
        raise ValueError(text) from error


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Read the options of a command line; ends the program if an option is wrong."""
    parser = Parser(description="Ask about a video and see which tokens are kept.")
    try:
        shared.load_plugins(parser, sys.argv[1:] if arguments is None else arguments)
        add_options(parser)
        options = parser.parse_args(arguments)
        check(options)
    except ValueError as error:
        parser.error(str(error))
    return options
