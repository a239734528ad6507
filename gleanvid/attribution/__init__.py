"""Relevance of visual tokens for an answer, by gradient or by hiding tokens."""
