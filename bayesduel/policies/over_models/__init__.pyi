from .base import ModelRule as ModelRule
from .base import model_rule as model_rule
from .base import one_round as one_round
