"""Relevance of visual tokens for an answer: by gradient, by hiding tokens, or by attention."""
