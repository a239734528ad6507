"""The GleanVID app: ask a video, see which of its tokens were kept.

``build_app`` lays out the panels in reading order, ``wire`` connects them. Panels and what they do
live in ``components``; everything about models, compressors and videos in ``gleanvid``.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")  # Gradio reads it on import only

import gradio as gr

from components import actions, clip, controls, curves, first, serving, settings, talk, viewer
from components.engine import Engine
from components.talk import message
from gleanvid.compressors import COMPRESSORS

BUILT_IN = ("Built-in (tiny)", "builtin")
HEADER = "<h1>GleanVID</h1><p>Ask a video. See which of its tokens the model was given.</p>"
CLOSE_ON_PHONES = "() => ({__type__: 'update', open: window.innerWidth > 1000})"


class Page(NamedTuple):
    """The panels, and what the server remembers of one page."""

    settings: settings.Settings
    clip: clip.Clip
    talk: talk.Talk
    viewer: viewer.MaskViewer
    curves: curves.Curves
    run_id: gr.State
    turns: gr.State

    def asked(self) -> list[Any]:
        """The widgets whose values make an ``actions.Request``."""
        own = self.settings
        return [self.clip.video, own.frames, own.model, *own.controls.inputs()]

    def shown(self) -> list[Any]:
        """The parts that an ``actions.Shown`` changes, in the order of ``updates``."""
        talk = self.talk
        return [
            talk.notice,
            self.viewer,
            self.run_id,
            talk.answers,
            self.turns,
            talk.ask,
            talk.stop,
        ]


def build_app(
    engine: Engine,
    models: Sequence[tuple[str, str]] = (BUILT_IN,),
    examples: Sequence[clip.Example] = (),
    max_frames: int = 64,
) -> gr.Blocks:
    """The whole page. ``models`` are (label, name) pairs, the first one chosen."""
    gr.set_static_paths([first.FOLDER, *(example.path for example in examples)])
    opening = first.load()
    question = opening.question or (examples[0].question if examples else "")
    start = {"model": models[0][1], "compressor": "gleanvid"}
    with gr.Blocks(title="GleanVID", fill_width=True, delete_cache=serving.DELETE_CACHE) as blocks:
        with gr.Sidebar(width=300, elem_id="gv-settings") as sidebar:
            chosen = settings.panel(COMPRESSORS, models, max_frames, start)
        gr.HTML(HEADER, elem_id="gv-header")
        with gr.Row(elem_id="gv-columns"):
            with gr.Column(scale=5, min_width=320):
                source = clip.panel(examples, serving.MAX_UPLOAD_MB)
                words = talk.panel(question, opening.turns)
            with gr.Column(scale=8, min_width=320), gr.Tabs():
                with gr.Tab("Tokens"):
                    frames = viewer.MaskViewer(opening.viewer, elem_id="gv-tokens")
                with gr.Tab("Curves"):
                    plots = curves.panel(opening.figures)
        state = gr.State(), gr.State(opening.turns)
        wire(engine, Page(chosen, source, words, frames, plots, *state), examples)
        blocks.load(None, None, [sidebar], js=CLOSE_ON_PHONES)
        blocks.unload(stopping(engine))
    return blocks


def wire(engine: Engine, page: Page, examples: Sequence[clip.Example]) -> None:
    """Every event, in the order in which a person meets them."""
    wire_clip(engine, page, examples)
    wire_settings(engine, page)
    wire_question(engine, page)
    page.run_id.change(
        lambda run_id: curves.draw(engine.runs.get(run_id)),
        page.run_id,
        list(page.curves),
        show_progress="hidden",
    )


CLEARED: list[Any] = [[], [], None, None]  # answers, turns, viewer, run
# The engine's line lets one at a time to the model and tells the others where they stand.
IN_LINE = {"concurrency_limit": None, "show_progress": "hidden"}


def request(page: Page, values: Sequence[Any]) -> actions.Request:
    """What the widgets of ``Page.asked`` say."""
    path, frames, model, *rest = values
    fields = list(page.settings.controls.fields)
    return actions.Request(
        path, int(frames), model, lambda: controls.chosen(COMPRESSORS, fields, rest)
    )


def looking(engine: Engine, page: Page) -> dict[str, Any]:
    """The event that shows the tokens of the clip under the settings as they are."""

    def on_look(*asked: Any) -> Iterator[list[Any]]:
        yield from map(updates, actions.look(engine, request(page, asked)))

    return {"fn": on_look, "inputs": page.asked(), "outputs": page.shown(), **IN_LINE}


def wire_clip(engine: Engine, page: Page, examples: Sequence[clip.Example]) -> None:
    """Another clip clears what was said and shown of the one before."""
    look, talk = looking(engine, page), page.talk
    afresh = [talk.answers, page.turns, page.viewer, page.run_id]
    page.clip.video.upload(lambda: CLEARED, None, afresh, show_progress="hidden").then(**look)
    for button, example in zip(page.clip.examples, examples, strict=True):
        button.click(
            lambda example=example: [str(example.path), example.question, *CLEARED],
            None,
            [page.clip.video, talk.question, *afresh],
            show_progress="hidden",
        ).then(**look)


def wire_settings(engine: Engine, page: Page) -> None:
    """A changed setting shows its effect once the hand is off it; nothing is encoded again."""
    own = page.settings.controls
    page.settings.model.input(
        lambda name: gr.update(visible=name == BUILT_IN[1]),
        page.settings.model,
        page.talk.note,
        queue=False,
        show_progress="hidden",
    )
    own.method.input(
        lambda name: controls.show(COMPRESSORS, name),
        own.method,
        [own.ratio, *own.groups.values()],
        queue=False,
        show_progress="hidden",
    )
    changes = [own.method.input, page.settings.model.input, page.settings.frames.release]
    for widget in [own.ratio, *own.fields.values()]:
        changes.append(widget.release if isinstance(widget, gr.Slider) else widget.change)
    gr.on(changes, **looking(engine, page), trigger_mode="always_last")


def wire_question(engine: Engine, page: Page) -> None:
    talk = page.talk

    def on_start(user: gr.Request) -> list[Any]:
        if not engine.start(str(user.session_hash)):
            raise gr.Error("Still answering. Stop it first, or wait.", print_exception=False)
        waiting = message("Waiting for the model…")
        return [waiting, gr.update(interactive=False), gr.update(interactive=True)]

    def on_ask(user: gr.Request, question: str, turns: actions.Turns, *asked: Any) -> Iterator[Any]:
        session = str(user.session_hash)
        yield from map(
            updates, actions.ask(engine, session, request(page, asked), question or "", turns)
        )

    asking = gr.on(
        [talk.ask.click, talk.question.submit],
        on_start,
        None,
        [talk.notice, talk.ask, talk.stop],
        queue=False,
        show_progress="hidden",
    ).success(on_ask, [talk.question, page.turns, *page.asked()], page.shown(), **IN_LINE)
    # The flag first: it frees the model. Cancelling only ends the event.
    talk.stop.click(stopping(engine), queue=False).then(
        lambda: updates(actions.STOPPED),
        None,
        page.shown(),
        queue=False,
        show_progress="hidden",
        cancels=[asking],
    )


def stopping(engine: Engine) -> Callable[[gr.Request], None]:
    def on_stop(user: gr.Request) -> None:
        engine.stop(str(user.session_hash))

    return on_stop


def updates(shown: actions.Shown) -> list[Any]:
    """One value for each of ``Page.shown``; a part that stays is skipped."""
    parts = [shown.notice, shown.viewer, shown.run_id, shown.turns, shown.turns]
    values = [gr.skip() if part is None else part for part in parts]
    if not shown.done:
        return [*values, gr.skip(), gr.skip()]
    return [*values, gr.update(interactive=True), gr.update(interactive=False)]


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Ask a video, see which tokens were kept.")
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on")
    parser.add_argument("--port", type=int, help="default: the first free one from 7860")
    parser.add_argument("--share", action="store_true", help="a public address through Gradio")
    parser.add_argument(
        "--model", help="hub id or local directory to offer beside the built-in one"
    )
    parser.add_argument("--max-frames", type=int, default=64, help="upper end of the frames slider")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> None:
    from gleanvid import pipeline

    options, engine = parse(arguments), Engine(pipeline)
    models = ([(options.model, options.model)] if options.model else []) + [BUILT_IN]
    # Gradio empties its folder when a server stops: a shared one would break the others' pages.
    with tempfile.TemporaryDirectory(prefix="gleanvid-", ignore_cleanup_errors=True) as folder:
        os.environ.setdefault("GRADIO_TEMP_DIR", folder)
        page = build_app(engine, models, clip.examples(), options.max_frames)
        engine.warm_up(models[0][1])
        launch = serving.options(options.host, options.port, options.share)
        page.queue(max_size=20).launch(**launch)


if __name__ == "__main__":
    main()
