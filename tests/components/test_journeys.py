"""The two journeys of CONTRIBUTING.md pass through the files that it lists, and no others."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from components.panels import shared
from components.panels.page import build_app
from components.session.work.engine import Engine
from tests.components.fake import FakeBackend, write_clip

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
USER = SimpleNamespace(session_hash="me")


@pytest.fixture
def page(tmp_path, monkeypatch):
    """Handlers by name, and the values that the widgets send them."""
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path))
    write_clip(tmp_path / "clip.mp4")
    events = list(build_app(Engine(FakeBackend())).fns.values())
    gather = next(event for event in events if event.js == shared.GATHER)
    chosen = {widget: widget.value for widget in gather.inputs}
    words = next(widget for widget in chosen if widget.elem_id == "gv-question")
    chosen[words] = "What moves?"
    values = {widget: widget.value for event in events for widget in event.inputs}
    clip = next(widget for widget in values if widget.elem_id == "gv-clip")
    values |= {gather.outputs[0]: [*chosen.values(), 0], clip: str(tmp_path / "clip.mp4")}

    def handled(event):
        return lambda: list(event.fn(USER, values) if event.inputs else event.fn(USER))

    return {event.name: handled(event) for event in events}


def passed(work):
    """Files that run while ``work`` does: of panels and sessions all, of a lower room its door.

    A door is a file that one of the panels or sessions calls; what it calls itself is not counted.
    """
    found = {}

    def enter(frame, event, _):
        path = frame.f_code.co_filename
        if event != "call" or not path.startswith(f"{ROOT}/components/"):
            return
        caller = frame.f_back.f_code.co_filename if frame.f_back else ""
        room = Path(path).parent.name
        if room in ("panels", "session") or Path(caller).parent.name in ("panels", "session"):
            found[str(Path(path).relative_to(ROOT))] = None

    sys.setprofile(enter)
    try:
        work()
    finally:
        sys.setprofile(None)
    return set(found)


def listed(title):
    part = TEXT.split(f"### {title}\n", 1)[1].split("\n#", 1)[0]
    return set(re.findall(r"^\d+\. `([\w/.]+)`", part, re.M))


@pytest.mark.parametrize(
    ("title", "handlers", "most"),
    [("A question is asked", ["on_start", "on_ask"], 14), ("Tau is moved", ["on_preview"], 8)],
)
def test_a_journey_passes_the_files_that_are_listed(page, title, handlers, most):
    page["on_late"]()  # the clip is encoded and the page shows it
    files = passed(lambda: [page[handler]() for handler in handlers])
    assert files == listed(title)
    assert len(files) <= most
