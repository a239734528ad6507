"""Write the demo, the viewer with saved runs as one page: ``python -m tools.demo FILE``.

``make docs`` writes it. It needs no server: three clips, five methods and eight retention ratios,
each with its masks, budgets, curves and answers.
"""

import gzip
import json
import sys
from base64 import b64encode
from collections.abc import Sequence
from pathlib import Path
from string import Template
from typing import Any

from components.export.take_away import content
from components.jobs.engine import Engine
from components.jobs.examples import Example, examples
from components.jobs.local import BUILT_IN, PHOTOS, LocalBackend
from components.jobs.queue import Work
from components.page.first import untimed
from components.places import ASSETS
from components.viewer.standalone import as_json, data_url, page
from gleanvid.compressors import COMPRESSORS, Compressor
from gleanvid.models.encoded import ClipKey
from gleanvid.models.generation.sampling import Sampling
from gleanvid.run import Run

CLIPS = ("glimpse_3.mp4", "glimpse_2.mp4", "driveway.mp4")
METHODS = ("gleanvid", "vcast", "vidcom2", "divprune", "uniform")
RATIOS = (0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.5, 0.75)
MOST_BYTES = 6e6
FRAMES = {BUILT_IN: 32, PHOTOS: 16}  # a filmed clip has four times as many tokens a frame
ABOUT = (
    "A demo: saved runs of three clips, five methods and eight ratios. The built-in model answers "
    "about the drawn clips. Install GleanVID for clips, questions and models of your own."
)


def demo(clips: Sequence[str] = CLIPS, ratios: Sequence[float] = RATIOS) -> str:
    """Return the HTML text of the demo."""
    engine = Engine(LocalBackend({}))
    known = {example.path.name: example for example in examples()}
    saved = {"clips": [clip_of(engine, known[name], ratios) for name in clips], "ratios": ratios}
    extra = Template((ASSETS / "demo.html").read_text(encoding="utf-8"))
    return page(None, [], "GleanVID", ABOUT, extra=extra.safe_substitute(demo=as_json(saved)))


def clip_of(engine: Engine, example: Example, ratios: Sequence[float]) -> dict[str, Any]:
    """Return a clip with its compressed states, one for each retention ratio."""
    model = BUILT_IN if example.questions else PHOTOS
    video = engine.clip(str(example.path), FRAMES[model])
    key = ClipKey(video, model)
    tokens = engine.encode(key, Work()).tokens
    states, sheet = [], b""
    whole = run_of(engine, key, example, COMPRESSORS["full"]())
    for ratio in ratios:
        methods = (COMPRESSORS[name](retention_ratio=ratio) for name in METHODS)
        first, *others = (run_of(engine, key, example, method) for method in methods)
        packed, answers = content([first, whole, *others], tokens, example)
        data = b64encode(packed.data).decode()
        state = json.dumps({"value": packed.value, "answers": answers, "data": data})
        states.append(b64encode(gzip.compress(state.encode(), 9, mtime=0)).decode())
        sheet = packed.sheet
    return {
        "title": example.question if example.questions else example.title,
        "silent": not example.questions,
        "picture": data_url("image/jpeg", example.path.with_suffix(".jpg").read_bytes()),
        "sheet": data_url("image/jpeg", sheet),
        "states": states,
    }


def run_of(engine: Engine, key: ClipKey, example: Example, method: Compressor) -> Run:
    """Return the run of one method, with an answer if the clip has a question."""
    if example.questions:
        sampling = Sampling(max_new_tokens=16)
        return untimed(engine.run(key, example.question, method, sampling, Work()))
    return untimed(engine.compress(key, engine.encode(key, Work()), method))


def main(path: Path) -> None:
    text = demo()
    if len(text) > MOST_BYTES:
        sys.exit(f"{path} would have {len(text) / 1e6:.1f} MB; the limit is {MOST_BYTES / 1e6} MB")
    path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
