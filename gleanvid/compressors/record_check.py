"""Check that a compression record is consistent and fits the tokens that it was made from."""

from __future__ import annotations

import torch

from gleanvid.types import Compression, VideoTokens


class ContractError(ValueError):
    """Raised if a method breaks an invariant; the message says how."""


def require(holds: bool, reason: str) -> None:
    """Raise ``ContractError`` with this reason unless ``holds``."""
    if not holds:
        raise ContractError(reason)


def check_record(record: Compression, tokens: VideoTokens, merges: bool) -> None:
    """Raise ``ContractError`` unless a compression record fits ``tokens`` and is consistent.

    ``merges``: whether the method may merge tokens.
    """
    keep, group, count = record.keep, record.group, record.num_kept
    require(record.grid == tokens.grid, f"returns the grid of another clip, {record.grid}")
    require(record.num_tokens == len(tokens), f"wrong record length: {record.num_tokens} tokens")
    require(count > 0, "keeps nothing")
    require(keep.dtype == torch.int64, f"keep is {keep.dtype} and not int64")
    require(bool((keep.diff() >= 0).all()), "keep is not ascending")
    require(merges or bool(keep.diff().all()), "keep names a token twice")
    require(int(keep.min()) >= 0 and int(keep.max()) < len(tokens), "keep has an invalid index")
    require(int(group.min()) >= -1 and int(group.max()) < count, "group has an invalid row")
    require(bool((record.weight >= 0).all()), "weight is negative")
    require(not record.weight[group < 0].any(), "weight is not 0 for a token that is dropped")
    require(merges or not record.merges, "merges tokens, but its class says merges=False")
    for name, scores in record.scores.items():
        require(scores.shape == (len(tokens),), f"scores[{name!r}] is not one value per token")
    for name, values in record.trace.items():
        fits = values.shape in ((), (tokens.num_units,))
        require(fits, f"trace[{name!r}] is neither one value nor one per unit")
