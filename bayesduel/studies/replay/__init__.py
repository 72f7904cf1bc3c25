"""What the events of a study add up to: questions, judges, and counts of votes."""
