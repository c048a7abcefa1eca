"""The embedded Celery broker: tasks in one SQLite file, for running without Redis.

Importing this package makes kombu know the scheme `embedded`. The rows of the application are what counts,
as with any broker here; the file keeps the tasks between them over restarts and kill -9.
"""

from pathlib import Path
from urllib.parse import quote

from kombu.transport import TRANSPORT_ALIASES

SCHEME = "embedded"
TRANSPORT_ALIASES[SCHEME] = "contacts_project.kernel.broker.transport:Transport"


def broker_url(file: Path) -> str:
    """The broker URL for a file. The host means nothing, but kombu warns where there is none."""
    return f"{SCHEME}://localhost{quote(str(file.resolve()))}"
