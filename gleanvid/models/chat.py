"""Prompts of a chat about one video, and the ids of an answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import torch
from torch import Tensor

from gleanvid.models.encoded import Encoded, History
from gleanvid.models.generation.text import literal, split_after, with_text_behind
from gleanvid.models.token_model import TokenModel
from gleanvid.types import ModelError, Video

_PER_COLUMN = frozenset({"input_ids", "attention_mask", "mm_token_type_ids"})


class ChatPrompts(TokenModel):
    """A model with a processor: writes prompts of a chat whose first turn has the video."""

    outro: ClassVar[str] = ""  # text that the processor writes after the video

    def __init__(
        self, name: str, hf_model: Any, processor: Any, max_pixels: int | None = None
    ) -> None:
        super().__init__(name, max_pixels)
        self.hf_model, self.processor = hf_model, processor
        self.system_message = ""  # system prompt; a change makes clips encoded before it invalid

    @property
    def video_token(self) -> str:
        """The placeholder of a video in the text of a prompt."""
        return self.processor.video_token

    @property
    def anchor(self) -> str:
        """Special token that ends the encoded part of the prompt.

        As it is never merged with other text, the rest of the prompt can be tokenised separately.
        """
        return self.video_token

    def without_outro(self, inputs: Mapping[str, Any]) -> dict[str, Any]:
        """Return ``inputs`` without the text that the processor writes after the video.

        That text is tokenised later, together with the question, as one token may span both.
        """
        ids = self.processor.tokenizer(self.outro, add_special_tokens=False)["input_ids"]
        cut = -len(ids) or None
        return {n: rows[:, :cut] if n in _PER_COLUMN else rows for n, rows in inputs.items()}

    def introduction(self, video: Video) -> str:
        """Text of the prompt between the video and the first question."""
        return ""

    def answer_ids(self, encoded: Encoded, question: str, answer: str, history: History) -> Tensor:
        """Return int64 [S], the token ids of ``answer`` and of the end token after it.

        They begin with any text that the chat template inserts between prompt and answer. That text
        is left out if the template also changes the prompt when an answer follows.
        """
        tokenizer = self.processor.tokenizer
        prompt = self.chat_text(encoded.video, question, history)
        whole = self.chat_text(encoded.video, question, history, answer)
        ends = self.hf_model.generation_config.eos_token_id
        ends = [tokenizer.decode([end]) for end in (ends if isinstance(ends, list) else [ends])]
        words, end = literal(answer, tokenizer), ends[0]
        rest = whole[len(prompt) :] if whole.startswith(prompt) else ""
        if places := [(rest.find(end), end) for end in ends if end in rest]:
            place, end = min(places)
            words = rest[:place]
        ids = tokenizer(words + end, add_special_tokens=False)["input_ids"]
        return torch.tensor(ids, device=self.device)

    def chat_text(
        self, video: Video, question: str, history: History, answer: str | None = None
    ) -> str:
        """Return the chat prompt as text, with the video in its first turn.

        If ``answer`` is given, the text ends with the assistant's turn that holds it. Raises
        ``ModelError`` if the processor has no chat template.
        """
        turns: list[tuple[str, str | None]] = [*history, (question, answer)]
        messages = []
        if self.system_message:
            messages.append({"role": "system", "content": [self._words(self.system_message)]})
        for number, (question, reply) in enumerate(turns):
            content = [self._words(question)]
            if number == 0:
                content[0]["text"] = self.introduction(video) + content[0]["text"]
                content[:0] = [{"type": "video"}]
            messages.append({"role": "user", "content": content})
            if reply is not None:
                messages.append({"role": "assistant", "content": [self._words(reply)]})
        try:
            return self.processor.apply_chat_template(
                messages, add_generation_prompt=answer is None, tokenize=False
            )
        except ValueError as error:
            raise ModelError(f"{self.name} has no chat template: {error}") from error

    def _words(self, text: str) -> dict[str, str]:
        """Wrap a question or an answer as one content part of a chat message."""
        return {"type": "text", "text": literal(text, self.processor.tokenizer)}

    def prompt(self, encoded: Encoded, question: str, history: History) -> dict[str, Any]:
        """Return the model inputs of the whole prompt: the encoded prefix and the text after it.

        The text after the prefix is tokenised separately, see :attr:`anchor`. Raises ``ModelError``
        if the chat template puts the question before the video.
        """
        prefix, rest = split_after(
            self.chat_text(encoded.video, question, history), self.video_token
        )
        if prefix != encoded.prefix:
            raise ModelError(
                "the chat template changes the text before the video depending on the question"
            )
        text = self.anchor + self.outro + rest
        ids = self.processor.tokenizer(text, add_special_tokens=False)["input_ids"][1:]
        return with_text_behind(encoded.inputs, torch.tensor([ids], device=self.device))
