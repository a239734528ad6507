"""``python -m gleanvid`` is the command ``gleanvid``."""

from gleanvid.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
