"""Keys of an instance that configures none: generated once, stored in DATA_DIR, readable only by the file's owner."""

import base64
import json
import os
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import Any

from cryptography.fernet import Fernet


def load_or_create_keys(path: Path) -> dict[str, str]:
    """SECRET_KEY and ENCRYPTION_KEY from the file, which is created if missing. Raises ValueError if malformed."""
    loaded = load_or_create(path, _make_keys)
    if not isinstance(loaded, dict) or not loaded.get("SECRET_KEY"):
        raise ValueError("SECRET_KEY is missing")
    Fernet(str(loaded.get("ENCRYPTION_KEY")))  # raises ValueError
    return loaded


def _make_keys() -> dict[str, str]:
    return {
        "SECRET_KEY": secrets.token_urlsafe(50),
        "ENCRYPTION_KEY": base64.urlsafe_b64encode(os.urandom(32)).decode(),
    }


def load_or_create(path: Path, make: Callable[[], dict[str, str]]) -> Any:
    """Return the JSON of the file, which is created with what `make` returns if it is missing. Raises ValueError.

    If two processes start at the same time, one of them creates the file and both return its contents.
    """
    if not path.exists():
        keys = make()
        # A random suffix rather than the process id: containers that share the folder may have equal ids.
        draft = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w") as file:
            json.dump(keys, file, indent=2)
        try:
            # Atomic, and unlike a rename it fails if another process was first: then its keys are used.
            os.link(draft, path)
        except FileExistsError:
            pass
        finally:
            draft.unlink()
    return json.loads(path.read_text())
