"""The Curves tab says which runs are gone."""

from __future__ import annotations

from components.panels.curves import SOME_GONE
from components.panels.page import build_app
from components.session.engine import Engine
from components.session.figures import TITLES
from components.session.runs import GONE
from gleanvid import GleanVID
from tests.components.fake import Library, a_run, moving_square


def test_runs_that_are_gone_are_said():
    video, library = moving_square(), Library()
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
    several = ("mask_overlap", "effective_dimension")
    assert [some[plot]["visible"] for plot in plots] == [name not in several for name in TITLES]
    assert [row["label"] for row in some[legend]["rows"]] == ["GleanVID 25 %"]
    assert gone == {notice: {"text": GONE, "kind": "problem"}}
