from .experiment import Experiment as Experiment
from .running import compare as compare
from .running import simulate as simulate
from .stored.merging import merge as merge
