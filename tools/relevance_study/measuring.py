"""Measurements on one question: relevance maps, effects of hiding tokens, lower precisions."""

from __future__ import annotations

from functools import cache
from typing import Any

import torch
from torch import Tensor

from gleanvid.attribution.measure import measure
from gleanvid.attribution.occlusion import log_probability_of
from gleanvid.attribution.prompt import AnsweredPrompt
from gleanvid.compressors import method_from
from gleanvid.compressors.full_tokens import FullTokens
from gleanvid.compressors.gleanvid import GleanVID
from gleanvid.evaluation.benchmarks.base import Item
from gleanvid.evaluation.benchmarks.glimpse import Glimpse
from gleanvid.evaluation.run.setups import Setup
from gleanvid.glimpse.questions.clips import evidence_by_thing
from gleanvid.glimpse.questions.questions import caption
from gleanvid.glimpse.world.scenes import sample_scene
from gleanvid.glimpse.world.world import ClipSettings
from gleanvid.metrics.diversity import effective_dimension
from gleanvid.metrics.span import debiased
from gleanvid.models import load_model
from tools.relevance_study.rewording import reworded
from tools.relevance_study.scores import against_truth, agreement, ranks_agree

FRAMES = 32
METHODS = ("gleanvid", "uniform", "random", "vidcom2", "evs", "divprune", "sttm", "floc", "aot")
RATIOS = (0.25, 0.15, 0.1)
DELETION, INSERTION = (0.1, 0.3, 0.5), (0.01, 0.03, 0.1)  # fractions of tokens deleted, inserted
PRECISIONS: dict[str, dict[str, Any]] = {  # precision -> keywords of load_model
    "bfloat16": {"dtype": "bfloat16"},
    "8bit": {"quantization": "8bit"},
    "4bit": {"quantization": "4bit"},
    "float16": {"dtype": "float16"},
}
# part of the study -> n; the part is measured for every n-th question only
PARTS = {"maps": 1, "hidden": 8, **dict.fromkeys(PRECISIONS, 6)}


def setup(method: str, ratio: float) -> Setup:
    """Return a setup: a method, ratio and ``FRAMES`` frames; its ``key`` names it in journals."""
    return Setup(method_from(method, ratio), FRAMES)


class Study:
    """Measures relevance for one question at a time."""

    def __init__(self) -> None:
        self.model = load_model("builtin", device="cpu", dtype="float32")
        self.benchmark = Glimpse(clip_frames=FRAMES)
        self.setups = [setup(name, ratio) for name in METHODS for ratio in RATIOS]
        self.clip = cache(self._clip)
        self.exact = cache(self._exact)
        self.loaded = cache(lambda name: load_model("builtin", device="cpu", **PRECISIONS[name]))

    def measured(self, part: str, item: Item) -> dict[str, Any]:
        """Return the measurement ``part`` (a key of ``PARTS``) of a question."""
        named = {"maps": self.maps, "hidden": self.hidden}
        return named[part](item) if part in named else self.at_precision(part, item)

    def _clip(self, clip: str) -> tuple[Any, dict[str, Any]]:
        """Return the encoded clip, and (compression, effective rank) by the key of the setup."""
        self.clip.cache_clear()
        encoded = self.model.encode(self.benchmark.video(clip, FRAMES), frozenset({"saliency"}))
        rows, records = debiased(encoded.tokens.features), {}
        for one in self.setups:
            record = one.method.compress(encoded.tokens)
            records[one.key] = record, effective_dimension(rows, record)
        return encoded, records

    def truth(self, item: Item, encoded: Any) -> tuple[Tensor, Tensor]:
        """Return two masks, bool [L]: tokens that hold the answer, and tokens on any object."""
        seed, split, number = item.clip.split("/")
        address = int(seed), split, int(number), ClipSettings(num_frames=FRAMES)
        everything = caption(sample_scene(*address))
        objects = evidence_by_thing(*address, everything, encoded.tokens.grid).any(0)
        holds = self.benchmark.evidence(item, encoded.tokens).any(0)
        return holds, objects | holds

    def maps(self, item: Item) -> dict[str, Any]:
        """Compare relevance with the ground truth of a question.

        Also measure the fraction of the relevance that lies on the kept tokens of every setup.
        """
        encoded, records = self.clip(item.clip)
        asked = self.model, encoded, item.question
        found = {n: measure(*asked, item.right_option, n) for n in ("gradient", "attention")}
        likely = self.model.conversation(encoded, FullTokens()).score(item.question, item.options)
        own = item.options[max(range(len(likely)), key=likely.__getitem__)]
        is_right = own == item.right_option
        mine = found["gradient"] if is_right else measure(*asked, own)
        scores = {name: one.tokens for name, one in found.items()} | baselines(encoded.tokens)
        truth = self.truth(item, encoded)
        return {
            "seconds": {name: one.seconds for name, one in found.items()},
            "truth": {name: against_truth(values, *truth) for name, values in scores.items()},
            "right_answer": is_right,
            "kept": {key: mine.kept(record) for key, (record, _) in records.items()},
            "best": {key: mine.best(record.num_kept) for key, (record, _) in records.items()},
            "rank": {key: rank for key, (_, rank) in records.items()},
        }

    def hidden(self, item: Item) -> dict[str, Any]:
        """Compare relevance with effects of hiding tokens, and with relevance after rewording."""
        encoded, _ = self.clip(item.clip)
        asked = (self.model, encoded, item.question, item.right_option)
        found = {name: measure(*asked, name) for name in ("gradient", "attention")}
        units = encoded.tokens.grid[0]
        occlusion = measure(*asked, "occlusion", passes=units)
        orders = {name: one.tokens for name, one in found.items()} | {
            "random": noise(encoded.tokens)
        }
        prompt = AnsweredPrompt.of(*asked)
        row: dict[str, Any] = {
            "seconds": occlusion.seconds,
            "units": units,
            "agreement": {n: ranks_agree(one.units, occlusion.units) for n, one in found.items()},
            "truth": {"occlusion": against_truth(occlusion.tokens, *self.truth(item, encoded))},
            "curves": {name: curves(prompt, values) for name, values in orders.items()},
            "whole": found["gradient"].log_probability,
        }
        if other := reworded(item.question):
            again = measure(self.model, encoded, other, item.right_option)
            both = agreement(found["gradient"].tokens, again.tokens)
            row |= {"reworded": both["rank"], "reworded_top": both["top"]}
        return row

    def _exact(self, item: Item) -> tuple[Any, Tensor]:
        """Return the encoded clip and the relevance map by gradients in float32."""
        self.exact.cache_clear()
        encoded = self.model.encode(self.benchmark.video(item.clip, FRAMES))
        return encoded, measure(self.model, encoded, item.question, item.right_option).tokens

    def at_precision(self, name: str, item: Item) -> dict[str, Any]:
        """Compare the gradient map of a model in another precision with that in float32."""
        encoded, exact = self.exact(item)
        model, truth = self.loaded(name), self.truth(item, encoded)
        own = measure(model, model.encode(encoded.video), item.question, item.right_option).tokens
        found = {"float32": against_truth(exact, *truth), name: against_truth(own, *truth)}
        return {**agreement(exact, own), "truth": found}


def curves(prompt: AnsweredPrompt, values: Tensor) -> dict[str, list[float]]:
    """Return log-probabilities of the answer while tokens are deleted, or inserted, in order.

    The most relevant tokens are deleted or inserted first.
    """
    order, total = values.argsort(descending=True), len(values)

    def only(keep: Tensor) -> float:
        return log_probability_of(prompt, keep.sort().values)

    return {
        "deletion": [only(order[max(1, round(part * total)) :]) for part in DELETION],
        "insertion": [only(order[: max(1, round(part * total))]) for part in INSERTION],
    }


def baselines(tokens: Any) -> dict[str, Tensor]:
    """Return baseline scores that ignore the question, float32 [L] each."""
    scored = GleanVID().compress(tokens).scores
    return {
        "joint score": scored["joint"].float(),
        "novelty": scored["novelty"].float(),
        "saliency": tokens.saliency.float(),
        "feature norm": tokens.features.float().norm(dim=1),
        "random": noise(tokens),
    }


def noise(tokens: Any) -> Tensor:
    """Return random scores of the tokens, the same for every question."""
    return torch.rand(len(tokens), generator=torch.manual_seed(0))
