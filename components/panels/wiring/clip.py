"""Another clip clears what was said and shown of the one before."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from components.panels.clip import Example, ready
from components.panels.page import Page
from components.panels.wiring.events import AT_ONCE
from components.panels.wiring.looking import looking
from components.session.engine import Engine

CLEARED: list[Any] = [[], [], None, []]  # answers, turns, viewer, runs


def wire(engine: Engine, page: Page, examples: Sequence[Example]) -> None:
    look, talk, clip = looking(engine, page), page.talk, page.clip
    afresh = [talk.answers, page.turns, page.viewer, page.runs]
    clip.video.upload(lambda: [[], *CLEARED], None, [clip.ready, *afresh], **AT_ONCE).then(**look)
    clip.video.clear(lambda: [[], *CLEARED], None, [clip.ready, *afresh], **AT_ONCE)
    for button, example in zip(clip.examples, examples, strict=True):
        button.click(
            lambda example=example: [
                str(example.path),
                example.question,
                ready(example),
                *CLEARED,
            ],
            None,
            [clip.video, talk.question, clip.ready, *afresh],
            **AT_ONCE,
        ).then(**look)
