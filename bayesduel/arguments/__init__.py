"""What users may give: sizes that are refused, and values read from text."""
