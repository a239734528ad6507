"""Invariants of compression, checked on the model, device and precision at hand.

The docstring of each check is its line in the report. Differences of logits are relative, see
:func:`.case.apart`. The effect of rounding on this machine is measured without compression:
decoding token by token is compared with one pass over prompt and answer. The bound is four times
this effect. It is at least ``FLOOR`` of the dtype and at most ``MOST``, both in :mod:`.case`.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from gleanvid.compressors.base import Compressor
from gleanvid.evaluation.check.case import QUESTIONS, Case, Generated, apart
from gleanvid.evaluation.check.reference import hook_count
from gleanvid.models.base import ModelAdapter
from gleanvid.models.encoded import Encoded
from gleanvid.models.generation.sampling import Sampling
from gleanvid.models.hooks.arguments import expand_positions
from gleanvid.types import Compression, VideoTokens

SPREAD, LOGITS = "of the spread", "logits"


@dataclass(frozen=True)
class Finding:
    """Result of one check. It passes if the measured ``figure`` is at most ``bound``; NaN fails."""

    figure: float
    bound: float
    unit: str
    control: float | None = None  # figure measured with a deliberate fault, for comparison
    note: str = ""  # such as why the check could not run

    @property
    def passed(self) -> bool:
        return self.figure <= self.bound


@dataclass(frozen=True)
class _Failing(Compressor):
    name: ClassVar[str] = "failing"
    title: ClassVar[str] = "Failing"
    paper: ClassVar[str] = "none"

    def _compress(self, tokens: VideoTokens) -> Compression:
        raise _FailedError


class _FailedError(Exception):
    """Raised by the compressor that fails on purpose."""


def keep_all(case: Case) -> Finding:
    """With all tokens kept, the model says what it says without GleanVID."""
    figure, bound = (_largest(run, case.plain) for run in (case.whole, case.generated(None)))
    return Finding(figure, bound, LOGITS)


def _largest(ours: Generated, theirs: Generated) -> float:
    """Return the largest absolute difference between the logits of two answers.

    Once the answers differ in a token, the logits after that token are not compared.
    """
    differ = torch.nonzero((ours.steps != theirs.steps)[0])
    count = int(differ[0]) + 1 if len(differ) else len(ours.logits)
    return float((ours.logits[:count].float() - theirs.logits[:count].float()).abs().max())


def inputs(case: Case) -> Finding:
    """Every kept token has the features, position and DeepStack levels of the full prompt."""
    wrong: Counter[str] = Counter()
    for number, calls in enumerate(zip(case.plain.calls, case.short.calls, strict=True)):
        past = len(case.kept) + number - 1 if number else 0
        plain, short = (_received(call, past) for call in calls)
        # The answers may differ: of decoded tokens, only the positions are compared.
        for name in plain if number == 0 else ["position_ids"]:
            rows = plain[name][case.kept] if number == 0 else plain[name]
            wrong[name] += _unequal(short.get(name), rows)
    names = ", ".join(name for name, count in wrong.items() if count)
    return Finding(wrong.total(), 0, "columns", note=names)


def _received(call: Mapping[str, Any], past: int) -> dict[str, Tensor]:
    """Return what a call of the language model receives for each token: name -> [tokens, ...].

    If the call has no position ids, they are counted from ``past``, the number of earlier tokens.
    """
    embeds = call["inputs_embeds"]
    (rows, length), device = embeds.shape[:2], embeds.device
    positions = call.get("position_ids")
    if positions is None:
        positions = past + torch.arange(length, device=device)
    placed = expand_positions(positions, rows, length, device)
    found = {"inputs_embeds": embeds[0], "position_ids": placed.reshape(-1, length).T}
    if call.get("per_layer_inputs") is not None:
        found["per_layer_inputs"] = call["per_layer_inputs"][0]
    for number, level in enumerate(call.get("deepstack_visual_embeds") or ()):
        found[f"DeepStack level {number}"] = column = embeds.new_zeros(length, level.shape[-1])
        column[call["visual_pos_masks"][0].to(device)] = level.to(column)
    return found


def _unequal(ours: Tensor | None, theirs: Tensor) -> int:
    """Return in how many rows two tensors differ; all if their shapes differ."""
    if ours is None or ours.shape != theirs.shape:
        return len(theirs)
    return int((ours != theirs).flatten(1).any(1).sum())


def prefill(case: Case) -> Finding:
    """The kept tokens give the logits of the whole prompt with the dropped tokens hidden."""
    expected = case.expected[: len(case.rows)]
    figure, control = apart(case.prefill(), expected), apart(case.prefill(compact=True), expected)
    note = "" if control > case.bound else "this clip does not reveal wrong positions"
    return Finding(figure, case.bound, SPREAD, control, note)


def decode(case: Case) -> Finding:
    """The next tokens give the logits after the prompt with the dropped tokens hidden."""
    return Finding(apart(case.short.logits, case.expected[len(case.rows) :]), case.bound, SPREAD)


def cache(case: Case) -> Finding:
    """Questions on the kept cache are answered as on a new one, whatever was asked before."""
    talk, found = case.model.conversation(case.encoded, case.method), []
    for question in (*QUESTIONS, QUESTIONS[0]):
        alone = partial(case.model.generate, case.encoded, question, case.method, Sampling(1))
        ours = _first_logits(case, partial(talk.ask, question, Sampling(2)))
        found.append(apart(ours, _first_logits(case, alone)))
    worst = float(torch.tensor(found).max())  # NaN stays NaN, unlike in Python's max()
    return Finding(worst, case.bound, SPREAD)


def _first_logits(case: Case, call: Callable[[], Any]) -> Tensor:
    found: list[Tensor] = []

    def look(module: nn.Module, args: Any, output: Tensor) -> None:
        if not found:
            found.append(output[0, -1:].clone())

    with case.hf_model.get_output_embeddings().register_forward_hook(look):
        call()
    return found[0]


def hooks(case: Case) -> Finding:
    """Every hook is gone, also after an error."""
    with suppress(_FailedError), case.compressing(_Failing()):
        case.hf_model(**case.inputs)
    return Finding(abs(hook_count(case.hf_model) - case.hooks), 0, "hooks")


LAWS = {law.__name__: law for law in (keep_all, inputs, prefill, decode, cache, hooks)}


@torch.no_grad()
def examine(
    model: ModelAdapter, encoded: Encoded, method: Compressor, on_law: Callable[[str], None]
) -> dict[str, Finding]:
    """Run every check on one clip. ``method`` must prune before the language model.

    ``on_law`` is called with the name of each check before it runs. A check that raises an error
    has failed.
    """
    found = {}
    with model.lock:
        case = Case(model, encoded, method)
        for name, law in LAWS.items():
            on_law(name)
            try:
                found[name] = law(case)
            except Exception as error:
                note = _without_paths(f"not tested: {type(error).__name__}: {error}")
                found[name] = Finding(math.nan, 0, "", note=note)
    return found


def _without_paths(text: str) -> str:
    return re.sub(r"(?:[A-Za-z]:)?[\\/][^\s'\":,]*", "…", text)[:300]
