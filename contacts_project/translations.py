"""Compiles the .po files of the service: gettext reads .mo, git keeps .po, and no msgfmt has to be installed."""

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
    """Every .po file of the service itself: of LOCALE_PATHS and of our own apps' `locale` folders."""
    own = [Path(config.path) / "locale" for config in apps.get_app_configs()]
    for folder in [*map(Path, settings.LOCALE_PATHS), *own]:
        if folder.is_relative_to(settings.BASE_DIR) and "site-packages" not in folder.parts:
            yield from sorted(folder.glob("*/LC_MESSAGES/*.po"))


def compile_stale() -> list[Path]:
    """Write the .mo beside each .po that is newer; returns those written. Two processes at once do no harm."""
    return [compiled for po in po_files() if (compiled := _compile(po))]


def _compile(po: Path) -> Path | None:
    target = po.with_suffix(".mo")
    try:
        if target.exists() and target.stat().st_mtime_ns >= po.stat().st_mtime_ns:
            return None
        handle, draft = tempfile.mkstemp(dir=po.parent, suffix=".draft")
        with os.fdopen(handle, "wb") as file:
            file.write(polib.pofile(str(po)).to_binary())
        Path(draft).chmod(0o644)
        Path(draft).replace(target)
    except OSError as error:  # a read-only installation: English is better than nothing
        log.warning("Cannot write %s: %s", target, error)
        return None
    return target
