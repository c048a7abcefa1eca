"""What `manage.py check` and `doctor` say of the outbound settings: a typing error would fail every request."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, register

from contacts_project.kernel.outbound.policy import Policy


@register()
def check_outbound_settings(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    """Networks, ports and the file of authorities can be read."""
    return list(_wrong())


def _wrong() -> Iterator[CheckMessage]:
    try:
        Policy.parse(networks=settings.OUTBOUND_ALLOWED_NETWORKS)
    except ValueError as error:
        hint = "List networks with commas: 127.0.0.0/8,192.168.0.0/16"
        yield Error(f"OUTBOUND_ALLOWED_NETWORKS cannot be read: {error}.", hint, id="outbound.E001")
    try:
        Policy.parse(ports=settings.OUTBOUND_ALLOWED_PORTS)
    except ValueError as error:
        hint = "List ports with commas, or * for any."
        yield Error(f"OUTBOUND_ALLOWED_PORTS cannot be read: {error}.", hint, id="outbound.E002")
    if settings.OUTBOUND_CA_FILE and not Path(settings.OUTBOUND_CA_FILE).is_file():
        yield Error("OUTBOUND_CA_FILE is not a file.", "Name a PEM bundle, or unset it.", id="outbound.E003")
