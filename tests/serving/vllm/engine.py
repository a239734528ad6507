"""The same prompt for transformers and for vLLM's engine: tokens, positions, kept tokens."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

import torch

import gleanvid
from gleanvid.compressors.base import Compressor, setting
from gleanvid.models.frames import frame_metadata, paired
from gleanvid.types import Compression

ROOT = Path(__file__).parents[3]
CLIPS = ROOT / "assets/clips"
MODEL = ROOT / "gleanvid/models/builtin"
NEW_TOKENS = 8


class Anything:
    """A set of choices that contains every value."""

    def __contains__(self, value):
        return True


@dataclass(frozen=True)
class FixedChoice(Compressor):
    """Keeps the tokens of its setting, to compare answers under the same choice."""

    name: ClassVar[str] = "given"
    title: ClassVar[str] = "Fixed choice"
    paper: ClassVar[str] = "a test"

    keep: tuple[int, ...] = setting((), "Indices", choices=Anything())

    def _compress(self, tokens):
        return Compression.pruned(torch.tensor(self.keep), tokens.grid)


@dataclass
class Outcome:
    """Outcome of one prompt: new tokens, log-probabilities, positions, kept tokens."""

    tokens: list[int]
    logprobs: list[float]
    positions: torch.Tensor | None = None
    kept: list[list[int]] = field(default_factory=list)
    cached: int = 0


def video(name, num_frames):
    return paired(gleanvid.read_video(CLIPS / f"{name}.mp4", num_frames))


def prompt_of(model, question, videos=(), images=()):
    parts = [{"type": "video"} for _ in videos] + [{"type": "image"} for _ in images]
    content = [*parts, {"type": "text", "text": question}]
    return model.processor.apply_chat_template(
        [{"role": "user", "content": content}], add_generation_prompt=True
    )


def by_transformers(model, method, question, videos=(), images=()):
    text, seen = prompt_of(model, question, videos, images), []
    media = {}
    if videos:
        media = {
            "videos": [video.frames for video in videos],
            "video_metadata": [frame_metadata(video) for video in videos],
            "do_sample_frames": False,
        }
    if images:
        media["images"] = list(images)
    made = model.processor(text=[text], return_tensors="pt", **media)
    inputs = {name: made[name] for name in made if name != "video_metadata"}
    rotary = model.layout.language_model.rotary_emb

    def watch(module, args, kwargs):
        seen.append(kwargs["position_ids"] if "position_ids" in kwargs else args[1])

    handle = rotary.register_forward_pre_hook(watch, with_kwargs=True)
    try:
        with gleanvid.compressing(model.hf_model, method) as record, torch.no_grad():
            out = model.hf_model.generate(
                **inputs,
                max_new_tokens=NEW_TOKENS,
                do_sample=False,
                return_dict_in_generate=True,
                output_logits=True,
            )
    finally:
        handle.remove()
    logprobs = torch.cat(out.logits).float().log_softmax(-1)
    tokens = out.sequences[0, -len(logprobs) :]
    kept = []
    if videos:
        found = record.compression
        rows = found if isinstance(found, list) else [found]
        kept = [one.keep.tolist() for one in rows]
    chosen = logprobs[torch.arange(len(tokens)), tokens].tolist()
    return Outcome(tokens.tolist(), chosen, seen[0][-3:, 0], kept)


class Engine:
    """vLLM's engine in this process, with a hook on the positions of its model."""

    def __init__(self, llm):
        self.llm, self._seen, self._count = llm, [], 0
        self.scheduler = llm.llm_engine.engine_core.engine_core.scheduler
        self.model = llm.apply_model(lambda model: model)[0]
        self.model.register_forward_pre_hook(self._watch, with_kwargs=True)

    def _watch(self, module, args, kwargs):
        self._seen.append(kwargs["positions"].clone())  # a view of a buffer

    def prompt(self, model, question, videos=(), images=(), uuid=None):
        """Return a prompt for vLLM; its media are new to every cache unless ``uuid`` is given."""
        self._count += 1
        name = uuid or f"asked-{self._count}"
        data = {}
        if videos:
            data["video"] = [(video.frames, metadata_of(video)) for video in videos]
        if images:
            data["image"] = list(images)
        uuids = {kind: [f"{name}-{n}" for n in range(len(items))] for kind, items in data.items()}
        prompt = {"prompt": prompt_of(model, question, videos, images)}
        return prompt | ({"multi_modal_data": data, "multi_modal_uuids": uuids} if data else {})

    def answers(self, prompts, chunk=4096):
        """Return the outcome of each prompt; a single one with positions and kept tokens."""
        from vllm import SamplingParams

        self._seen.clear()
        before = self.records(0)["count"]
        self.scheduler.max_num_scheduled_tokens = chunk
        sampling = SamplingParams(temperature=0, max_tokens=NEW_TOKENS, logprobs=0)
        outcomes = []
        for out in self.llm.generate(prompts, sampling, use_tqdm=False):
            answer = out.outputs[0]
            steps = zip(answer.logprobs, answer.token_ids, strict=True)
            chosen = [step[token].logprob for step, token in steps]
            outcomes.append(
                Outcome(list(answer.token_ids), chosen, cached=out.num_cached_tokens or 0)
            )
            length = len(out.prompt_token_ids)
        if len(prompts) == 1:
            new = length - outcomes[0].cached
            outcomes[0].positions = torch.cat([seen[:3] for seen in self._seen], 1)[:, :new]
            outcomes[0].kept = [one["keep"] for one in self.records(before)["records"]]
        return outcomes

    def records(self, since):
        return self.llm.collective_rpc("gleanvid_records", args=(since,))[0]


def metadata_of(video):
    metadata = dict(frame_metadata(video))
    names = ("total_num_frames", "fps", "frames_indices", "duration", "width", "height")
    return {name: metadata[name] for name in names} | {"do_sample_frames": False}
