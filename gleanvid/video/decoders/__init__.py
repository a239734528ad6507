"""Decoders: one module for each library."""
