"""Settings of the tests: those of the service, with a temporary data folder and the database of tests/run.py."""

import os
import tempfile
from pathlib import Path
from typing import Any

_data = Path(tempfile.mkdtemp(prefix="contacts-tests-"))
for name in ("DATABASE_URL", "REDIS_URL", "SECRET_KEY", "ENCRYPTION_KEYS", "EMAIL_URL", "SAAS_MODE"):
    os.environ.pop(name, None)
os.environ["DATA_DIR"] = str(_data)
if url := os.environ.get("TEST_DATABASE_URL"):
    os.environ["DATABASE_URL"] = url

from contacts_project.settings import *  # noqa: E402, F403 - the environment must be set before
from contacts_project.settings import DATABASES, LOGGING  # noqa: E402 - as above

if DATABASES["default"]["ENGINE"].endswith("sqlite3"):
    # A file, not memory: threads and worker processes of the tests open it too.
    DATABASES["default"]["TEST"] = {"NAME": str(_data / "test.sqlite3")}
else:
    # pytest-django appends the name of the pytest-xdist worker: all workers use one server.
    DATABASES["default"]["TEST"] = {"NAME": os.environ.get("TEST_DATABASE_NAME", "test_contacts")}
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
# Look for a static file when it is requested: without it, every new test client scans all static files.
WHITENOISE_AUTOREFRESH = True
_handlers: Any = LOGGING["handlers"]
_handlers["stderr"]["level"] = "WARNING"  # the loggers stay below it, because tests/leaks.py scans every line
_loggers: Any = LOGGING["loggers"]
for _client in ("httpx", "httpx2"):  # only tests use them; they log whole URLs, which would be reported as leaks
    _loggers[_client] = {"level": "WARNING"}
TEST_REDIS_URL = os.environ.get("TEST_REDIS_URL", "")
