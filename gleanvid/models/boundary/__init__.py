"""All hooks into language models; no other package installs one."""

from gleanvid.models.boundary.decoding import cache_argument as cache_argument
from gleanvid.models.boundary.hooks import check_uncompressed as check_uncompressed
from gleanvid.models.boundary.hooks import compressing as compressing
from gleanvid.models.boundary.hooks import installed as installed
from gleanvid.models.boundary.hooks import last_logits_only as last_logits_only
from gleanvid.models.boundary.hooks import prompt_hook as prompt_hook
from gleanvid.models.boundary.layout import Layout as Layout
from gleanvid.models.boundary.prefill import Prefill as Prefill
from gleanvid.models.boundary.streams import recomputed_layers as recomputed_layers
from gleanvid.models.boundary.streams import visual_leaves as visual_leaves
from gleanvid.models.boundary.streams import weights_without_gradient as weights_without_gradient
from gleanvid.models.boundary.vision import capture_vision as capture_vision
from gleanvid.models.boundary.vision import prompt_positions as prompt_positions
from gleanvid.models.boundary.vision import remembered_vision as remembered_vision
