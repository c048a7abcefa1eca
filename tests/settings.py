"""Settings of the tests: the service's own, on a throw-away data folder and the database that tests.run chose."""

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
    # tests.run starts two processes on one server.
    DATABASES["default"]["TEST"] = {"NAME": f"test_contacts_{os.environ.get('TEST_PROCESS', '1')}"}
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
WHITENOISE_AUTOREFRESH = True  # looks for a file when it is asked for, not for all of them for each test's client
_handlers: Any = LOGGING["handlers"]
_handlers["stderr"]["level"] = "WARNING"  # tests.leaks looks at what is below it, too
_loggers: Any = LOGGING["loggers"]
for _client in ("httpx", "httpx2"):  # of the tests alone; they log whole URLs, which the service never does
    _loggers[_client] = {"level": "WARNING"}
TEST_REDIS_URL = os.environ.get("TEST_REDIS_URL", "")
