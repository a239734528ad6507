"""Sentences and a table on relevance, from ``results/relevance/results.json``."""

from __future__ import annotations

from gleanvid.evaluation.markdown import markdown_table
from tools.result_tables import read

_FILE = "relevance/results.json"
_VALIDITY = (  # titles of the tables in results.json that `trust` reads
    "Against the truth",
    "By hiding tokens",
    "Does it predict a right answer",
    "Under another wording",
)


def kept() -> str:
    """Return sentences on the fraction of the relevance that lies on the tokens methods keep.

    They also give the AUC with which this fraction predicts right answers.
    """
    tables = read(_FILE)
    by_method = {row.pop("method"): row for row in tables["Relevance kept"]}
    shares = [
        f"{title} {', '.join(_rounded(cell) for cell in by_method[name].values())}"
        for name, title in (("gleanvid", "GleanVID"), ("vidcom2", "VidCom2"), ("aot", "AOT"))
    ]
    predict = {row["measure"]: row for row in tables["Does it predict a right answer"]}
    relevance, evidence = (
        predict[f"{name} kept"]["AUC within method and ratio"] for name in ("relevance", "evidence")
    )
    return (
        f"At 25, 15 and 10 % they keep of it, in %: {'; '.join(shares)}.\nRelevance kept hardly "
        f"predicts a right answer (AUC within a method and ratio {relevance}),\nnor does evidence "
        f"kept ({evidence})."
    )


def _rounded(cell: str) -> str:
    return f"{float(cell.split()[0]):.0f}"


def trust() -> str:
    """Return a table of how well relevance agrees with ground truth and with hiding tokens."""
    truth, hiding, right, worded = (
        {next(iter(row.values())): row for row in read(_FILE)[part]} for part in _VALIDITY
    )
    agreed = hiding["gradient"]["agreement by unit"]
    rows = [
        ["agrees with hiding a unit (rank correlation)", agreed, ""],
        ["agrees with itself under another wording (rank correlation)", next(iter(worded)), ""],
    ]
    holds, hides = ("gradient", "attention", "joint score"), ("gradient", "attention", "random")
    for words, table, column, (own, *others) in (
        ("finds tokens that hold the answer (AUC)", truth, "AUC", holds),
        ("the same among tokens of objects", truth, "AUC, objects", holds),
        ("log-probability once its first 10 % are gone", hiding, "deletion 10%", hides),
        (
            "tells right answers from wrong (AUC)",
            right,
            "AUC within method and ratio",
            ("relevance kept", "evidence kept"),
        ),
    ):
        rows.append(
            [words, table[own][column], "; ".join(f"{n} {table[n][column]}" for n in others)]
        )
    return (
        "On Glimpse questions, with the built-in model (95 % intervals by clip; all tables: "
        "`results/relevance/table.md`):\n\n"
        + markdown_table(["relevance", "is", "next to"], rows, numbers=False)
    )
