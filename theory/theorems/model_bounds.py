"""Lower bounds on the regret of algorithms that know a model of the preferences."""

from theory.structured.bounds import structured_lower_bound
from theory.theorems.catalog import theorem

for _title, _model in (("Bradley-Terry", "bradley-terry"), ("Thurstone", "thurstone")):
    # Both posteriors are over the same model.
    _knows = (_model, f"{_model}-hmc")
    theorem(f"{_title} lower bound", knows=_knows, model=_model)(structured_lower_bound)
    theorem(f"{_title} lower bound, gaps", knows=_knows, model=_model, cost="gap")(
        structured_lower_bound
    )
