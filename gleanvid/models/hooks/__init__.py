"""All hooks into language models; no other package installs one."""

from gleanvid.models.hooks.decoding import cache_argument as cache_argument
from gleanvid.models.hooks.installing import check_uncompressed as check_uncompressed
from gleanvid.models.hooks.installing import compressing as compressing
from gleanvid.models.hooks.installing import installed as installed
from gleanvid.models.hooks.installing import last_logits_only as last_logits_only
from gleanvid.models.hooks.installing import prompt_hook as prompt_hook
from gleanvid.models.hooks.layout import Layout as Layout
from gleanvid.models.hooks.prefill import Prefill as Prefill
from gleanvid.models.hooks.streams import recomputed_layers as recomputed_layers
from gleanvid.models.hooks.streams import visual_leaves as visual_leaves
from gleanvid.models.hooks.streams import weights_without_gradient as weights_without_gradient
from gleanvid.models.hooks.vision import capture_vision as capture_vision
from gleanvid.models.hooks.vision import prompt_positions as prompt_positions
from gleanvid.models.hooks.vision import remembered_vision as remembered_vision
