"""The panels of the app, one a file: ``panel() -> NamedTuple`` and plain functions beside it."""
