"""A request for simulations: instances, policies and runs, checked once."""

from concurrent.futures import Executor
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Self

import xarray as xr

from bayesduel.experiments.comparison import run_experiment
from bayesduel.experiments.request.checked import CheckedRequest
from bayesduel.experiments.request.toml_files import (
    arguments_in_file,
    check_complete,
    errors_name_file,
)
from bayesduel.experiments.request.toml_text import to_toml


@dataclass(frozen=True, init=False)
class Experiment(CheckedRequest):
    """Every policy on every instance: what is asked for, before it is carried out.

    Everything is read and checked here, once; a request that can be made can be run.

    Parameters
    ----------
    instances : one or several of PreferenceMatrix, ChoiceWorld, str, array-like (K, K)
        Matrices, their names or files (see :func:`bayesduel.load`), or their values; or
        worlds of :mod:`bayesduel.instances.choice`, or their names.
    policies : one or several of Policy, str
        Policies, or their names with parameters such as ``"d-ts:alpha=0.6"``. A text
        may give several values of a parameter, ``"d-ts:alpha=0.51..2/10"`` for ten
        from 0.51 to 2, ``"d-ts:alpha=1..100/5log"`` for five in equal ratios,
        ``"rcs:prior=1|2"`` for these two, ``"rucb:alpha=1|2&every=1|10"`` for 1 with 1
        and 2 with 10; so may that of an instance.
    num_runs : int
        Independent runs; run r is the same whatever their number.
    horizon : int
        Rounds of each run; an integral float such as ``1e9`` is fine.
    checkpoints : sequence of int, optional
        Rounds at which plays and regret are recorded, increasing; the horizon is
        added. By default ten per decade. They change nothing else.
    seed : int
        The same seed gives the same runs.
    regret : sequence of str, optional
        Notions of regret to record; see ``theory.REGRET_NOTIONS`` and
        ``theory.choice.SUBSET_REGRET_NOTIONS``. By default "copeland", or the notion of
        each world's source.
    shuffle : bool
        Relabel the arms at random in each run (results keep the original labels), for
        every policy alike.
    record : {"plays", "regret", "quantiles"}, optional
        What is kept of every run: all that was played up to each checkpoint and the
        regret, or the regret alone; or of no single run, but of all together the mean,
        the covariance over checkpoints, the extremes and quantiles to 1 %, which
        takes neither memory nor disk in proportion to the number of runs. By default
        "plays" up to 10^4 runs, "regret" beyond. It changes no run.
    stopping : StoppingRule, optional
        Of :mod:`bayesduel.stopping`: looked at after every duel of different arms. A
        run that it ends plays nothing more, and its regret stays. Results have
        ``stopped_at`` (run), the round, and ``answer`` (run), the arm that is named;
        -1 where there is none. Not for policies over a NumPyro model or over sets.

    Attributes
    ----------
    instances : tuple of PreferenceMatrix or ChoiceWorld
        As they were read.
    policies : tuple of Policy
        As they were read.
    num_runs, horizon, seed : int
        As given.
    checkpoints : tuple of int
        Up to the horizon.
    regret : tuple of str or None
        Different notions; None stands for the usual one of each instance.
    shuffle : bool
        As given.
    record : str
        As given, or the usual one.
    stopping : StoppingRule or None
        As given.

    Raises
    ------
    ValueError
        For any argument that cannot be simulated; see ``errors.ArgumentError`` for the
        attributes that say which, why, and what to do.
    OSError
        For a file that cannot be read.

    Examples
    --------
    >>> import bayesduel
    >>> asked = bayesduel.Experiment(
    ...     "cyclic", ["d-ts", "rucb"], num_runs=2, horizon=500
    ... )
    >>> asked.names, asked.labels, asked.checkpoints[-1]
    (('cyclic',), ('D-TS', 'RUCB'), 500)
    >>> tree = asked.run()
    >>> tree["cyclic/D-TS/regret"].sizes["run"]
    2
    >>> try:
    ...     bayesduel.Experiment("cyclic", "d-ts", horizon=0)
    ... except ValueError as error:
    ...     print(error.argument, error.value, error.remedy, sep="; ")
    horizon; 0; give 1 or more
    """

    @classmethod
    def from_file(cls, path: Path | str) -> Self:
        r"""Read an experiment from a TOML file.

        Parameters
        ----------
        path : path
            Its keys are the arguments above, which have their defaults where they are
            missing. ``instances`` and ``policies`` are texts, or tables such as
            ``{name = "d-ts", alpha = [0.6, 1], every = [1, 10], zip = ["alpha",
            "every"]}``; a matrix may be ``{file = "mine.csv"}`` or ``{values = [[0.5,
            0.6], [0.4, 0.5]]}``. Paths are relative to the folder of the file.
            ``stopping`` is a text, as for :func:`bayesduel.stopping.parse_rule`.

        Raises
        ------
        ValueError
            For what is no TOML, an unknown key, and whatever cannot be simulated; the
            text names the file.
        OSError
            For a file that cannot be read.

        Examples
        --------
        >>> import pathlib, tempfile, bayesduel
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder, "sweep.toml")
        ...     _ = path.write_text(
        ...         'instances = "gap"\npolicies = "d-ts:alpha=0.6|1"\nhorizon = 1e6'
        ...     )
        ...     asked = bayesduel.Experiment.from_file(path)
        >>> asked.labels, asked.horizon
        (('D-TS:alpha=0.6', 'D-TS:alpha=1.0'), 1000000)
        """
        found = arguments_in_file(path)
        check_complete(found, str(path))
        with errors_name_file(str(path)):
            return cls(**found)

    def to_toml(self) -> str:
        """Return the TOML text that :meth:`from_file` reads as the same experiment.

        Texts of several values are taken apart, defaults are written out, and a matrix
        stands there by its name if that loads the same one, by its numbers otherwise.

        Raises
        ------
        ValueError
            For what no text can say: a policy with a table among its parameters or from
            a script, a world or a rule for stopping of your own, a matrix of more than
            128 arms without a name.

        Examples
        --------
        >>> import bayesduel
        >>> asked = bayesduel.Experiment("gap", "d-ts:alpha=0.6..1/3", horizon=1000)
        >>> print(asked.to_toml())
        # An experiment of bayesduel ...
        instances = ["gap"]
        policies = ["d-ts:alpha=0.6", "d-ts:alpha=0.8", "d-ts:alpha=1.0"]
        num_runs = 100
        horizon = 1000
        seed = 0
        shuffle = true
        record = "plays"
        <BLANKLINE>
        """
        return to_toml(self)

    def without_look_ahead(self) -> Self:
        """Return the same experiment with policies that step round by round."""
        stepping = [
            replace(policy, look_ahead=False)  # pyright: ignore
            if "look_ahead" in {each.name for each in fields(policy)}  # pyright: ignore
            else policy
            for policy in self.policies
        ]
        return replace(self, policies=stepping)

    def run(
        self,
        *,
        jobs: int | None = 1,
        executor: Executor | None = None,
        part: str | None = None,
        shared: bool = False,
        format: str = "netcdf",
        progress: bool = False,
        out: Path | str | None = None,
        resume: bool = False,
        overwrite: bool = False,
    ) -> xr.DataTree:
        """Carry it out; arguments, result and errors as :func:`bayesduel.compare`.

        Examples
        --------
        >>> import bayesduel
        >>> asked = bayesduel.Experiment("gap", "rucb", num_runs=2, horizon=100)
        >>> sorted(asked.run(jobs=1)["gap"].children)
        ['RUCB']
        """
        return run_experiment(
            self,
            jobs=jobs,
            executor=executor,
            part=part,
            shared=shared,
            format=format,
            progress=progress,
            out=out,
            resume=resume,
            overwrite=overwrite,
        )
