"""Decoding in a process that has given up its rights, so that a hostile file does little harm.

The rest of the library calls :mod:`.sandbox`. :mod:`.spare` starts the decoding processes,
:mod:`.worker` is their program, :mod:`.rights` gives up their rights, and :mod:`.messages` defines
what they send. Nothing is imported here, as every decoding process imports this package first.
"""
