from .differences.of_draws import contrasts as contrasts
from .differences.sparse_mode import ModeFit as ModeFit
from .differences.sparse_mode import fit_mode as fit_mode
from .fits.fit_result import Fit as Fit
from .fitting import fit as fit
from .tables import parameter_summary as parameter_summary
from .tables import standings as standings
