"""Plug-ins for engines that other people run. The rest of the library imports none."""
