"""The composition root as a Django app: its commands, and what is set up at the start and after migrations."""

import gc

from django.apps import AppConfig
from django.conf import settings
from django.core.mail.utils import CachedDnsName
from django.db.models.signals import post_migrate, pre_migrate

from contacts_project.kernel.languages import DjangoTranslation
from contacts_project.kernel.texts import use_translation


class ContactsProjectConfig(AppConfig):
    name = "contacts_project"

    def ready(self) -> None:
        # For its side effect: without the Celery application a process would enqueue to a default broker.
        import contacts_project.celery  # noqa: F401, PLC0415 - reads settings
        from contacts_project import receivers, task_records  # noqa: F401, PLC0415 - needs loaded models
        from contacts_project.beat import seed_schedule  # noqa: PLC0415 - needs loaded models
        from contacts_project.kernel.database import postgresql, triggers  # noqa: PLC0415 - as above
        from contacts_project.kernel.database.statistics import install_statistics  # noqa: PLC0415 - as above
        from contacts_project.kernel.ownership.triggers import owner_triggers, tombstone_triggers  # noqa: PLC0415
        from contacts_project.translations import compile_outdated  # noqa: PLC0415 - needs loaded apps

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
