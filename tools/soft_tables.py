"""Tables of ``results/soft/PROTOCOL.md``, about Soft GleanVID: ``python -m tools.soft_tables``."""

from statistics import fmean

from gleanvid.evaluation.markdown import markdown_table
from tools.hard_tables import RATIOS, RESULTS, row_of, rows, standing

NOISE = ("soft/noise-160", "soft/noise-96")
FOLDERS = {"soft/160": "160 px", "soft/96": "96 px"}
_MEAN = "macro of hard kinds"


def noise() -> str:
    """Return a table of the endpoint in per cent by value of ``noise``, in every run of step 1."""
    places = [(folder, ratio) for folder in NOISE for ratio in RATIOS]
    labels = dict.fromkeys(row["label"] for row in rows(NOISE[0]) if row["retention_ratio"] < 1)
    found = {
        name: [100 * row_of(at, name, ratio)[_MEAN] for at, ratio in places] for name in labels
    }
    heads = [f"{folder.partition('-')[2]} px, {100 * ratio:g} %" for folder, ratio in places]
    lines = [
        [label, *(f"{value:.1f}" for value in values), f"{fmean(values):.2f}"]
        for label, values in found.items()
    ]
    return markdown_table(["", *heads, "mean"], lines)


def accuracy() -> str:
    """Return a table of the endpoint of every method in per cent, with 95 % intervals by clip."""
    places = [(folder, ratio) for folder in FOLDERS for ratio in RATIOS]
    cells: dict[str, dict[tuple[str, float], str]] = {}
    for folder in FOLDERS:
        for row in rows(folder):
            if row["failed"] < row["questions"]:
                value, low, high = (100 * row[f"{_MEAN}{end}"] for end in ("", "_low", "_high"))
                own = cells.setdefault(row["label"], {})
                own[folder, row["retention_ratio"]] = f"{value:.1f} ({low:.0f} to {high:.0f})"
    whole = cells.pop("All tokens")
    heads = [f"{FOLDERS[folder]}, {100 * ratio:g} %" for folder, ratio in places]
    lines = [[label, *(own.get(at, "refused") for at in places)] for label, own in cells.items()]
    lines.append(["All tokens", *(whole[folder, 1.0] for folder, _ in places)])
    return markdown_table(["right (%)", *heads], lines)


def main() -> None:
    """Print the tables whose evaluations are complete."""
    print(noise())
    if all((RESULTS / folder / "results.json").exists() for folder in FOLDERS):
        print(accuracy())
        print(standing(FOLDERS, "gleanvid_soft", "Soft GleanVID"))


if __name__ == "__main__":
    main()
