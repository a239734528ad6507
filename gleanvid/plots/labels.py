"""Labels of runs, in figures, files and the app."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gleanvid import compressors
from gleanvid.compressors import COMPRESSORS, declared_settings
from gleanvid.run import Run

LONGEST_HEADING = 300  # maximum characters of a clip's name, of a question and of a label


def title_of(run: Run) -> str:
    """Return the display name of a run's method."""
    return compressors.title_of(str(run.compressor.get("name", ""))) or "?"


def labels(runs: Sequence[Run]) -> list[str]:
    """Return a label for each run: method, retention ratio, and settings that are not defaults.

    Labels that would be equal are numbered.
    """
    names: list[str] = []
    for run in runs:
        name = label = label_of(run.compressor)
        number = 1
        while label in names:
            number += 1
            label = f"{name} ({number})"
        names.append(label)
    return names


def heading(run: Run) -> str:
    """Return a run's clip and question, each cut to ``LONGEST_HEADING`` characters."""
    name, question = _cut(run.video.name), _cut(run.question)
    return f"{name} · “{question}”" if question else name


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_HEADING else f"{text[: LONGEST_HEADING - 1]}…"


def percent(fraction: float) -> str:
    """Return a fraction in percent with three digits; halves round up, as in the app's scripts."""
    return f"{100 * fraction * (1 + 1e-9):.3g} %"


def label_of(settings: Mapping[str, object]) -> str:
    """Return the label of a compressor with these ``settings``, its "name" among them."""
    name = str(settings.get("name", ""))
    ratio = settings.get("retention_ratio")
    share = percent(ratio) if isinstance(ratio, int | float) and ratio < 1 else ""
    title = f"{compressors.title_of(name) or '?'} {share}".strip()
    return _cut(" · ".join([title, *_own_settings(name, settings)]))


def _own_settings(name: str, settings: Mapping[str, object]) -> list[str]:
    """Return the settings that are not defaults, except the retention ratio."""
    if name not in COMPRESSORS:
        return []
    declared = declared_settings(COMPRESSORS[name])
    return [
        f"{declared[key][2].label or key.replace('_', ' ')} {value}"
        for key, value in settings.items()
        if key in declared and key != "retention_ratio" and value != declared[key][0]
    ]
