"""CONTRIBUTING.md lists exactly the Python files that run in each of its two journeys.

A journey follows one action of a visitor, such as asking a question, through the code.
`tests/browser/test_journeys.py` checks the JavaScript files.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from components.panels.page import build_app
from components.session.work.engine import Engine
from tests.components.fake import FakeBackend

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
USER = SimpleNamespace(session_hash="me")
# for each action of a visitor: maximum number of files that CONTRIBUTING.md may list
MOST = {"A question is asked": 17, "Tau is moved": 13}


@pytest.fixture
def page(clip, cache):
    """Return name -> event handler of the page, callable without arguments."""
    events = list(build_app(Engine(FakeBackend())).fns.values())
    gather = next(event for event in events if event.js == "gleanvid.gather")
    chosen = {widget: widget.value for widget in gather.inputs}
    words = next(widget for widget in chosen if widget.elem_id == "gv-question")
    chosen[words] = "What moves?"
    values = {widget: widget.value for event in events for widget in event.inputs}
    chooser = next(widget for widget in values if widget.elem_id == "gv-clip")
    values |= {gather.outputs[0]: [*chosen.values(), 0, False], chooser: clip}

    def handled(event):
        return lambda: list(event.fn(USER, values) if event.inputs else event.fn(USER))

    return {event.name: handled(event) for event in events}


def files_run_during(work):
    """Return the files in which functions run during ``work``.

    A file outside ``panels`` and ``session`` counts only if code in these packages calls it.
    """
    found = set()

    def enter(frame, event, _):
        path = frame.f_code.co_filename
        if event != "call" or not path.startswith(f"{ROOT}/components/"):
            return
        caller = frame.f_back.f_code.co_filename if frame.f_back else ""
        if is_counted(path) or is_counted(caller):
            found.add(str(Path(path).relative_to(ROOT)))

    sys.setprofile(enter)
    try:
        work()
    finally:
        sys.setprofile(None)
    return found


def is_counted(path):
    return path.startswith((f"{ROOT}/components/panels/", f"{ROOT}/components/session/"))


def listed(title):
    """Return all files that CONTRIBUTING.md lists under the heading ``title``, in order."""
    part = TEXT.split(f"### {title}\n", 1)[1].split("\n#", 1)[0]
    return re.findall(r"^\d+\. `([\w/.]+)`", part, re.M)


@pytest.mark.parametrize(
    ("title", "handlers"),
    [("A question is asked", ["on_start", "on_ask"]), ("Tau is moved", ["on_preview"])],
)
def test_contributing_lists_exactly_the_python_files_that_run_on_an_action(page, title, handlers):
    page["on_follow"]()  # first, the clip is encoded and shown
    files = files_run_during(lambda: [page[handler]() for handler in handlers])
    named = listed(title)
    assert files == {name for name in named if name.startswith("components/")}
    assert len(named) <= MOST[title]
