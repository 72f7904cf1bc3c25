"""``bayesduel study``: comparisons by real judges, one file a subcommand."""
