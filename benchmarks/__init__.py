"""Speed, as ratios measured side by side in one process. Run by `make bench`."""
