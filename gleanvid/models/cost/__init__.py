"""Time and memory of a piece of work on any device."""
