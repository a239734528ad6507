"""``python -m gleanvid.cli``."""

from gleanvid.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
