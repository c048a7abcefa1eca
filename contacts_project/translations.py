"""Compiles the .po files of the service to .mo files, which gettext reads. Needs no installed msgfmt."""

import logging
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import polib
from django.apps import apps
from django.conf import settings

log = logging.getLogger(__name__)


def po_files() -> Iterator[Path]:
    """Return the .po files in LOCALE_PATHS and in the service's own apps, but not those of installed packages."""
    own = [Path(config.path) / "locale" for config in apps.get_app_configs()]
    for folder in [*map(Path, settings.LOCALE_PATHS), *own]:
        if folder.is_relative_to(settings.BASE_DIR) and "site-packages" not in folder.parts:
            yield from sorted(folder.glob("*/LC_MESSAGES/*.po"))


def compile_outdated() -> list[Path]:
    """Compile each .po file that is newer than its .mo file, and return the .mo files written.

    Several processes may do so at the same time: each file is replaced atomically.
    """
    return [compiled for po in po_files() if (compiled := _compile(po))]


def _compile(po: Path) -> Path | None:
    target = po.with_suffix(".mo")
    try:
        if target.exists() and target.stat().st_mtime_ns >= po.stat().st_mtime_ns:
            return None
        handle, draft = tempfile.mkstemp(dir=po.parent, suffix=".draft")
        with os.fdopen(handle, "wb") as file:
            file.write(polib.pofile(str(po)).to_binary())
        Path(draft).chmod(0o644)  # mkstemp() makes it 0600: another user may run the service
        Path(draft).replace(target)
    except OSError as error:  # a read-only installation: texts stay English
        log.warning("Cannot write %s: %s", target, error)
        return None
    return target
