from __future__ import annotations

from components.panels.curves import SOME_GONE
from components.panels.page import build_app
from components.session.actions.runs import GONE
from components.session.work.engine import Engine
from gleanvid import GleanVID
from gleanvid.plots import FIGURES
from tests.components.fake import FakeBackend, a_run, moving_square


def test_curves_tab_says_if_some_or_all_runs_are_no_longer_stored():
    video, library = moving_square(), FakeBackend()
    record = GleanVID(0.25).compress(library.tokens(video))
    engine = Engine(library)
    page = build_app(engine)
    event = next(fn for fn in page.fns.values() if fn.name == "on_draw")
    notice, legend, drawn_clip, *plots = event.outputs
    [clip] = [block for block in event.inputs if block.get_block_name() == "file"]
    kept = engine.runs.add(a_run(video, record, GleanVID(0.25)))

    def drawn(*ids, path=None):
        states = [block for block in event.inputs if block.get_block_name() == "state"]
        # Of the inputs of type gr.State, only the list of run ids is not None at first.
        [state] = [block for block in states if block.value is not None]
        values = {block: block.value for block in event.inputs}
        return list(event.fn(values | {state: [*ids], clip: path}))

    (begun, whole), (_, some), (_, gone) = drawn(kept), drawn(kept, "gone"), drawn("gone")
    measuring = {notice: {"text": "Measuring 1 method…", "kind": "quiet"}, drawn_clip: None}
    assert begun == measuring
    assert whole[notice]["text"] == "" and some[notice]["text"] == SOME_GONE
    known = ("budget", "novelty")  # figures that can be drawn without token features
    assert [some[plot]["visible"] for plot in plots] == [name in known for name in FIGURES]
    assert [row["label"] for row in some[legend]["rows"]] == ["GleanVID 25 %"]
    assert gone == {notice: {"text": GONE, "kind": "problem"}}
    of_another_clip, _ = drawn(kept, path="another.mp4")
    assert of_another_clip[drawn_clip] == "another.mp4" and of_another_clip[legend] is None
    assert not any(of_another_clip[plot]["visible"] for plot in plots)
