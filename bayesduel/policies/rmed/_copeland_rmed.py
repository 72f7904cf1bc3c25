"""What CW-RMED and ECW-RMED share: the numbers of Algorithm 1."""

from bayesduel.policies.checks import check_above, check_at_least
from bayesduel.policies.policy import KernelPolicy


class CopelandRMED(KernelPolicy):
    """Algorithm 1 of Komiyama, Honda and Nakagawa (2016) without its program."""

    alpha: float = 3.0
    beta: float = 0.01
    look_ahead: bool = True

    def check(self, num_arms: int, horizon: int) -> None:
        """Raise ``PolicyParameterError`` for a bad parameter."""
        check_above("alpha", self.alpha, 0.0)
        check_at_least("beta", self.beta, 0.0)
