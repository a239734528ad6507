"""The player of a visitor's clip, which starts no program."""

from __future__ import annotations

from pathlib import Path

import gradio as gr
from gradio.data_classes import FileData


class Player(gr.Video):
    """A video player that shows a file as it is stored.

    Gradio's own looks into it with ffprobe and converts it with ffmpeg, in the server's process.
    """

    def get_block_name(self) -> str:
        return "video"

    def preprocess(self, payload: FileData | None) -> str | None:
        return payload.path if payload else None

    def postprocess(self, value: str | Path | None) -> FileData | None:
        return FileData(path=str(value), orig_name=Path(value).name) if value else None
