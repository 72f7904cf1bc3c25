from .bound import counts_suffice as counts_suffice
from .evidence import likelihood_evidence as likelihood_evidence
