from __future__ import annotations

from components.curves.panel import SOME_GONE
from components.curves.runs import GONE
from components.jobs.engine import Engine
from components.page.page import build_app
from gleanvid import GleanVID
from gleanvid.plots import FIGURES
from tests.components.fake import FakeBackend, a_run, moving_square


def test_curves_tab_says_if_some_or_all_runs_are_no_longer_stored():
    video, library = moving_square(), FakeBackend()
    record = GleanVID(0.25).compress(library.tokens(video))
    engine = Engine(library)
    page = build_app(engine)
    event = next(fn for fn in page.fns.values() if fn.name == "on_draw")
    notice, legend, *plots = event.outputs
    kept = engine.runs.add(a_run(video, record, GleanVID(0.25)))

    def drawn(*ids):
        [state] = [block for block in event.inputs if block.get_block_name() == "state"]
        values = {block: block.value for block in event.inputs}
        return list(event.fn(values | {state: [*ids]}))

    (begun, whole), (_, some), (_, gone) = drawn(kept), drawn(kept, "gone"), drawn("gone")
    assert begun == {notice: {"text": "Measuring 1 method…", "kind": "quiet"}}
    assert whole[notice]["text"] == "" and some[notice]["text"] == SOME_GONE
    known = ("budget", "novelty")  # figures that can be drawn without token features
    assert [some[plot]["visible"] for plot in plots] == [name in known for name in FIGURES]
    assert [row["label"] for row in some[legend]["rows"]] == ["GleanVID 25 %"]
    assert gone == {notice: {"text": GONE, "kind": "problem"}}
