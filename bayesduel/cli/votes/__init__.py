"""Commands on votes: fitting them, and judging the fit."""
