"""Comparisons of policies: asked on the command line or in a file, run, reported."""
