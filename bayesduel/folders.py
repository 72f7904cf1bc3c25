"""Folders that results are written to."""

from pathlib import Path

from bayesduel.errors import OutputFolderError


def prepare_folder(
    path: Path | str | None, *, resume: bool, overwrite: bool
) -> Path | None:
    """Check a folder for results and make it.

    Parameters
    ----------
    path : path or None
        None stands for no folder at all.
    resume, overwrite : bool
        What may be done with a folder that is not empty. Nothing is removed here.

    Raises
    ------
    OutputFolderError
        If it cannot be written to, or is not empty and neither ``resume`` nor
        ``overwrite`` is given, or both are.
    """
    if path is None:
        if resume or overwrite:
            raise OutputFolderError("resume and overwrite need a folder; give out")
        return None
    if resume and overwrite:
        raise OutputFolderError("resume and overwrite exclude each other")
    path = Path(path)
    try:
        path.mkdir(parents=True, exist_ok=True)
        probe = path / ".write-test"
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise OutputFolderError(f"out: cannot write to {path}: {error}") from error
    if any(path.iterdir()) and not (resume or overwrite):
        raise OutputFolderError(
            f"out: {path} is not empty; resume goes on from what it holds, "
            "overwrite replaces it, or name another folder"
        )
    return path


__all__ = ["prepare_folder"]
