from .assemble import merge as merge
from .chunk import Chunk as Chunk
from .chunk import simulate_chunk as simulate_chunk
from .experiment import Experiment as Experiment
from .experiment import compare as compare
from .experiment import simulate as simulate
