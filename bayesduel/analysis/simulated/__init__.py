"""What is measured by playing: audits of rules for stopping, regret over a prior."""
