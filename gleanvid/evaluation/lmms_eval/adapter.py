"""Use any model of :mod:`gleanvid.models` with compression in LMMs-Eval 0.7.

An exception would end LMMs-Eval's run. So if a video cannot be read or a question fails, this is
logged and the answer is ``NO_ANSWER``. Tasks score that text as wrong; LongVideoBench guesses, as
for any answer without a letter. An empty answer is also replaced by ``NO_ANSWER``: tasks leave
empty answers out of the count. LMMs-Eval saves answers only at the end. With ``journal``, every
answer is written to a file at once.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any, ClassVar

from lmms_eval.api.instance import GenerationResult, TokenCounts
from lmms_eval.api.model import lmms
from lmms_eval.models.model_utils.gen_metrics import log_metrics
from loguru import logger

from gleanvid import plugins
from gleanvid.api.pipeline import MAX_SIDE
from gleanvid.evaluation.lmms_eval.image_folder import read_frames
from gleanvid.evaluation.lmms_eval.requests import (
    Clip,
    digest,
    journal_path,
    named_compressor,
    video_and_text,
)
from gleanvid.evaluation.provenance import fingerprint
from gleanvid.evaluation.run.journal import Journal, LmmsRow
from gleanvid.evaluation.run.setups import Setup
from gleanvid.models import load_model
from gleanvid.models.families.llava_video.config import CHOICES
from gleanvid.models.generation.conversation import Conversation
from gleanvid.models.generation.sampling import Sampling
from gleanvid.types import Video
from gleanvid.video import read_video

LMMS_EVAL_SYSTEM_MESSAGES = dict.fromkeys(  # system message of LMMs-Eval 0.7.3 by model type
    ("qwen3_vl", "qwen3_vl_moe"), "You are a helpful assistant."
)
NO_ANSWER = "(no answer)"
_PICTURE_FPS = 3.0  # frames per second of clips published as folders of images (MVBench)


class GleanVIDModel(lmms):
    """A model with compression, which LMMs-Eval creates from its ``--model_args``.

    - ``pretrained``: "builtin", the id of a model on the Hugging Face hub, or a directory;
    - ``compressor``: its name. ``retention_ratio`` and its other settings are given by name, too;
    - ``num_frames``, ``rounding`` and ``backend``: as in ``read_video``;
    - ``system_prompt``: text before the prompt. By default, it is LMMs-Eval's own for Qwen3-VL, and
      none for other models;
    - ``journal``: file or folder for the answers, with which a stopped run can continue;
    - ``device``, ``dtype``, ``attn_implementation``, ``device_map``, ``quantization`` and
      ``max_pixels``: as in ``load_model``. LLaVA-Video's own settings are given by name, too;
    - ``plugin``: a Python file with a compressor or model adapter of your own.

    Raises ``ValueError`` if a setting is unknown.
    """

    is_simple = False
    frames: ClassVar[int] = 32
    frame_rounding: ClassVar[str] = "nearest"
    model_settings: ClassVar[Mapping[str, Any]] = {}

    def __init__(
        self,
        pretrained: str = "builtin",
        compressor: str = "gleanvid",
        num_frames: int | None = None,
        rounding: str | None = None,
        backend: str = "pyav",
        journal: str | None = None,
        system_prompt: str | None = None,
        max_pixels: int | None = None,
        device: str | None = None,
        plugin: str | None = None,
        batch_size: int | str | None = None,  # ignored, but LMMs-Eval passes it
        max_batch_size: int | str | None = None,
        **others: Any,
    ) -> None:
        super().__init__()
        if plugin:
            plugins.load(plugin)
        load = ("dtype", "attn_implementation", "device_map", "quantization")
        loading = {name: others.pop(name) for name in load if name in others}
        own = {name: others.pop(name) for name in CHOICES if name in others}
        own = {**self.model_settings, **own}
        self.setup = Setup(named_compressor(compressor, others), num_frames or self.frames)
        self.reading = {"rounding": rounding or self.frame_rounding, "backend": backend}
        self.accelerator = _accelerator()
        self._rank = self.accelerator.process_index
        self._world_size = self.accelerator.num_processes
        where: Any = self.accelerator.device if self._world_size > 1 else device
        self.model = load_model(pretrained, where, max_pixels=max_pixels, settings=own, **loading)
        if system_prompt is None and pretrained != "builtin":
            system_prompt = LMMS_EVAL_SYSTEM_MESSAGES.get(self.model.hf_model.config.model_type)
        self.model.system_message = system_prompt or ""
        self.device = self.model.device
        self.settings = {
            "lmms_eval_model": type(self).__name__,
            "model_weights": fingerprint(self.model.hf_model),
            "max_pixels": max_pixels,
            "system_prompt": self.model.system_message,
            "model_settings": own,
            **self.reading,
        }
        self.journal_path = journal_path(journal, self._rank, self._world_size)
        self._open: tuple[Clip, Conversation] | None = None  # the clip that was read last

    def generate_until(self, requests: Sequence[Any]) -> list[GenerationResult]:
        """Return the answers in the order of ``requests``. Those in the journal are reused."""
        path, rows = self.journal_path, []
        with Journal(path, self.settings) if path else nullcontext() as journal:
            for number, request in enumerate(requests, 1):
                rows.append(self._row(request.args, journal))
                if number % 100 == 0:
                    logger.info(f"gleanvid: {number} of {len(requests)} questions")
        self._report(rows)
        return [
            GenerationResult(
                text=row.get("said", {}).get("text", "").strip() or NO_ANSWER,
                token_counts=TokenCounts(output_tokens=row.get("new_tokens")),
            )
            for row in rows
        ]

    def loglikelihood(self, requests: Sequence[Any]) -> list[tuple[float, bool]]:
        raise NotImplementedError("gleanvid models answer generate_until tasks only")

    def generate_until_multi_round(self, requests: Sequence[Any]) -> list[str]:
        raise NotImplementedError("gleanvid models answer generate_until tasks only")

    def _row(self, arguments: Sequence[Any], journal: Journal | None) -> LmmsRow:
        _, doc_to_messages, options, doc_id, task, split = arguments
        row: LmmsRow = {"item": f"{task}/{split}/{doc_id}", "setup": self.setup.key}
        try:
            messages = doc_to_messages(self.task_dict[task][split][doc_id])
            clip, prompt = video_and_text(messages)
            row["item"] += "/" + digest(clip, prompt, options)
            key = row["item"], row["setup"]
            if journal is not None and journal.done(key):
                return journal.rows[key]
            self._answer(row, clip, prompt, options)
        except (Exception, SystemExit) as error:  # some tasks call sys.exit if a video is missing
            row["error"] = f"{type(error).__name__}: {error}"[:500]
            logger.warning(f"gleanvid: {task} {doc_id}: {row['error']}")
        if journal is not None:
            journal.append(row)
        return row

    def _answer(self, row: LmmsRow, clip: Clip, prompt: str, options: Mapping[str, Any]) -> None:
        """Answer one request, and put the answer and its cost into the journal row ``row``."""
        started = time.perf_counter()
        conversation = self._conversation(clip)
        answer = conversation.ask(
            prompt,
            Sampling(
                int(options.get("max_new_tokens", 128)),
                float(options.get("temperature") or 0) if options.get("do_sample") else 0.0,
                float(options.get("top_p") or 1.0),
            ),
        )
        row["said"] = {"text": answer.text}
        row["tokens"] = [answer.prompt_tokens, answer.prompt_tokens_kept]
        row["new_tokens"] = answer.new_tokens
        row["seconds"] = round(time.perf_counter() - started, 4)
        row["prefill_s"] = round(conversation.prefill_s + answer.prefill_s, 4)
        row["compress_s"] = round(conversation.compress_s + answer.compress_s, 4)
        row["generate_s"] = round(answer.generate_s, 4)
        row["peak_memory_mib"] = round(answer.peak_memory_mib, 1)

    def _conversation(self, clip: Clip) -> Conversation:
        """Encode and compress a clip, unless the previous question was about the same clip."""
        if self._open is None or self._open[0] != clip:
            self._open = None  # frees memory for the next clip
            encoded = self.model.encode(self._read(*clip), self.setup.method.needs)
            self._open = clip, self.model.conversation(encoded, self.setup.method)
        return self._open[1]

    def _read(self, path: str, part: tuple[float, float] | None) -> Video:
        if Path(path).is_dir():
            rounding = self.reading["rounding"]
            frames = self.setup.num_frames
            return read_frames(Path(path), frames, _PICTURE_FPS, part, rounding, MAX_SIDE)
        reading: Any = self.reading
        return read_video(path, self.setup.num_frames, max_side=MAX_SIDE, part=part, **reading)

    def _report(self, rows: Sequence[LmmsRow]) -> None:
        """Give LMMs-Eval the total seconds and tokens, and mean milliseconds per question."""
        good = [row for row in rows if "error" not in row]
        failed = len(rows) - len(good)
        if failed:
            kept = f"; {self.journal_path} says why" if self.journal_path else ""
            logger.error(
                f"gleanvid: {failed} of {len(rows)} questions failed and count as wrong{kept}"
            )
        spent = sum(row["prefill_s"] + row["compress_s"] + row["generate_s"] for row in good)
        written = sum(row["new_tokens"] for row in good)
        seconds = {
            "prefill_ms": [row["prefill_s"] for row in good],
            "compress_ms": [row["compress_s"] for row in good],
            "generate_ms": [row["generate_s"] for row in good],
        }
        means = {name: 1e3 * statistics.mean(taken) for name, taken in seconds.items() if taken}
        peak = max((row["peak_memory_mib"] for row in good), default=0.0)
        more = means | {"peak_memory_mib": peak, "failed": failed, "rank": self._rank}
        log_metrics(spent, written, written / spent if spent else 0.0, more)


class GleanVIDQwen3VL(GleanVIDModel):
    """Qwen3-VL and other models in LMMs-Eval: frame numbers are rounded as in qwen_vl_utils."""


class GleanVIDLlavaOneVision(GleanVIDModel):
    """LLaVA-OneVision in LMMs-Eval: frame numbers are rounded down, as in LMMs-Eval itself."""

    frame_rounding = "down"


class GleanVIDLlavaVideo(GleanVIDLlavaOneVision):
    """LLaVA-Video in LMMs-Eval: 64 frames, with frame numbers rounded down.

    Tokens are pooled by averaging, and the prompt does not state the times of the frames.
    """

    frames = 64
    model_settings: ClassVar[Mapping[str, Any]] = {
        "spatial_pool_mode": "average",
        "time_instruction": False,
    }


def _accelerator() -> Any:
    from accelerate import Accelerator

    return Accelerator()
