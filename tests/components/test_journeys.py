"""The two journeys of CONTRIBUTING.md pass through the files that it lists, and no others."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

import app
from components.session.engine import Engine
from tests.components.fake import Library, write_clip

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
USER = SimpleNamespace(session_hash="me")


@pytest.fixture
def page(tmp_path, monkeypatch):
    """Handlers by name, and the values that the widgets send them."""
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path))
    write_clip(tmp_path / "clip.mp4")
    engine = Engine(Library())
    events = {event.name: event for event in app.build_app(engine).fns.values()}
    values = {block: block.value for name in events for block in events[name].inputs}
    clip = next(block for block in values if getattr(block, "elem_id", "") == "gv-clip")
    values |= {clip: str(tmp_path / "clip.mp4")}
    words = next(block for block in values if getattr(block, "elem_id", "") == "gv-question")
    values |= {words: "What moves?"}
    engine.start("me")
    return {name: lambda e=event: list(e.fn(USER, values)) for name, event in events.items()}


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
    ("title", "handler", "most"),
    [("A question is asked", "on_ask", 14), ("Tau is moved", "on_preview", 8)],
)
def test_a_journey_passes_the_files_that_are_listed(page, title, handler, most):
    page["on_preview"]()  # the clip is encoded and the page shows it
    files = passed(page[handler])
    assert files == listed(title)
    assert len(files) <= most
