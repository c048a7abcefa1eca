"""Programs of Debian that tests run. Where they are missing, the tests are skipped; `.ci/run` installs them."""

import os

import pytest

HOW_TO_INSTALL = {
    "caldav": "see tests/dav/programs/test_caldav.py",
    "evolution-data-server": (
        "apt-get install evolution-data-server python3-gi dbus-daemon gir1.2-ebook-1.2 gir1.2-ecal-2.0 "
        "gir1.2-edataserver-1.2"
    ),
    "syncevolution": "apt-get install syncevolution",
    "thunderbird": "apt-get install thunderbird",
}


def require(name: str, is_installed: bool) -> None:
    """Skip the test without the program; with TEST_PROGRAMS=all, as in CI, fail."""
    if is_installed:
        return
    missing = f"{name} is not installed: {HOW_TO_INSTALL[name]}"
    if os.environ.get("TEST_PROGRAMS") == "all":
        pytest.fail(missing, pytrace=False)
    pytest.skip(missing)
