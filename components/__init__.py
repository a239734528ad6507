"""The panels of the app, one a file: each has ``panel() -> NamedTuple`` and handlers that are plain functions."""
