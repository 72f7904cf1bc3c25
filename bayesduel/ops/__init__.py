"""Small exact operations of compiled code: masks, draws, and rounds of resolution.

The lowest floor above `theory`; nothing here knows of policies.
"""
