"""The embedded Celery broker: messages in one SQLite file, for running without Redis.

Importing this package registers the URL scheme `embedded` with kombu. The file keeps messages across restarts and
kill -9. As with any broker here, the state of deferred work is in rows of the application, not in messages.
"""

from pathlib import Path
from urllib.parse import quote

from kombu.transport import TRANSPORT_ALIASES

SCHEME = "embedded"
TRANSPORT_ALIASES[SCHEME] = "contacts_project.kernel.broker.transport:Transport"


def broker_url(file: Path) -> str:
    """Return the broker URL of a file. The host has no meaning; kombu warns if there is none."""
    return f"{SCHEME}://localhost{quote(str(file.resolve()))}"
