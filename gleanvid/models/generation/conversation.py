"""Ask many questions about one video that is compressed and prefilled once.

The prompt up to the end of the video is compressed and prefilled, and its key/value cache is
stored. Every question continues from a copy of that cache. Its tokens have the same positions as in
the uncompressed prompt, so answers equal those of a fresh run up to rounding.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor
from transformers import DynamicCache

from gleanvid.compressors.base import Compressor
from gleanvid.cost import Answer
from gleanvid.models import hooks
from gleanvid.models.encoded import Encoded, History
from gleanvid.models.generation.adapted import Adapted
from gleanvid.models.generation.answering import write_answer
from gleanvid.models.generation.context import check_context
from gleanvid.models.generation.prefix import Prefix
from gleanvid.models.generation.sampling import GREEDY, Sampling
from gleanvid.models.measure import ADVICE, explaining_out_of_memory, now
from gleanvid.types import Compression

_TAKES_ANY_MASK = ("sdpa", "eager")  # FlashAttention supports causal masks only


def reads_the_question(compressor: Compressor | None, num_layers: int) -> bool:
    """Return whether a compressor reads the question, as text or by attention."""
    if compressor is None:
        return False
    stages = compressor.at_depth(num_layers).stages
    return any("text" in stage.needs or stage.queries for _, stage in stages)


class Conversation:
    """Questions about one encoded video that one compressor compresses.

    Some compressors read the question: its text, or its attention inside the language model. Then
    the whole prompt is prefilled again for every question. Otherwise the constructor prefills the
    video once, in ``compress_s`` plus ``prefill_s`` seconds. Raises ``ModelError`` if memory runs
    out.
    """

    def __init__(self, model: Adapted, encoded: Encoded, compressor: Compressor | None) -> None:
        self.model, self.encoded, self.compressor = model, encoded, compressor
        self.records: dict[int, Compression] = {}  # layer -> latest compression, on the CPU
        self.compress_s = self.prefill_s = 0.0
        depth = model.text_config.num_hidden_layers
        self._prefix: Prefix | None = None
        if not reads_the_question(compressor, depth):
            with model.lock, explaining_out_of_memory(ADVICE):
                start = now(model.device)
                self._prefix = self._read(encoded.inputs, self._text_position())
                self.compress_s = self._prefix.hook.prefill.compress_s
                self.prefill_s = now(model.device) - start - self.compress_s
                # The video is prefilled, so its vision output is not needed again: free the memory.
                self.encoded = replace(encoded, vision=None)

    def ask(
        self,
        question: str,
        sampling: Sampling = GREEDY,
        *,
        history: History = (),
        on_text: Callable[[str], None] | None = None,
        stop: threading.Event | None = None,
    ) -> Answer:
        """Answer ``question``; arguments and errors are those of ``ModelAdapter.generate``.

        ``history``: (question, answer) pairs of earlier turns. If the constructor has prefilled
        the video, ``prefill_s`` of the answer covers only the text after the video.
        """
        if self._prefix is None:
            answer = self.model.generate(
                self.encoded,
                question,
                self.compressor,
                sampling,
                history=history,
                on_text=on_text,
                stop=stop,
            )
            self.records = answer.by_layer
            return answer
        model, hook = self.model, self._prefix.hook
        with model.lock, explaining_out_of_memory(ADVICE), torch.no_grad():
            prompt = self._prompt(question, history)["input_ids"]
            tail = prompt[:, self.encoded.inputs["input_ids"].shape[1] :]
            past = self._prefix.cache.get_seq_length()
            inputs = {
                "input_ids": tail,
                "attention_mask": tail.new_ones(1, past + tail.shape[1]),
                **hooks.cache_argument(model.hf_model, self._prefix.fork()),
            }
            with self._prefix.going_on(model.hf_model, tail.shape[1]):
                length = prompt.shape[1]
                return write_answer(
                    model, inputs, hook.prefill, length, sampling, on_text=on_text, stop=stop
                )

    @torch.no_grad()
    def score(self, question: str, answers: Sequence[str], *, history: History = ()) -> list[float]:
        """Return the mean natural log-probability of each answer's tokens, end token included.

        One forward pass scores all answers, which a mask hides from each other. If the model does
        not support such a mask, every answer has its own pass.
        """
        model = self.model
        with model.lock, explaining_out_of_memory(ADVICE):
            inputs = self._prompt(question, history)
            ids = [model.answer_ids(self.encoded, question, answer, history) for answer in answers]
            if self._prefix is None:
                prefix, lead = self._read(inputs), inputs["input_ids"][0, :0]
            else:
                prefix = self._prefix
                lead = inputs["input_ids"][0, self.encoded.inputs["input_ids"].shape[1] :]
            together = model.text_config._attn_implementation in _TAKES_ANY_MASK
            together = together and not (model.layout.recurrent or model.layout.windows)
            parts = [ids] if together else [[one] for one in ids]
            with prefix.going_on(model.hf_model, len(lead)):
                return [score for part in parts for score in self._scores(prefix, lead, part)]

    def _prompt(self, question: str, history: History) -> dict[str, Any]:
        """Return the inputs of the whole prompt; ``ModelError`` if it exceeds the context."""
        inputs = self.model.prompt(self.encoded, question, history)
        visual = len(self.encoded.tokens)
        check_context(self.model.context, inputs["input_ids"].shape[1], visual, self.compressor)
        return inputs

    @torch.no_grad()
    def _text_position(self) -> float:
        """Return the position at which the text after the video begins.

        In some models, it is not above all positions of the video, or it is no integer.
        """
        inputs = self._prompt("?", ())
        with hooks.remembered_vision(self.model.layout, self.encoded.vision):
            positions = hooks.prompt_positions(self.model.layout, inputs)
        return positions[-1, self.encoded.inputs["input_ids"].shape[1]].item()

    def _read(self, inputs: Mapping[str, Any], text_position: float = 0) -> Prefix:
        """Compress and prefill a prompt, or its part up to the end of the video; compute no logits.

        ``text_position``: position of the first token after that part.
        """
        model, layout = self.model, self.model.layout
        hook = hooks.prompt_hook(layout, self.compressor, self.encoded.signals)
        hook.goes_on = True
        cache = DynamicCache(config=model.text_config)
        with (
            torch.no_grad(),
            hooks.remembered_vision(layout, self.encoded.vision),
            hooks.installed(model.hf_model, hook),
        ):
            output = layout.core(
                **inputs, **hooks.cache_argument(layout.core, cache), use_cache=True
            )
        hook.layers.prefilling = False
        self.records = {layer: rows[0][0].to("cpu") for layer, rows in hook.prefill.stages.items()}
        return Prefix(hook, cache, output.last_hidden_state[:, -1].clone(), text_position)

    def _scores(self, prefix: Prefix, lead: Tensor, answers: list[Tensor]) -> list[float]:
        """Score answers (their token ids) with one pass; see :meth:`score`.

        ``lead`` int64 [Q]: ids of the prompt's tokens that follow ``prefix``.
        """
        ids = torch.cat([lead, *answers])
        sizes = [len(answer) for answer in answers]
        hidden = self._hidden(prefix, ids, len(lead), sizes)
        starts = [len(lead) + sum(sizes[:number]) for number in range(len(sizes))]
        # before[i] is the hidden state from which ids[i] is predicted. The prompt's last state,
        # before[len(lead)], predicts the first token of every answer.
        before = torch.cat([prefix.hidden, hidden])
        rows = [
            row
            for start, size in zip(starts, sizes, strict=True)
            for row in (len(lead), *range(start + 1, start + size))
        ]
        head = self.model.hf_model.get_output_embeddings()
        logits = head(before[rows].to(head.weight.device)).float()
        targets = torch.cat(answers).to(logits.device)
        each = logits.log_softmax(-1).gather(1, targets[:, None]).squeeze(1)
        return [part.mean().item() for part in each.split(sizes)]

    def _hidden(self, prefix: Prefix, ids: Tensor, lead: int, sizes: list[int]) -> Tensor:
        """Return the last hidden states [S, D] of the tokens ``ids`` [S] that follow ``prefix``.

        ``ids``: ``lead`` tokens of the prompt, then answers of lengths ``sizes``, hidden from each
        other.
        """
        language_model: Any = self.model.layout.language_model
        # Models with windowed attention need masks and inputs that only ``core`` computes.
        if self.model.layout.windows:
            core = self.model.layout.core
            cache = hooks.cache_argument(core, prefix.fork())
            made = core(input_ids=ids[None], **cache, use_cache=True)
            return made.last_hidden_state[0]
        own = [torch.zeros(lead), *(torch.full((size,), n + 1) for n, size in enumerate(sizes))]
        segment = torch.cat(own).to(ids.device)
        state = prefix.hook.prefilled
        behind = state.next_position[0].item()
        place = [state.lead_position + torch.arange(lead)]
        place += [behind + torch.arange(size) for size in sizes]
        positions = torch.cat(place).to(ids.device)[None]
        if state.sections:
            positions = positions.expand(state.sections, 1, -1)
        embeds = language_model.get_input_embeddings()(ids[None])
        mask = None
        if len(sizes) > 1:
            causal = torch.ones(len(ids), len(ids), dtype=torch.bool, device=ids.device).tril()
            seen = causal & ((segment == 0) | (segment == segment[:, None]))
            past = seen.new_ones(len(ids), prefix.cache.get_seq_length())
            blocked = ~torch.cat([past, seen], 1)[None, None]
            mask = torch.zeros_like(blocked, dtype=embeds.dtype)
            mask = mask.masked_fill(blocked, torch.finfo(embeds.dtype).min)
        output = language_model(
            inputs_embeds=embeds,
            position_ids=positions,
            attention_mask=mask,
            **hooks.cache_argument(language_model, prefix.fork()),
            use_cache=True,
        )
        return output.last_hidden_state[0]
