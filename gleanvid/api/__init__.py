"""The public functions.

They check their arguments first and read the video before they load a model, which takes longer.
"""

from gleanvid.api.asking import ask as ask
from gleanvid.api.asking import ask_many as ask_many
from gleanvid.api.asking import stream as stream
from gleanvid.api.attributing import relevance as relevance
from gleanvid.api.comparing import Failure as Failure
from gleanvid.api.comparing import compare as compare
from gleanvid.api.own_models import compressing as compressing
from gleanvid.api.own_models import processor_kwargs as processor_kwargs
from gleanvid.api.own_models import relevance_of as relevance_of
from gleanvid.api.searching import least as least
