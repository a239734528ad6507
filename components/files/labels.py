"""What runs are called, in files and on the page."""

from __future__ import annotations

from collections.abc import Sequence

from gleanvid.compressors import title_of
from gleanvid.run import Run


def labels(runs: Sequence[Run]) -> list[str]:
    """What to call every run: its method, the share kept where it keeps a part, never the same."""
    names: list[str] = []
    for run in runs:
        name = str(run.compressor.get("name", ""))
        label = title_of(name) or "?"
        ratio = run.compressor.get("retention_ratio")
        if isinstance(ratio, int | float) and ratio < 1:
            label = f"{label} {100 * ratio:.3g} %"
        same = sum(other == label or other.startswith(f"{label} (") for other in names)
        names.append(f"{label} ({same + 1})" if same else label)
    return names
