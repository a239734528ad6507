"""About: what the page does, what it does not, and what it keeps."""

from __future__ import annotations

import gradio as gr

from gleanvid.evaluation.catalogue import methods_table, model_table

from ..places import ASSETS
from .panel import Tab

TEXT = """
## What am I looking at?
A Video LLM reads a clip as thousands of **visual tokens**, small patches of a few frames. Most
repeat each other. A **compressor** keeps some and drops or merges the rest before the model
reads them. This page shows which ones, what the model answers then, and what that costs.

**GleanVID** spends the budget where something new happens (Temporal Novelty-guided Budgeting)
and picks tokens that add to what is kept already (Complementary Token Selection). It needs no
training. The other compressors are published methods and simple baselines behind the same
interface.

## Words
- **Retention ratio**: the share of the visual tokens that is kept.
- **Unit**: one step in time as the model sees it, often two frames.
- **Novelty**: how much of a unit the units before it cannot explain.
- **Even share B/T**: the budget spread evenly over the units. **alpha** is the weight of that
  share: 1 spends evenly, 0 all by novelty. The bounds keep it; the **Gini** index of the clip's
  novelty, 0 for all alike, sets it between them.
- **tau**: how sharply LRS tells the strongest tokens of a frame from their neighbours.
- **Effective rank**: how many independent directions all that is kept so far spans; all tokens
  repeat each other, so it can be lower for them.
- **Glimpse**: the made-up world of moving shapes that the built-in model was trained on, and all
  it knows. The **object outline** is around what the question asks about there; **object tokens**
  are those on it.
- **LRS, SCS**: how much a token adds within its frame, and to the frames before; the **joint
  score** is both.
- **First token**: seconds of encoding, compressing and prefill, up to the first word. Encoding
  counts also where the clip was in memory; decoding the file is shown but not counted.
- **FLOPs**: arithmetic of the language model over the prompt, by formula, not measured. It is
  counted in multiply-accumulates (**MAC**), each of them two floating-point operations.

## What is kept
Uploads and results lie in a temporary folder of the server and are deleted after a day, on a
public server after two hours. Whoever knows the address of an uploaded file can fetch it: on a
server that you share, upload nothing private. The page itself talks to this server alone.
"""


RELEVANCE = "## What mattered\n" + (ASSETS / "relevance.md").read_text(encoding="utf-8")
METHODS = """
## Compressors

"""

MODELS = """
## Models
What `--model` takes, besides a directory or another checkpoint of the same types. "Class" in the
column of what was tested means the real class with random weights.

"""


class AboutTab(Tab):
    title = "About"

    def __init__(self) -> None:
        gr.Markdown(TEXT, elem_classes="gv-about")
        gr.Markdown(RELEVANCE, elem_classes="gv-about gv-models gv-relevance")
        gr.Markdown(METHODS + methods_table(), elem_classes="gv-about gv-models")
        gr.Markdown(MODELS + model_table(), elem_classes="gv-about gv-models")
