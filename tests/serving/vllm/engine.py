"""Answer the same prompts by transformers, by masked attention and by vLLM, for comparison."""

from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

import torch

import gleanvid
from gleanvid.compressors.base import Compressor, setting
from gleanvid.models.frames import frame_metadata, paired
from gleanvid.types import Compression, VideoTokens

ROOT = Path(__file__).parents[3]
CLIPS = ROOT / "assets/clips"
MODEL = ROOT / "gleanvid/models/builtin"
NEW_TOKENS = 8


class Anything:
    """A set that contains every value, for a setting without a fixed list of choices."""

    def __contains__(self, value):
        return True


@dataclass(frozen=True)
class FixedChoice(Compressor):
    """Compressor that keeps the tokens with the indices ``keep``."""

    name: ClassVar[str] = "given"
    title: ClassVar[str] = "Fixed choice"
    paper: ClassVar[str] = "a test"

    keep: tuple[int, ...] = setting((), "Indices", choices=Anything())

    def _compress(self, tokens):
        return Compression.pruned(torch.tensor(self.keep), tokens.grid)


@dataclass
class Outcome:
    """Answer to one prompt: ids and log-probabilities of its tokens.

    ``positions``, [3, N]: rotary positions of the N prompt tokens after compression. ``kept``:
    indices of the kept tokens of each video or image. ``cached``: number of prompt tokens that were
    in vLLM's prefix cache. They are not computed again, so ``positions`` leaves them out.
    """

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


def inputs_of(model, question, videos=(), images=()):
    media = {}
    if videos:
        media = {
            "videos": [video.frames for video in videos],
            "video_metadata": [frame_metadata(video) for video in videos],
            "do_sample_frames": False,
        }
    if images:
        media["images"] = list(images)
    text = prompt_of(model, question, videos, images)
    made = model.processor(text=[text], return_tensors="pt", **media)
    return {name: made[name] for name in made if name != "video_metadata"}


@contextmanager
def seen_positions(model):
    """Yield a list; each forward call of the language model appends its positions [3, N]."""
    seen, rotary = [], model.layout.language_model.rotary_emb

    def watch(module, args, kwargs):
        seen.append((kwargs["position_ids"] if "position_ids" in kwargs else args[1])[-3:, 0])

    handle = rotary.register_forward_pre_hook(watch, with_kwargs=True)
    try:
        yield seen
    finally:
        handle.remove()


def by_transformers(model, method, question, videos=(), images=()):
    inputs = inputs_of(model, question, videos, images)
    with (
        seen_positions(model) as seen,
        gleanvid.compressing(model.hf_model, method) as record,
        torch.no_grad(),
    ):
        out = model.hf_model.generate(
            **inputs,
            max_new_tokens=NEW_TOKENS,
            do_sample=False,
            return_dict_in_generate=True,
            output_logits=True,
        )
    logprobs = torch.cat(out.logits).float().log_softmax(-1)
    tokens = out.sequences[0, -len(logprobs) :]
    kept = []
    if videos:
        kept = [one.keep.tolist() for row in record.compressions for one in row]
    chosen = logprobs[torch.arange(len(tokens)), tokens].tolist()
    return Outcome(tokens.tolist(), chosen, seen[0], kept)


def kept_of_images(model, method, images):
    """Return the tokens that ``method`` keeps of each image, compressed like a one-frame video."""
    inputs = model.processor.image_processor(images=list(images), return_tensors="pt")
    with torch.no_grad():
        found = model.hf_model.model.get_image_features(**inputs)
    merge = model.processor.image_processor.merge_size
    grids = [(t, h // merge, w // merge) for t, h, w in inputs["image_grid_thw"].tolist()]
    features = zip(found.pooler_output, grids, strict=True)
    return [method.compress(VideoTokens(*one)).keep.tolist() for one in features]


def by_masking(model, kept, question, videos=(), images=()):
    """Return the reference answer, from a prompt whose dropped tokens are masked in attention.

    ``kept``: indices of the kept tokens, for each video and then each image. No token is removed
    from the prompt, so the answer does not depend on the code under test.
    """
    inputs, config = inputs_of(model, question, videos, images), model.hf_model.config
    with seen_positions(model) as seen, torch.no_grad():
        model.hf_model(**inputs)
    ids, positions = inputs["input_ids"], seen[0]
    visual = torch.isin(ids[0], torch.tensor([config.image_token_id, config.video_token_id]))
    columns, mask, start = visual.nonzero().squeeze(1), (~visual).long(), 0
    grids = [*inputs.get("video_grid_thw", []), *inputs.get("image_grid_thw", [])]
    for grid, keep in zip(grids, kept, strict=True):
        mask[columns[start + torch.tensor(keep)]] = 1
        start += int(grid.prod()) // model.processor.image_processor.merge_size**2
    assert start == len(columns)
    ends = torch.tensor(model.hf_model.generation_config.eos_token_id)
    answer = Outcome([], [], positions[:, mask == 1], kept)
    for _ in range(NEW_TOKENS):
        inputs |= {"input_ids": ids, "attention_mask": mask[None]}
        with torch.no_grad():
            logits = model.hf_model(**inputs, position_ids=positions[:, None]).logits[0, -1]
        token = logits.argmax()
        answer.tokens.append(int(token))
        answer.logprobs.append(float(logits.float().log_softmax(-1)[token]))
        if token in ends:
            break
        ids = torch.cat([ids, token[None, None]], 1)
        mask = torch.cat([mask, torch.ones(1, dtype=mask.dtype)])
        positions = torch.cat([positions, positions.max().expand(3, 1) + 1], 1)
    return answer


class Engine:
    """vLLM's engine in this process, with a hook that reads the positions given to its model."""

    def __init__(self, llm):
        self.llm, self._seen, self._count = llm, [], 0
        self.scheduler = llm.llm_engine.engine_core.engine_core.scheduler
        self.model = llm.apply_model(lambda model: model)[0]
        self.model.register_forward_pre_hook(self._watch, with_kwargs=True)

    def _watch(self, module, args, kwargs):
        self._seen.append(kwargs["positions"].clone())  # a copy, as vLLM overwrites the tensor

    def prompt(self, model, question, videos=(), images=(), uuid=None):
        """Return a prompt for vLLM. Without ``uuid`` it gets a new one, which no cache has."""
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
        """Return an ``Outcome`` per prompt; positions and kept tokens only for a single prompt."""
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
