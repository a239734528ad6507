"""Invariants of compression, checked on the model, device and precision at hand.

Each check returns a :class:`Finding`: a measured figure and the largest figure that passes (the
bound). Differences of logits are relative, see :func:`.case.apart`. The effect of rounding on this
machine is measured without compression: decoding token by token is compared with one pass over
prompt and answer. The bound is four times this effect. It is at least ``FLOOR`` of the dtype and at
most ``MOST``, both in :mod:`.case`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from gleanvid.compressors.base import Compressor
from gleanvid.evaluation.check.case import QUESTIONS, STEPS, Case, Generated, apart
from gleanvid.evaluation.check.reference import hook_count
from gleanvid.evaluation.check.report import Finding
from gleanvid.models.base import ModelAdapter
from gleanvid.models.encoded import Encoded
from gleanvid.models.generation.sampling import Sampling
from gleanvid.models.hooks.shortening import expand_positions
from gleanvid.types import Compression, VideoTokens

SPREAD, COLUMNS = "of the spread", "columns"


@dataclass(frozen=True)
class _Failing(Compressor):
    name: ClassVar[str] = "failing"
    title: ClassVar[str] = "Failing"
    paper: ClassVar[str] = "none"

    def _compress(self, tokens: VideoTokens) -> Compression:
        raise _FailedError


class _FailedError(Exception):
    """Raised by the compressor that fails on purpose."""


def _largest(ours: Generated, theirs: Generated) -> float:
    """Return the largest absolute difference between the logits of two answers.

    Once the answers differ in a token, the logits after that token are not compared.
    """
    differ = torch.nonzero((ours.steps != theirs.steps)[0])
    count = int(differ[0]) + 1 if len(differ) else len(ours.logits)
    return float((ours.logits[:count].float() - theirs.logits[:count].float()).abs().max())


def keep_all(case: Case) -> Finding:
    again = case.generated(None)
    figure, bound = _largest(case.whole, case.plain), _largest(again, case.plain)
    title = "with all tokens kept the model says what it says without GleanVID"
    return Finding("keep_all", title, figure, bound, "logits")


def positions(case: Case) -> Finding:
    wrong = 0
    for number, (plain, short) in enumerate(zip(case.plain.calls, case.short.calls, strict=True)):
        past = len(case.kept) + number - 1 if number else 0
        ours, theirs = _placed(short, 0), _placed(plain, past)
        theirs = theirs[..., case.kept] if number == 0 else theirs
        same = ours.shape == theirs.shape and (ours == theirs).flatten(0, -2).all(0)
        wrong += theirs.shape[-1] if isinstance(same, bool) else int((~same).sum())
    title = "kept and decoded tokens have the same positions as without compression"
    return Finding("positions", title, wrong, 0, COLUMNS)


def _placed(call: Mapping[str, Any], past: int) -> Tensor:
    """Return the position ids of the tokens in a call of the language model.

    Their shape is [batch, tokens], or [3, batch, tokens] for three-dimensional positions. If the
    call has no position ids, they are counted from ``past``, the number of earlier tokens.
    """
    embeds = call["inputs_embeds"]
    if call.get("position_ids") is None:
        return past + torch.arange(embeds.shape[1], device=embeds.device)[None]
    rows, length = embeds.shape[:2]
    return expand_positions(call["position_ids"], rows, length, embeds.device)


def rows_of_tokens(case: Case) -> Finding:
    plain, short = case.plain.calls[0], case.short.calls[0]
    wrong = 0
    for name in ("inputs_embeds", "per_layer_inputs"):
        if plain.get(name) is not None:
            wrong += _unequal(short.get(name), plain[name][:, case.kept])
    return Finding(
        "rows", "every kept column has the same features as without compression", wrong, 0, COLUMNS
    )


def deepstack(case: Case) -> Finding:
    plain, short = case.plain.calls[0], case.short.calls[0]
    levels, visual = plain.get("deepstack_visual_embeds"), plain.get("visual_pos_masks")
    title = "DeepStack features stay with their tokens"
    if not levels or visual is None:
        return Finding(
            "deepstack", title, 0, 0, "rows", note="this model has no DeepStack features"
        )
    staying = case.kept.to(visual.device)[visual[0]]
    found = short.get("deepstack_visual_embeds") or [None] * len(levels)
    wrong = sum(
        _unequal(ours, level[staying.to(level.device)])
        for ours, level in zip(found, levels, strict=True)
    )
    return Finding("deepstack", title, wrong, 0, "rows")


def _unequal(ours: Tensor | None, theirs: Tensor) -> int:
    """Return how many vectors of two tensors (last dimension) differ; all if shapes differ."""
    if ours is None or ours.shape != theirs.shape:
        return math.prod(theirs.shape[:-1])
    return int((ours != theirs).any(-1).sum())


def prefill(case: Case) -> Finding:
    expected = case.expected[: len(case.rows)]
    figure, control = apart(case.prefill(), expected), apart(case.prefill(compact=True), expected)
    note = "" if control > case.bound else "this clip does not reveal wrong positions"
    title = (
        f"{case.method.retention_ratio:.0%} of the tokens give the logits of the whole prompt with "
        "the dropped tokens hidden"
    )
    return Finding("prefill", title, figure, case.bound, SPREAD, control, note)


def decode(case: Case) -> Finding:
    figure = apart(case.short.logits, case.expected[len(case.rows) :])
    title = (
        f"the next {STEPS} tokens give the logits after the prompt with the dropped tokens hidden"
    )
    return Finding("decode", title, figure, case.bound, SPREAD)


def cache(case: Case) -> Finding:
    """Check that an answer from the kept key-value cache does not depend on earlier questions."""
    talk, found = case.model.conversation(case.encoded, case.method), []
    for question in (*QUESTIONS, QUESTIONS[0]):
        alone = partial(case.model.generate, case.encoded, question, case.method, Sampling(1))
        ours = _first_logits(case, partial(talk.ask, question, Sampling(2)))
        fresh = _first_logits(case, alone)
        found.append(apart(ours, fresh))
    title = "questions on the kept cache are answered as on a new one, whatever was asked before"
    worst = float(torch.tensor(found).max())  # NaN stays NaN, unlike in Python's max()
    return Finding("cache", title, worst, case.bound, SPREAD)


def _first_logits(case: Case, call: Callable[[], Any]) -> Tensor:
    found: list[Tensor] = []

    def look(module: nn.Module, args: Any, output: Tensor) -> None:
        if not found:
            found.append(output[0, -1:].clone())

    with case.hf_model.get_output_embeddings().register_forward_hook(look):
        call()
    return found[0]


def hooks(case: Case) -> Finding:
    with suppress(_FailedError), case.compressing(_Failing()):
        case.hf_model(**case.inputs)
    left = abs(hook_count(case.hf_model) - case.hooks)
    title = "every hook is gone, also after an error"
    return Finding("hooks", title, left, 0, "hooks")


LAWS: dict[str, Callable[[Case], Finding]] = {
    "keep_all": keep_all,
    "positions": positions,
    "rows": rows_of_tokens,
    "deepstack": deepstack,
    "prefill": prefill,
    "decode": decode,
    "cache": cache,
    "hooks": hooks,
}


@torch.no_grad()
def examine(
    model: ModelAdapter, encoded: Encoded, method: Compressor, on_law: Callable[[str], None]
) -> tuple[Finding, ...]:
    """Run every check on one clip. ``method`` must prune before the language model.

    ``on_law`` is called with the name of each check before it runs. A check that raises an error
    has failed.
    """
    found = []
    with model.lock:
        case = Case(model, encoded, method)
        for name, law in LAWS.items():
            on_law(name)
            try:
                found.append(law(case))
            except Exception as error:
                note = _without_paths(f"{type(error).__name__}: {error}")
                found.append(Finding(name, "could not be tested", math.nan, 0, "", note=note))
    return tuple(found)


def _without_paths(text: str) -> str:
    return re.sub(r"(?:[A-Za-z]:)?[\\/][^\s'\":,]*", "…", text)[:300]
