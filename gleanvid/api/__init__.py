"""The public functions.

They check their arguments first and read the video before they load a model, which takes longer.
"""

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
