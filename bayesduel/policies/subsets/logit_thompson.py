"""Thompson sampling over a posterior of multinomial logit, by Laplace's method."""

from dataclasses import field
from math import comb
from typing import TYPE_CHECKING, Any, ClassVar

from bayesduel.errors import PolicyParameterError, SimulationArgumentError
from bayesduel.models.in_policies.base import SetPosterior
from bayesduel.models.in_policies.names import take_by_name
from bayesduel.policies.policy import KernelPolicy
from bayesduel.policies.registry import register
from bayesduel.policies.subset_base import OfferingPolicy

if TYPE_CHECKING:
    from bayesduel.instances.subset_world import SubsetWorld

# Different sets whose choices are kept; the likelihood is a sum over them
MOST_SETS = 1000


@register("logit-ts", acronym="Logit-TS")
class LogitThompson(OfferingPolicy, KernelPolicy):
    r"""Posterior sampling for multinomial logit with a normal prior of utilities.

    Logit-TS is Thompson sampling for choices from sets. In each round it draws the
    utilities of all arms from their posterior given all choices so far, and offers the
    arms with the largest draws.

    Use it if choices follow a multinomial logit. Unlike MNL-TS it also works where one
    of the offered arms is always chosen (``no_choice=False``). No paper describes
    exactly this rule. ``mnl-ts`` draws from one Beta distribution per arm instead, and
    only once per epoch.

    Parameters
    ----------
    no_choice : bool
        Whether it is possible to choose nothing, which then has the utility 0.
    posterior : SetLaplace
        The posterior from which utilities are drawn. The parameters of its model may be
        given by name, as in ``policies.get("logit-ts", prior_scale=1)``.

    Notes
    -----
    **Rule.** In the multinomial logit an arm is chosen from a set with a probability
    proportional to :math:`v_i=\exp(u_i)`. The prior of the utilities is
    :math:`u_i\sim\mathrm{Normal}(0,s^2)`, where s is ``prior_scale``. This is the model
    :class:`bayesduel.models.MultinomialLogit`; any other model of choices with
    utilities can replace it. In each round:

    1. Approximate the posterior given all choices by a normal distribution around its
       mode. The mode is found by Newton's method from the last mode.
    2. Draw one vector of utilities from this distribution.
    3. Offer the k arms with the largest utilities. This is the best set if all arms are
       worth the same.

    Counts of choices are stored for every possible set, so at most 1000 sets are
    allowed. The recommendation is the k arms with the largest utilities at the mode.
    Ties are broken at random.

    **Assumptions.** The model. No theorem is known.

    References
    ----------
    P. Rusmevichientong, Z.-J. M. Shen, D. B. Shmoys, "Dynamic Assortment Optimization
    with a Multinomial Logit Choice Model and Capacity Constraint", Operations Research
    58(6), 2010 (the model). S. Agrawal, V. Avadhanula, V. Goyal, A. Zeevi, "Thompson
    Sampling for the MNL-Bandit", COLT 2017 (posterior sampling of assortments).

    Examples
    --------
    >>> from bayesduel import policies
    >>> policies.get("logit-ts").label
    'Logit-TS'
    """

    no_choice: bool = True
    posterior: Any = field(default_factory=lambda: "multinomial-logit")

    title: ClassVar[str] = "Thompson sampling, multinomial logit by Laplace"
    feedbacks: ClassVar[tuple[str, ...]] = ("winner",)

    def __post_init__(self) -> None:
        """Take the posterior by its name."""
        take_by_name(self)

    def check(self, num_arms: int, horizon: int) -> None:
        """Raise ``PolicyParameterError`` for a bad parameter."""
        if not isinstance(self.posterior, SetPosterior):
            raise PolicyParameterError(
                "posterior",
                "must be one of sets, such as SetLaplace(MultinomialLogit())",
                self.posterior,
            )
        posterior: Any = self.posterior
        posterior.check(num_arms, no_choice=self.no_choice)

    def check_world(self, world: "SubsetWorld", horizon: int) -> None:
        """Raise where the model does not fit a world, or there are too many sets.

        Raises
        ------
        SimulationArgumentError
            If there are more than 1000 sets.
        PolicyParameterError
            If ``no_choice`` contradicts the world.
        """
        count = comb(world.num_arms, world.subset_size)
        name = world.name or "this world"
        if count > MOST_SETS:
            raise SimulationArgumentError(
                "policies",
                f"{self.label} keeps the choices of every set, at most {MOST_SETS} of "
                f"them, but {name} has {count}",
                self,
                remedy="use mnl-ts",
            )
        super().check_world(world, horizon)
        if world.has_no_choice != self.no_choice:
            raise PolicyParameterError(
                "no_choice",
                f"must be {world.has_no_choice} in {name}, where it "
                f"{'happens' if world.has_no_choice else 'never happens'} that "
                "nobody is chosen",
                self.no_choice,
            )

    def over_model(self) -> Any:
        """Return the rule over the draws of the posterior."""
        # JAX takes a second to import.
        from bayesduel.policies.over_models.logit_thompson import SampledLogit

        return SampledLogit(self.posterior, self.no_choice)
