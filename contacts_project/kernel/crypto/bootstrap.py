"""Keys of an instance that sets none: made once, kept in DATA_DIR, readable by its owner alone."""

import base64
import json
import os
import secrets
from pathlib import Path

from cryptography.fernet import Fernet


def load_or_make_keys(path: Path) -> dict[str, str]:
    """Return SECRET_KEY and ENCRYPTION_KEY from `path`, making the file when it is not there. Raises ValueError.

    Of two processes that start at once exactly one writes the file; both return what it holds.
    """
    if not path.exists():
        keys = {
            "SECRET_KEY": secrets.token_urlsafe(50),
            "ENCRYPTION_KEY": base64.urlsafe_b64encode(os.urandom(32)).decode(),
        }
        draft = path.with_name(f"{path.name}.{secrets.token_hex(8)}")  # containers share ids of processes
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w") as file:
            json.dump(keys, file, indent=2)
        try:
            os.link(draft, path)  # fails when another process was first: its keys count
        except FileExistsError:
            pass
        finally:
            draft.unlink()
    loaded = json.loads(path.read_text())
    if not isinstance(loaded, dict) or not loaded.get("SECRET_KEY"):
        raise ValueError("SECRET_KEY is missing")
    Fernet(str(loaded.get("ENCRYPTION_KEY")))  # raises ValueError
    return loaded
