"""The optimal exploration program of Copeland dueling bandits, and its efficient form.

Komiyama, Honda and Nakagawa (2016): how often any consistent algorithm must compare
each pair, per unit of log T. The module `theory.copeland_program.statement` has the
program as it stands in the paper, `constants` solves it and certifies the solution, and
`efficient` has the closed form of ECW-RMED.
"""

from theory.lazy import lazy_names

__getattr__, __dir__ = lazy_names(__name__, __file__)
