"""The public functions. They check all arguments before they open a file or a model."""

from gleanvid.api.asking import ask, ask_many, stream
from gleanvid.api.attributing import relevance
from gleanvid.api.comparing import Failure, compare
from gleanvid.api.counting import TokenCount, count_tokens
from gleanvid.api.own_models import compressing, relevance_of
from gleanvid.api.searching import least

__all__ = [
    "Failure",
    "TokenCount",
    "ask",
    "ask_many",
    "compare",
    "compressing",
    "count_tokens",
    "least",
    "relevance",
    "relevance_of",
    "stream",
]
