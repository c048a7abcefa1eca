"""Keys of an instance that configures none: generated once, stored in DATA_DIR, readable only by the file's owner."""

import base64
import json
import os
import secrets
from pathlib import Path

from cryptography.fernet import Fernet


def load_or_create_keys(path: Path) -> dict[str, str]:
    """Return SECRET_KEY and ENCRYPTION_KEY from the file, which is created if missing. Raises ValueError if malformed.

    If two processes start at the same time, one of them creates the file and both return its contents.
    """
    if not path.exists():
        keys = {
            "SECRET_KEY": secrets.token_urlsafe(50),
            "ENCRYPTION_KEY": base64.urlsafe_b64encode(os.urandom(32)).decode(),
        }
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
    loaded = json.loads(path.read_text())
    if not isinstance(loaded, dict) or not loaded.get("SECRET_KEY"):
        raise ValueError("SECRET_KEY is missing")
    Fernet(str(loaded.get("ENCRYPTION_KEY")))  # raises ValueError
    return loaded
