"""Simulate dueling bandits exactly and compare them with their theory.

Try: bayesduel compare -i mslr5-condorcet -p d-ts -p rucb --horizon 1e6
"""
