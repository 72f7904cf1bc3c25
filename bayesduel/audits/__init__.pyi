from .checks import Check as Check
from .checks import MoreVotes as MoreVotes
from .fewest_votes import FewestVotes as FewestVotes
from .fewest_votes import RemovedVotes as RemovedVotes
from .report import Audit as Audit
from .report import RankedArm as RankedArm
from .report import audit as audit
