"""What asks in a study: a policy of any kind, one question at a time."""
