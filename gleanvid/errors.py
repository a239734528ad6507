"""What can go wrong in words for a person. Imports nothing, so that everybody can catch them."""


class VideoError(ValueError):
    """A video that cannot be used; the message is a sentence for the person who chose the file."""


class ModelError(RuntimeError):
    """A model that cannot be loaded or run; the message says what to do about it."""


class StoppedError(Exception):
    """Work that was asked to end and had nothing to show yet."""
