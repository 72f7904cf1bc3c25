"""Links of judges: each is signed, so that nobody can make up another one's."""

from __future__ import annotations

import base64
import hashlib
import hmac
import os
import secrets
from contextlib import suppress
from pathlib import Path

from bayesduel.errors import OutputWriteError

__all__ = ["link_secret", "signed_token"]


def link_secret(study: Path) -> str:
    """Return what the links of a study are signed with, made when first needed.

    It is kept beside the study, in a file that only its owner may read; without that
    file a new secret is made, and older links hold no more.
    """
    path = study.with_name(f"{study.name}-links")
    try:
        with suppress(FileExistsError):
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(handle, "w", encoding="ascii") as file:
                file.write(secrets.token_urlsafe(32))
        found = path.read_text("ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise OutputWriteError(f"{path}: cannot be kept or read: {error}") from error
    if len(found) < 32:
        raise OutputWriteError(f"{path}: holds no secret; remove it for a new one")
    return found


def signed_token(secret: str, judge: str) -> str:
    """Return the last part of the address of a judge.

    Examples
    --------
    >>> len(signed_token("a secret", "Ada"))
    32
    >>> signed_token("a secret", "Ada") == signed_token("a secret", "Bob")
    False
    """
    digest = hmac.digest(secret.encode(), judge.encode(), hashlib.sha256)
    return base64.urlsafe_b64encode(digest[:24]).decode()
