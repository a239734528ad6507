"""Plug-ins for inference engines such as vLLM; the rest of the library imports no engine."""
