"""Decodes in a process of its own without rights. Nothing is imported here: that process starts."""
