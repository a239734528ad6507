"""Where the choice of a model stands, as a page shows it."""

from __future__ import annotations

from dataclasses import dataclass

OVER = ("nothing", "ready", "failed", "cancelled")  # stages in which nothing goes on


@dataclass(frozen=True)
class Progress:
    """Where a choice stands.

    ``stage``: "looking", "downloading" (``done`` of ``total`` bytes), "waiting" (for the turn at
    the model), "loading" (``done`` of 1), "warming", and those of :data:`OVER`. ``text`` is a
    sentence for people; ``name`` is what requests call the model once it is ready; ``usable`` the
    model that answers now, empty while there is none.
    """

    stage: str = "nothing"
    name: str = ""
    text: str = ""
    done: float = 0.0
    total: float = 0.0
    usable: str = ""

    @property
    def over(self) -> bool:
        return self.stage in OVER
