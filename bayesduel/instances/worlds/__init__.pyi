from .adversarial import Adversarial as Adversarial
from .corrupted import Corrupted as Corrupted
from .drifting import Drifting as Drifting
from .linear_contexts import GinopContexts as GinopContexts
from .linear_contexts import LinearContexts as LinearContexts
from .linear_contexts import VacdbContexts as VacdbContexts
from .lookup import pair_world_names as pair_world_names
from .piecewise import Piecewise as Piecewise
