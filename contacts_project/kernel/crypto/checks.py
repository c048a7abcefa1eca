"""What `manage.py check` and `doctor` say of the key ring: a typing error fails every request that needs a secret."""

from typing import Any

from cryptography.fernet import Fernet
from django.conf import settings
from django.core.checks import CheckMessage, Error, register


@register()
def check_key_ring(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    """There is a key, and each is one."""
    try:
        keys = [Fernet(key) for key in settings.ENCRYPTION_KEYS]
    except ValueError:
        keys = []
    if keys:
        return []
    hint = "List Fernet keys with commas, newest first: docs/running.md shows how to make one."
    return [Error("ENCRYPTION_KEYS is empty, or holds what is no key.", hint=hint, id="crypto.E001")]
