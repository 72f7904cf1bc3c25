"""Contextual policies, which use features of the arms."""
