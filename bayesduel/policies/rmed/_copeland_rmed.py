"""What CW-RMED and ECW-RMED share: the numbers of Algorithm 1."""

from bayesduel.errors import PolicyParameterError
from bayesduel.policies.policy import KernelPolicy
from theory.arguments import number_above, number_from


class CopelandRMED(KernelPolicy):
    """Algorithm 1 of Komiyama, Honda and Nakagawa (2016) without its program."""

    alpha: float = 3.0
    beta: float = 0.01
    look_ahead: bool = True

    def check(self, num_arms: int, horizon: int) -> None:
        """Raise ``PolicyParameterError`` for a bad parameter."""
        number_above(self.alpha, 0, "alpha", kind=PolicyParameterError)
        number_from(self.beta, 0, "beta", kind=PolicyParameterError)
