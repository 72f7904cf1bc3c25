"""Worlds of duels that change during a run; each is a class.

``bayesduel.load("drifting:speed=0.001")`` returns one by name. Each is a
:class:`bayesduel.World`; ``bayesduel list pair-worlds`` lists their parameters.
"""

from theory.lazy import lazy_names

__getattr__, __dir__ = lazy_names(__name__, __file__)
