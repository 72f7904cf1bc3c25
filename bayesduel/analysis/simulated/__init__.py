"""Measurements that need new runs: audits of stopping rules, regret over a prior."""
