"""The page on which judges answer, and what a judge has before them."""
