from .regret import SUBSET_REGRET_NOTIONS as SUBSET_REGRET_NOTIONS
from .regret import subset_cost as subset_cost
from .tables import Inconsistency as Inconsistency
from .tables import OrderViolation as OrderViolation
from .tables import find_inconsistency as find_inconsistency
from .tables import find_missing_set as find_missing_set
from .tables import find_order_violation as find_order_violation
