"""The tab About: the open clip's run step by step, then terms, privacy and "What mattered"."""

from __future__ import annotations

from typing import Any

import gradio as gr

from ..places import ASSETS, DOCS
from ..widgets.events import PRIVATE, Changes, Values, mounted, script
from ..widgets.panel import Page, Tab
from .story import story

STORY = """
## How a video becomes an answer
The clip that is open, step by step. **GleanVID** needs no training; the other compressors are
published methods and simple baselines behind the same interface.
"""
BLANK = '<div class="gv-story"><p class="gv-hint">Reading the run…</p></div>'
DOCUMENTATION = "The **[documentation](docs/index.html)** explains every part of this page."
NO_RUN = "Choose a clip to see its steps here, from frames to answer."
TEXT = """
## Words
- **Retention ratio**: the fraction of the visual tokens that is kept.
- **Effective rank**: how many independent directions there are among the tokens kept up to a unit.
  It can be lower with all tokens, because these repeat each other.
- **Glimpse**: the made-up world of moving shapes that the built-in model was trained on, and all
  it knows. In Glimpse clips, the **object outline** surrounds the objects that the right answer
  rests on, while they are visible.
- **First token**: seconds of encoding, compressing and prefill, up to the first word. Encoding
  counts even if the clip was in memory; decoding the file is shown but not counted.
- **FLOPs** are counted in multiply-accumulates (**MAC**), each of them two operations.

## How long files stay on the server
Uploads and results lie in a temporary folder of the server and are deleted after a day, on a
public server after two hours. Whoever knows the address of an uploaded file can fetch it: on a
server that you share, upload nothing private. The page itself talks to this server alone.
"""
RELEVANCE = "## What mattered\n" + (ASSETS / "relevance.md").read_text(encoding="utf-8")


class AboutTab(Tab):
    title = "About"

    def __init__(self) -> None:
        gr.Markdown(STORY + DOCUMENTATION * DOCS.is_dir(), elem_classes="gv-about")
        self.story = mounted("story", BLANK, elem_id="gv-story")
        gr.Markdown(TEXT, elem_classes="gv-about")
        gr.Markdown(RELEVANCE, elem_classes="gv-about gv-relevance")

    def connect(self, page: Page) -> None:
        self.page = page
        latest: dict[str, Any] = {"trigger_mode": "always_last", **PRIVATE}
        page.signals.tell(self.on_tell, {page.outputs.runs}, [self.story], **latest)
        viewer: Any = page.outputs.viewer
        for event in (self.tab.select, viewer.show):
            event(None, None, None, js=script("signalSeen", "gv-story", "tell"), **PRIVATE)

    def on_tell(self, values: Values) -> Changes:
        # The list of run ids begins with the run shown as B, then the run shown as A.
        found = map(self.page.engine.runs.get, values[self.page.outputs.runs][:2])
        runs = [run for run in found if run is not None]
        return {self.story: story(runs) if runs else {"about": NO_RUN, "steps": []}}
