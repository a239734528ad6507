"""The commands that reproduce a table of the paper, the data they need, and their GPU hours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from gleanvid.evaluation.benchmarks import benchmark_class
from gleanvid.evaluation.paper.numbers import BENCHMARKS, GRIDS, Table, setups_of, tables
from gleanvid.evaluation.paper.presets import ABLATIONS
from gleanvid.evaluation.run.setups import Setup, changed_settings, setup_from

# Number of questions by benchmark, as the paper states it.
QUESTIONS = {"mvbench": 4000, "longvideobench": 1337, "mlvu": 2174, "videomme": 2700}
_GPUS = 8  # GPUs that, by all likelihood, share the questions in the paper's efficiency table
PIXELS = 786_432  # maximum number of pixels of a Qwen3-VL frame in LMMs-Eval
QWEN = "Qwen/Qwen3-VL-8B-Instruct"
# Options of LLaVA-Video in LMMs-Eval.
SETTINGS = ("spatial_pool_mode=average", "time_instruction=false")
MODELS = {  # last part of a model's name -> hub id, and ``gleanvid eval`` options as in LMMs-Eval
    "Qwen3-VL-8B-Instruct": (QWEN, ()),
    "llava-onevision-qwen2-7b-ov-hf": (
        "llava-hf/llava-onevision-qwen2-7b-ov-hf",
        ("--rounding", "down"),
    ),
    "LLaVA-Video-7B-Qwen2": (
        "lmms-lab/LLaVA-Video-7B-Qwen2",
        ("--rounding", "down", *(word for one in SETTINGS for word in ("--model-setting", one))),
    ),
}


@dataclass(frozen=True)
class Step:
    """One command that evaluates a benchmark.

    ``words``: the arguments after ``gleanvid``. ``folder``: where the results are written.
    """

    words: tuple[str, ...]
    folder: Path
    benchmark: str


def find(name: str) -> Table:
    """Return a table by its name or number. Raises ``ValueError`` if there is no such table."""
    known = list(tables().values())
    if name.isdigit() and 1 <= int(name) <= len(known):
        return known[int(name) - 1]
    if name not in tables():
        raise ValueError(
            f"table={name!r} must be one of 1 to {len(known)} or one of {', '.join(tables())}"
        )
    return tables()[name]


def steps(
    table: Table, out: Path, data: Path | None = None, model: str = "", more: Sequence[str] = ()
) -> list[Step]:
    """Return the commands that reproduce a table, in order.

    Args:
        table: A table of the paper.
        out: Folder for the results of this table, with a subfolder for each benchmark.
        data: Folder with a subfolder for each benchmark's data. By default, data are downloaded
            from the Hugging Face hub.
        model: Name of a model to use instead of the paper's. The command options that go with the
            paper's model are then left out.
        more: Further command-line arguments of every ``gleanvid eval`` command.
    """
    paper, options = next(MODELS[name] for name in table.models if name in MODELS)
    options = options if not model else ()
    name = model or paper
    setups = setups_of(table.name)
    found = []
    for benchmark in (column for column in table.columns if column in BENCHMARKS):
        words = ["eval", "--benchmark", benchmark, "--model", name, *options]
        words += _rows(table, setups)
        words += ["--phases"] if "prefill_s" in table.columns else []
        if paper == QWEN and not model:
            words += ["--style", "qwen3_vl"] if benchmark == "videomme" else []
            frames = max(setup.num_frames for setup in setups)
            words += ["--max-pixels", str(PIXELS * frames)] if frames > 32 else []
        words += ["--data", str(data / benchmark)] if data else []
        folder = out / benchmark
        found.append(Step((*words, *more, "--out", str(folder)), folder, benchmark))
    return found


def _rows(table: Table, setups: Sequence[Setup]) -> list[str]:
    """Return the ``gleanvid eval`` options that run all rows of a table of the paper."""
    if table.name in ABLATIONS:
        return ["--ablation", table.name]
    if table.name in (*GRIDS, "fixed-token-budget"):
        return ["--preset", table.name]
    return [*_compressors(setups), "--frames", str(setups[0].num_frames)]


def _compressors(setups: Sequence[Setup]) -> list[str]:
    methods = [setup.method for setup in setups if setup.method.name != "full"]
    names = []
    for method in methods:
        changed = ",".join(f"{name}={value!r}" for name, value in changed_settings(method).items())
        names.append(f"{method.name}({changed})" if changed else method.name)
    ratio = str(methods[0].retention_ratio)
    return ["--compressor", ",".join(names), "--retention-ratio", ratio]


def gpu_hours(table: Table, step: Step, limit: int | None = None) -> float:
    """Estimate the hours of a command on one GPU of the paper, including the reading of videos.

    The estimate scales the paper's wall-clock seconds for Video-MME (Qwen3-VL-8B, 32 frames, all
    tokens) by questions and frames, as if every model and table row were as slow. These seconds
    are taken to be those of ``_GPUS`` GPUs that share the questions; see the table's note.
    """
    wall_s = tables()["efficiency"].rows[0].values["total_s"] or 0
    each_s = _GPUS * wall_s / QUESTIONS["videomme"]
    rows = list(dict.fromkeys([table.full.setup, *(row.setup for row in table.rows)]))
    frames = sum(setup_from(row).num_frames for row in rows)
    questions = QUESTIONS[step.benchmark]
    return min(questions, limit or questions) * each_s * frames / 32 / 3600


def data_size(benchmark: str, data: Path | None) -> str:
    """Return a text that states the size of a benchmark's data.

    It is that of the benchmark's folder in ``data`` or, if ``data`` is None, of the dataset on the
    Hugging Face hub. If the hub cannot be asked, the text says that the size is unknown.
    """
    if data is not None:
        files = (path for path in (data / benchmark).rglob("*") if path.is_file())
        return f"{sum(path.stat().st_size for path in files) / 1e9:,.1f} GB in {data / benchmark}"
    kind = benchmark_class(benchmark)
    repository: str = kind.repository  # type: ignore[attr-defined]
    try:
        from huggingface_hub import HfApi

        revision = kind.revision  # type: ignore[attr-defined]
        about = HfApi().dataset_info(repository, revision=revision, files_metadata=True, timeout=10)
        size = sum(file.size or 0 for file in about.siblings or ())
        return f"{size / 1e9:,.1f} GB from {repository}"
    except Exception as error:  # no network, no access to the dataset, or no huggingface_hub
        return f"size unknown here ({type(error).__name__}), from {repository}"
