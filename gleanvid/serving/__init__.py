"""Plug-ins for engines that other people run. Nothing here is imported by the rest of the library."""
