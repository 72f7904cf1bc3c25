"""The optimal exploration program of Copeland dueling bandits, and its efficient form.

Komiyama, Honda and Nakagawa (2016): how often every pair must be compared, per log
round, by any algorithm that is consistent. `theory.copeland_program.statement` is the
program as it reads; `constants` solves it, certified; `efficient` is the closed form of
ECW-RMED.
"""

from theory.lazy import lazy_names

__getattr__, __dir__ = lazy_names(__name__, __file__)
