"""Differences of utilities: from draws, and at the mode of many arms."""
