"""The composition root as a Django app: its commands, and what is set up at the start and after migrations."""

import gc
import logging
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import polib
from django.apps import AppConfig, apps
from django.conf import settings
from django.core.mail.utils import CachedDnsName
from django.db.models.signals import post_migrate, pre_migrate

from contacts_project.kernel.languages import DjangoTranslation
from contacts_project.kernel.texts import use_translation

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


class ContactsProjectConfig(AppConfig):
    name = "contacts_project"

    def ready(self) -> None:
        # For its side effect: without the Celery application a process would enqueue to a default broker.
        import contacts_project.celery  # noqa: F401, PLC0415 - reads settings
        from contacts_project import receivers  # noqa: F401, PLC0415 - needs loaded models, connects the apps
        from contacts_project.beat import seed_schedule  # noqa: PLC0415 - needs loaded models
        from contacts_project.kernel.database import postgresql, triggers  # noqa: PLC0415 - as above
        from contacts_project.kernel.database.statistics import install_statistics  # noqa: PLC0415 - as above
        from contacts_project.kernel.ownership.triggers import owner_triggers, tombstone_triggers  # noqa: PLC0415

        use_translation(DjangoTranslation())
        # In EHLO and Message-IDs of all mails. Django has no setting for it, and asks for the machine's own name, which
        # in a container is its id, and which strict mail servers refuse.
        CachedDnsName.get_fqdn = lambda _: settings.EMAIL_DOMAIN  # type: ignore[assignment, method-assign]
        compile_outdated()
        postgresql.connect_receivers()
        triggers.register_triggers(*owner_triggers(), *tombstone_triggers())
        pre_migrate.connect(triggers.drop_triggers, sender=self)
        post_migrate.connect(triggers.install_triggers, sender=self)
        post_migrate.connect(install_statistics, sender=self)
        post_migrate.connect(seed_schedule, sender=self)
        gc.freeze()  # what is loaded now is never freed: later collections need not look at it
        gc.enable()  # settings.py disabled it for the start
