"""The same question to transformers and to vLLM, with what each did on the way."""

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
    """Choices among which everything is."""

    def __contains__(self, value):
        return True


@dataclass(frozen=True)
class Given(Compressor):
    """Keeps what it is told, for comparisons in which the choice itself plays no part."""

    name: ClassVar[str] = "given"
    title: ClassVar[str] = "Given"
    paper: ClassVar[str] = "a test"

    keep: tuple[int, ...] = setting((), "Indices", choices=Anything())

    def _compress(self, tokens):
        return Compression.pruned(torch.tensor(self.keep), tokens.grid)


@dataclass
class Told:
    """What came of one prompt: words, their log-probabilities, positions, kept tokens."""

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
    return Told(tokens.tolist(), chosen, seen[0][-3:, 0], kept)


class Served:
    """vLLM's engine in this process, watched where positions enter its model."""

    def __init__(self, llm):
        self.llm, self._seen, self._asked = llm, [], 0
        self.scheduler = llm.llm_engine.engine_core.engine_core.scheduler
        self.model = llm.apply_model(lambda model: model)[0]
        self.model.register_forward_pre_hook(self._watch, with_kwargs=True)

    def _watch(self, module, args, kwargs):
        self._seen.append(kwargs["positions"].clone())  # a view of a buffer

    def asked(self, model, question, videos=(), images=(), uuid=None):
        """A prompt as vLLM takes it; new to every cache unless ``uuid`` names its media."""
        self._asked += 1
        name = uuid or f"asked-{self._asked}"
        data = {}
        if videos:
            data["video"] = [(video.frames, facts_of(video)) for video in videos]
        if images:
            data["image"] = list(images)
        uuids = {kind: [f"{name}-{n}" for n in range(len(items))] for kind, items in data.items()}
        prompt = {"prompt": prompt_of(model, question, videos, images)}
        return prompt | ({"multi_modal_data": data, "multi_modal_uuids": uuids} if data else {})

    def answers(self, prompts, chunk=4096):
        """One :class:`Told` a prompt; positions and records where there is one prompt alone."""
        from vllm import SamplingParams

        self._seen.clear()
        before = self.records(0)["count"]
        self.scheduler.max_num_scheduled_tokens = chunk
        sampling = SamplingParams(temperature=0, max_tokens=NEW_TOKENS, logprobs=0)
        told = []
        for out in self.llm.generate(prompts, sampling, use_tqdm=False):
            answer = out.outputs[0]
            steps = zip(answer.logprobs, answer.token_ids, strict=True)
            chosen = [step[token].logprob for step, token in steps]
            told.append(Told(list(answer.token_ids), chosen, cached=out.num_cached_tokens or 0))
            length = len(out.prompt_token_ids)
        if len(prompts) == 1:
            new = length - told[0].cached
            told[0].positions = torch.cat([seen[:3] for seen in self._seen], 1)[:, :new]
            told[0].kept = [one["keep"] for one in self.records(before)["records"]]
        return told

    def records(self, since):
        return self.llm.collective_rpc("gleanvid_records", args=(since,))[0]


def facts_of(video):
    facts = dict(frame_metadata(video))
    names = ("total_num_frames", "fps", "frames_indices", "duration", "width", "height")
    return {name: facts[name] for name in names} | {"do_sample_frames": False}
