"""One step of ``results/gpu.sh``: what no CPU can show, without weights, data or a network.

``python -m tools.gpu STEP --out FOLDER``. Each step rewrites ``FOLDER/STEP.json`` after every row,
so that a step which is stopped leaves what it had. ``--device cpu --tiny`` is a rehearsal.

- ``right``: the built-in model answers as on the CPU; every family's tiny model in half precision.
- ``compress``: seconds, memory, kernels and syncs of choosing tokens; a trace of GleanVID.
- ``qwen3-vl-8b``, ``llava-onevision-7b``: a model of that shape with random weights.
- ``more``: ``compress`` as a captured CUDA graph; FlashAttention-2 where it is installed.
"""

import argparse
import gc
import json
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import torch
from torch.autograd import DeviceType
from torch.profiler import ProfilerActivity, profile

from gleanvid.api.pipeline import answer, encode
from gleanvid.cli.options import methods
from gleanvid.compressors import COMPRESSORS, GleanVID
from gleanvid.evaluation.bench import bench_compress, bench_model
from gleanvid.evaluation.bench.bench_model_table import table
from gleanvid.evaluation.check.check import check
from gleanvid.evaluation.files import finite, write_whole
from gleanvid.evaluation.provenance import describe_machine
from gleanvid.glimpse.questions.clips import ask_about, make_video
from gleanvid.models import load_model
from gleanvid.models.encoded import ClipKey
from gleanvid.models.generation.sampling import Sampling
from gleanvid.models.loading.random_weights import random_model
from gleanvid.models.measure import now
from tests.models.small import SMALL
from tests.models.tiny import noise_video
from tests.models.tiny_families import EVERY

GRIDS = [(32, 14, 14, 3584), (64, 14, 14, 3584), (32, 10, 16, 4096), (16, 14, 14, 3584)]
FIRST = "gleanvid,vidcom2,vcast,fastvid,flashvid"
METHODS = {
    "qwen3-vl-8b": "gleanvid,vidcom2,vcast,fastvid,"
    "flashvid(inner=true,layer=28,inner_retention=0.1,num_layers=36)",
    "llava-onevision-7b": "gleanvid,vidcom2,vcast,fastvid(variant=llava_onevision),"
    "flashvid(version=v2,min_segments=8,inner=true)",
}
ROUNDS = {  # frames and retention ratios, the most telling first
    "qwen3-vl-8b": [(32, 0.25), (64, 0.25), (32, 0.15), (64, 0.15)],
    "llava-onevision-7b": [(32, 0.25), (32, 0.15)],
}


def right(device: torch.device, tiny: bool, out: Path) -> Iterator[dict]:
    yield {"model": "builtin"} | attempt(_built_in, device)
    for family, make in list(EVERY.items())[: 1 if tiny else None]:
        for dtype in ("bfloat16", "float16"):
            yield {"family": family, "dtype": dtype} | attempt(_check, make, device, dtype)


def _built_in(device) -> dict:
    """Compare answers and kept tokens of the built-in model on the device with the CPU's."""
    questions = [(make_video(0, "test", clip), ask_about(0, "test", clip)[0]) for clip in range(4)]
    runs = [
        [_answer(model, video, question.text) for video, question in questions]
        for model in (load_model(device=where, dtype="float32") for where in ("cpu", device))
    ]
    equal = [ours.answer == cpu.answer for cpu, ours in zip(*runs, strict=True)]
    kept = [
        float(torch.isin(cpu.compression.keep, ours.compression.keep).float().mean())
        for cpu, ours in zip(*runs, strict=True)
    ]
    return {"answers_equal": equal, "kept_by_both": kept}


def _answer(model, video, question, compressor=None):
    key = ClipKey(video, model.name)
    return answer(key, question, model, compressor or GleanVID(0.25), Sampling(16))


def _check(make, device, dtype) -> dict:
    with tempfile.TemporaryDirectory() as folder:
        make(Path(folder))
        return check(load_model(folder, device=device, dtype=dtype), noise_video(8)).as_dict()


def compress(device: torch.device, tiny: bool, out: Path) -> Iterator[dict]:
    grids = [(4, 6, 6, 64)] if tiny else GRIDS
    rest = ",".join(name for name in COMPRESSORS if name not in FIRST.split(","))
    for names, repeats in ((FIRST, 20), (rest, 5)):
        for *grid, width in grids:
            tokens = bench_compress.made_up_tokens(tuple(grid), width, str(device))
            chosen = methods(names, 0.25)
            report = attempt(bench_compress.measure, chosen, tokens, 2 if tiny else repeats)
            if "error" in report:
                yield {"methods": names, "grid": grid} | report
                continue
            print(bench_compress.table(report), flush=True)
            by_name = {method.name: method for method in chosen}
            for row in report["rows"]:
                if method := by_name.get(row["compressor"]):
                    row |= attempt(_profiled, method, tokens, out / "trace.json.gz")
            yield report


def _profiled(method, tokens, trace: Path) -> dict:
    """Return what one call issues; write the trace of GleanVID."""
    activities = [ProfilerActivity.CPU, *[ProfilerActivity.CUDA] * torch.cuda.is_available()]
    with profile(activities=activities) as seen:
        bench_compress.run_stages(method, tokens)
    if method.name == "gleanvid":
        seen.export_chrome_trace(str(trace))
    events = seen.key_averages()
    counts = {event.key: event.count for event in events}
    called, kernels = (
        sum(count for key, count in counts.items() if part in key)
        for part in ("aten::", "LaunchKernel")
    )
    on_device = [event for event in events if event.device_type == DeviceType.CUDA]
    return {
        "torch_calls": called,
        "kernels": kernels,
        "syncs": counts.get("cudaStreamSynchronize", 0),
        "device_busy_s": sum(event.self_device_time_total for event in on_device) / 1e6,
    }


def model(name: str, device: torch.device, tiny: bool, attention="sdpa") -> Iterator[dict]:
    changes = SMALL[name] if tiny else None
    built = random_model(name, device, attn_implementation=attention, changes=changes)
    size = (64, 96) if tiny else (720, 1280)
    yield {"slider": attempt(_slider, built, bench_model.made_up_video(4 if tiny else 32, *size))}
    for frames, ratio in ROUNDS[name][: 1 if tiny else None]:
        video = bench_model.made_up_video(4 if tiny else frames, *size)
        chosen = methods(FIRST if tiny else METHODS[name], ratio)
        times = {"new_tokens": 2, "repeats": 1} if tiny else {"new_tokens": 16, "repeats": 3}
        for report in bench_model.measure(built, [video], chosen, **times, warmup=1):
            print(table(report), flush=True)
            yield report


def _slider(built, video) -> dict:
    """Seconds of two questions about a clip, then from a new ratio to the masks on the CPU."""
    asked = []
    for question in ("What happens?", "What moves?"):
        started = now(built.device)
        run = _answer(built, video, question)
        asked.append({"s": now(built.device) - started, "new_tokens": run.cost.new_tokens})
    tokens, moved = encode(ClipKey(video, built.name), built)[0].tokens, []
    for ratio in (0.2, 0.15, 0.1, 0.3, 0.25):
        started = now(built.device)
        GleanVID(ratio).compress(tokens).to("cpu")
        moved.append(now(built.device) - started)
    return {"tokens": len(tokens), "asked": asked, "new_masks_s": moved}


def more(device: torch.device, tiny: bool, out: Path) -> Iterator[dict]:
    *grid, width = (4, 6, 6, 64) if tiny else GRIDS[0]
    tokens = bench_compress.made_up_tokens(tuple(grid), width, str(device))
    for method in methods(FIRST, 0.25):
        yield {"captured": method.name} | attempt(_captured, method, tokens)
    if find_spec("flash_attn"):
        yield from model("qwen3-vl-8b", device, tiny, "flash_attention_2")


def _captured(method, tokens) -> dict:
    bench_compress.run_stages(method, tokens)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        bench_compress.run_stages(method, tokens)
    graph.replay()
    started = now(tokens.features.device)
    for _ in range(20):
        graph.replay()
    return {"mean_s": (now(tokens.features.device) - started) / 20}


def attempt(work, *arguments) -> dict:
    """Return what ``work`` returns, or its error: the next row may still succeed."""
    try:
        return work(*arguments)
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"[:500]}


def main(words: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("step", choices=["right", "compress", *METHODS, "more"])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--tiny", action="store_true")
    asked = parser.parse_args(words)
    gc.freeze()  # each measurement collects garbage first: of what it made, not of the packages
    device = torch.device(asked.device)
    report = {"machine": describe_machine(device), "rows": []}
    if asked.step in METHODS:
        rows = model(asked.step, device, asked.tiny)
    else:
        rows = {"right": right, "compress": compress, "more": more}[asked.step](
            device, asked.tiny, asked.out
        )
    for row in rows:
        report["rows"].append(row)
        write_whole(asked.out / f"{asked.step}.json", json.dumps(finite(report), indent=1) + "\n")
        print(json.dumps(row)[:300], flush=True)


if __name__ == "__main__":
    main()
