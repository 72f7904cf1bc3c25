"""Dask as what runs the jobs of a sweep: a scheduler somewhere, or processes here."""

import logging
from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager, nullcontext
from typing import Any

from bayesduel.errors import SimulationArgumentError
from bayesduel.experiments.interrupts import unreached_children

LOCAL = "local"
"""In place of an address: a cluster of processes on this machine."""

_PATIENCE = 30
"""Seconds until a scheduler must have answered."""


@contextmanager
def dask_executor(address: str, workers: int) -> Iterator[Executor]:
    """Give an executor of Dask, for the length of the block.

    Parameters
    ----------
    address : str
        Of a scheduler, such as ``tcp://host:8786``; or "local", for so many
        single-threaded ``workers`` on this machine, which end with the block.

    Raises
    ------
    ImportError
        Without Dask; names the extra.
    OSError
        If no scheduler answers.
    """
    try:
        from distributed import Client
    except ImportError as error:
        raise ImportError(
            "Dask is missing; install bayesduel with the extra 'distributed'"
        ) from error
    local = address == LOCAL
    if not local and "://" not in address:
        raise SimulationArgumentError(
            "dask",
            "must be 'local' or the address of a scheduler",
            address,
            remedy="such as tcp://host:8786",
        )
    with (
        _local_cluster(workers) if local else nullcontext(address) as cluster,
        Client(cluster, timeout=_PATIENCE) as client,
    ):
        executor = client.get_executor(pure=False)
        try:
            yield executor
        finally:
            # An interrupt keeps some alive; once the client is gone they complain.
            for future in [*getattr(executor, "_futures", ())]:
                future.release()


@contextmanager
def _local_cluster(workers: int) -> Iterator[Any]:
    from distributed import LocalCluster

    with unreached_children():
        cluster = LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            processes=True,
            # Without an address it would be a port that other clusters want, too.
            dashboard_address="127.0.0.1:0",
            # What goes wrong is raised; of its other worries nobody wants to hear.
            silence_logs=logging.CRITICAL,
        )
    # Workers that die while they are started are not started again, but missed.
    cluster.adapt(minimum=workers, maximum=workers)
    with cluster:
        yield cluster
