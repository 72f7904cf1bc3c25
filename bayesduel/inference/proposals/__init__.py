"""What draws are resampled from: points near the posterior, and what each weighs."""
