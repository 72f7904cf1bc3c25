"""The optimal exploration program of Copeland dueling bandits, and its efficient form.

Komiyama, Honda and Nakagawa (2016): how often every pair must be compared, per log
round, by any algorithm that is consistent. `theory.copeland_program.statement` is the
program as it reads; `constants` solves it, certified; `efficient` is the closed form of
ECW-RMED. Files whose name begins with an underscore make it fast; what a compiled
policy needs of them is offered here.
"""

from theory.lazy import lazy_names

__getattr__, __dir__ = lazy_names(__name__, __file__)
