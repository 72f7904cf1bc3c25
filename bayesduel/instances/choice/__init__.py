"""Worlds of subset choice: the papers' own, and worlds from one's own numbers.

``load_world("camera")`` returns a published world; ``multinomial_logit``,
``gaussian_utility``, ``choice_table``, ``independent_rewards`` and ``plackett_luce``
make others. Each returns a `ChoiceWorld`. Arms are numbered from 0.
"""

from theory.lazy import lazy_names

__getattr__, __dir__ = lazy_names(__name__, __file__)
