"""Ask real judges: choose the next pair, and say when to stop.

Example: bayesduel study new drinks.study --arms tea,coffee,milk
"""
