from bayesduel.inference.datatree import to_datatree as to_datatree

from .calibration import Calibration as Calibration
from .calibration import calibrate as calibrate
from .cross_validation import compare_models as compare_models
from .cross_validation import leave_pairs_out as leave_pairs_out
from .cross_validation import loo as loo
from .fit_report import Report as Report
from .fit_report import report as report
from .total_order import Transitivity as Transitivity
from .total_order import transitivity as transitivity
