"""Base class of the published benchmarks: finds their files and reads their videos' frames."""

from __future__ import annotations

import hashlib
import re
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, get_args

from gleanvid.evaluation.benchmarks.annotations import letter
from gleanvid.evaluation.benchmarks.base import Benchmark, BenchmarkError, Item, chosen
from gleanvid.evaluation.benchmarks.datasets import fetch
from gleanvid.evaluation.benchmarks.image_folder import read_frames
from gleanvid.pipeline import MAX_SIDE
from gleanvid.types import Video
from gleanvid.video import read_video
from gleanvid.video.reader import Rounding

LMMS_EVAL_SYSTEM_MESSAGES = dict.fromkeys(  # system message of LMMs-Eval 0.7.3 by model type
    ("qwen3_vl", "qwen3_vl_moe"), "You are a helpful assistant."
)
_HUB_ID = re.compile(r"[\w.-]+/[\w.-]+")


@dataclass(frozen=True)
class Published(Benchmark):
    """A benchmark in its published format.

    ``data``: the folder of the benchmark's files, or the id of the Hugging Face dataset to download
    (empty: the benchmark's own). ``rounding``: how frame numbers are rounded, "nearest" as for the
    Qwen models of LMMs-Eval, or "down" as for its LLaVA models. ``backend``: the video decoder;
    LMMs-Eval uses "decord". ``system_message``: "lmms-eval", "none" or a text. "lmms-eval" is the
    message of LMMs-Eval for Qwen3-VL, and none for other models.

    An item's ``clip`` is the path of its video inside the folder. If the question is about a time
    span only, ``#t=first,last`` follows, in seconds.
    """

    repository: ClassVar[str]
    revision: ClassVar[str | None] = None
    picture_fps: ClassVar[float] = 1.0  # frames per second of clips published as images

    data: str = ""
    rounding: str = "nearest"
    backend: str = "pyav"
    system_message: str = "lmms-eval"

    def __post_init__(self) -> None:
        if self.rounding not in get_args(Rounding):
            allowed = ", ".join(get_args(Rounding))
            raise BenchmarkError(f"rounding={self.rounding!r} must be one of {allowed}")

    def system_message_for(self, model_type: str) -> str:
        if self.system_message == "lmms-eval":
            return LMMS_EVAL_SYSTEM_MESSAGES.get(model_type, "")
        return "" if self.system_message == "none" else self.system_message

    @property
    def root(self) -> Path:
        """Return the local folder of the files. Raises :class:`BenchmarkError` if there is none."""
        if not self.data:
            return _fetched(self.repository, self.revision)
        folder = Path(self.data).expanduser()
        if folder.is_dir():
            return folder
        if not _HUB_ID.fullmatch(self.data):
            raise BenchmarkError(
                f"There is no folder {self.data}. Set data to a folder or a Hugging Face dataset "
                f"(OWNER/NAME) with the files of {self.name}"
            )
        try:
            return _fetched(self.data, None)
        except BenchmarkError as error:
            raise BenchmarkError(f"There is no folder {self.data}. {error}") from error

    @abstractmethod
    def annotations(self, root: Path) -> list[Path]:
        """Return the annotation files in ``root``, in order."""

    @abstractmethod
    def rows(self, root: Path) -> Iterable[Item]:
        """Return all questions, including those whose videos are missing."""

    def items(self, limit: int | None = None, seed: int = 0) -> list[Item]:
        root = self.root
        found = chosen(list(self.rows(root)), limit, seed)
        clips = dict.fromkeys(item.clip for item in found)
        missing = [clip for clip in clips if not (root / split(clip)[0]).exists()]
        if missing:
            raise BenchmarkError(
                f"{len(missing)} of {len(clips)} videos of {self.name} are missing below {root}; "
                f"the first is {missing[0]}"
            )
        return found

    def video(self, clip: str, num_frames: int) -> Video:
        name, part = split(clip)
        path = self.root / name
        if path.is_dir():
            return read_frames(path, num_frames, self.picture_fps, part, self.rounding, MAX_SIDE)
        options: dict[str, Any] = {"backend": self.backend, "rounding": self.rounding}
        return read_video(path, num_frames, max_side=MAX_SIDE, part=part, **options)

    def settings(self) -> dict[str, Any]:
        """Return the settings, with a hash of the annotation files in place of their folder."""
        digest = hashlib.sha256()
        for path in self.annotations(self.root):
            digest.update(path.read_bytes())
        own = {name: value for name, value in asdict(self).items() if name != "data"}
        return {"benchmark": self.name} | own | {"annotations": digest.hexdigest()[:16]}


@cache
def _fetched(repository: str, revision: str | None) -> Path:
    return fetch(repository, revision)


def split(clip: str) -> tuple[str, tuple[float, float] | None]:
    """Split ``Item.clip`` into the path of the video and the time span in seconds, if any."""
    name, sign, part = clip.partition("#t=")
    if not sign:
        return name, None
    first, last = map(float, part.split(","))
    return name, (first, last)


def find(root: Path, names: Sequence[str], place: str) -> str:
    """Return the first of ``names`` that exists in ``root``, or ``names[0]`` if none does.

    Raises :class:`BenchmarkError` for a path outside ``root``.
    """
    for name in names:
        if Path(name).is_absolute() or ".." in Path(name).parts:
            raise BenchmarkError(f"{place}: the video {name} must lie inside the folder")
    return next((name for name in names if (root / name).exists()), names[0])


def first_file(root: Path, patterns: Sequence[str], name: str) -> Path:
    """Return the first file in ``root`` that matches one of ``patterns``.

    Raises :class:`BenchmarkError`, naming the benchmark, if no file does.
    """
    for pattern in patterns:
        if found := sorted(root.glob(pattern)):
            return found[0]
    raise BenchmarkError(f"{root} holds no annotations of {name}: none of {', '.join(patterns)}")


def lettered(options: Sequence[str], form: str) -> str:
    """Return the options, one per line in ``form``, for example "({letter}) {text}"."""
    return "\n".join(
        form.format(letter=letter(number), text=text) for number, text in enumerate(options)
    )
