"""Which visual tokens an answer rests on: by gradient, by hiding tokens, or by attention."""
