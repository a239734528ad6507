"""Write tables into the documentation: ``python -m tools.write_tables``.

A file marks the place of a table with ``<!-- table: NAME -->`` and ``<!-- end of table -->``.
Every number comes from the code or from the files in ``results/``.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from gleanvid.compressors import COMPRESSORS
from gleanvid.evaluation.catalogue import Facts, compressor_table, model_table
from gleanvid.evaluation.catalogue import methods as facts_of_methods
from gleanvid.evaluation.markdown import markdown_table
from gleanvid.models.loading.load import BUILTIN
from tools import filmed_tables, hard_tables

ROOT = Path(__file__).parents[1]
_KNOWN = ["gleanvid", "vidcom2", "vcast", "fastvid", "holitom", "flashvid", "divprune", "fastv"]
_PLACE = re.compile(r"(<!-- table: ([\w-]+) -->\n).*?(<!-- end of table -->)", re.DOTALL)


def texts() -> list[Path]:
    """Return the files that may contain tables."""
    documents = [ROOT / "README.md", BUILTIN / "MODEL_CARD.md", ROOT / "assets" / "evidence.html"]
    pages = sorted((ROOT / "docs").rglob("*.md"))
    return [*documents, *(page for page in pages if not {"_build", "generated"} & {*page.parts})]


def written(text: str) -> str:
    """Return ``text`` with every table rewritten. Raises ``KeyError`` for an unknown name."""
    return _PLACE.sub(lambda place: f"{place[1]}{TABLES[place[2]]().strip()}\n{place[3]}", text)


def main() -> None:
    """Write the tables of all files, and print the files that changed."""
    for path in texts():
        before = path.read_text(encoding="utf-8")
        if (now := written(before)) != before:
            path.write_text(now, encoding="utf-8")
            print(path.relative_to(ROOT))


def methods() -> str:
    """Return a table of the best known methods: name with a link, idea, and where it acts."""
    heads = ["method", "idea", "acts ... the language model"]
    rows = [
        (_linked(facts), _idea(facts.name), facts.acts.removesuffix(" the language model"))
        for facts in facts_of_methods()
        if facts.name in _KNOWN
    ]
    return markdown_table(heads, rows, numbers=False)


def _linked(facts: Facts) -> str:
    link = re.search(r"https://\S+", facts.paper)
    return f"[{facts.title}]({link[0]})" if link else facts.title


def _idea(name: str) -> str:
    """Return the first line of the module of a method, without the method's name."""
    summary = (sys.modules[COMPRESSORS[name].__module__].__doc__ or "").partition("\n\n")[0]
    idea = " ".join((summary.partition(": ")[2] or summary).split())
    return idea[0].upper() + idea[1:].rstrip(".")


TABLES = {
    "methods": methods,
    "compressors": compressor_table,
    "models": model_table,
    "card-accuracy": hard_tables.card_accuracy,
    "hard-standing": hard_tables.standing,
    "hard-collisions": hard_tables.collisions,
    "hard-page": hard_tables.on_the_page,
    "filmed": filmed_tables.summary,
    "filmed-soft": filmed_tables.soft,
}


def outdated() -> Iterator[str]:
    """Yield the files with outdated tables, and the names of tables that no file contains."""
    shown: set[str] = set()
    for path in texts():
        text = path.read_text(encoding="utf-8")
        shown |= {place[2] for place in _PLACE.finditer(text)}
        if written(text) != text:
            yield str(path.relative_to(ROOT))
    yield from (f"table: {name}" for name in TABLES if name not in shown)


if __name__ == "__main__":
    main()
