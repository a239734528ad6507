"""Decoding in a process that has given up its rights, so that a hostile file can do no harm.

The rest of the library calls :mod:`.sandbox`. :mod:`.spare` starts the decoding processes, and
:mod:`.worker` is their program. :mod:`.rights` gives up rights and says what remains possible.
:mod:`.messages` and :mod:`.archive` define what goes through the pipe from the process. Nothing is
imported here, as every decoding process imports this package when it starts.
"""
