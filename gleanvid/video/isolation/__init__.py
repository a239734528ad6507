"""Decoding in a process without rights, so that a hostile file can do no harm.

:mod:`.sandbox` runs tasks for the rest of the library, :mod:`.spare` starts the processes,
:mod:`.worker` is their program, :mod:`.rights` what they give up (and what that does not cover),
:mod:`.messages` and :mod:`.archive` what goes through the pipe. Nothing is imported here, as the
decoding process imports this package when it starts.
"""
