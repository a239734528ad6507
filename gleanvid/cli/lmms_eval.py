"""``gleanvid lmms-eval ARGUMENTS``: run LMMs-Eval with a journal of answers.

Exits with an error if questions failed or no results were written; LMMs-Eval itself exits with 0.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

USAGE = """\
usage: gleanvid lmms-eval --model MODEL --model_args NAME=VALUE,... --tasks TASKS --output_path DIR

Run LMMs-Eval on a model whose visual tokens are compressed. Answers are kept in DIR: the same
command goes on from there.

  --model        gleanvid_qwen3_vl, gleanvid_llava_onevision or gleanvid_llava_video
  --model_args   pretrained=Qwen/Qwen3-VL-8B-Instruct,compressor=gleanvid,retention_ratio=0.25;
                 also num_frames, settings of the compressor, and options of gleanvid.load_model

All other options are those of LMMs-Eval{where}
"""
INSTALL = "Install it with the extra eval: pip install '.[eval]'"


def add(parser: argparse.ArgumentParser, words: Sequence[str]) -> None:
    """Take all options as arguments of LMMs-Eval; ``words``: the whole command line."""
    parser.prefix_chars = "\0"  # argparse must leave options with dashes to LMMs-Eval
    parser.add_argument("arguments", nargs="*")
    parser.set_defaults(run=_lmms_eval)


def _help() -> int:
    """Print the options of this command, and those of LMMs-Eval if it is installed."""
    is_here = find_spec("lmms_eval") is not None
    print(USAGE.format(where=":" if is_here else f", which is not here. {INSTALL}"), flush=True)
    words = [sys.executable, "-m", "lmms_eval", "--help"]
    return subprocess.run(words, check=False).returncode if is_here else 0


def _lmms_eval(options: argparse.Namespace) -> int:
    if {"-h", "--help"} & {*options.arguments}:
        return _help()
    arguments, folder = with_journal(options.arguments)
    if find_spec("lmms_eval") is None:
        raise ValueError(f"LMMs-Eval is not installed. {INSTALL}")
    before = _results(folder)
    code = subprocess.run([sys.executable, "-m", "lmms_eval", *arguments], check=False).returncode
    written = _results(folder) - before
    if code or not written:
        sys.stderr.write(f"gleanvid: LMMs-Eval ended without results in {folder}\n")
        return code or 1
    failed = any(_failed(path) for path in written)
    if failed:
        sys.stderr.write(f"gleanvid: questions failed and count as wrong; {folder} says why. ")
        sys.stderr.write("Run the same command again to retry the failed questions\n")
    return int(failed)


def with_journal(arguments: Sequence[str]) -> tuple[list[str], Path]:
    """Return the arguments for LMMs-Eval, and the output folder that they name.

    If ``--model_args`` has no ``journal``, one in the output folder is added to the arguments.
    Raises ``ValueError`` if ``--output_path`` or ``--model_args`` is missing.
    """
    parser = argparse.ArgumentParser(allow_abbrev=False, add_help=False)
    parser.add_argument("--output_path")
    parser.add_argument("--model_args")
    known, others = parser.parse_known_args(arguments)
    if not known.output_path or not known.model_args:
        raise ValueError("lmms-eval needs --output_path DIR and --model_args pretrained=...")
    model_args = known.model_args
    if "journal=" not in model_args:
        model_args += f",journal={known.output_path}"
    own = ["--model_args", model_args, "--output_path", known.output_path]
    return [*others, *own], Path(known.output_path)


def _results(folder: Path) -> set[Path]:
    return set(folder.rglob("*_results.json"))


def _failed(path: Path) -> bool:
    """Return whether questions failed, from the report that ``GleanVIDModel`` wrote to ``path``."""
    report = json.loads(path.read_text(encoding="utf-8"))
    return report.get("throughput", {}).get("avg_failed", 0) > 0
