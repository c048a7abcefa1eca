"""The composition root as a Django app: its commands, and what must be there after every migration."""

import gc

from django.apps import AppConfig
from django.db.models.signals import post_migrate, pre_migrate


class ContactsProjectConfig(AppConfig):
    name = "contacts_project"

    def ready(self) -> None:
        # Imported for its effect too: every process that enqueues needs the Celery application.
        import contacts_project.celery  # noqa: F401, PLC0415 - reads settings
        from contacts_project import receivers, task_records  # noqa: F401, PLC0415 - needs loaded models
        from contacts_project.beat import seed_schedule  # noqa: PLC0415 - needs loaded models
        from contacts_project.kernel.database import triggers  # noqa: PLC0415 - as above
        from contacts_project.kernel.database.compiled_queries import keep_prepared_statements  # noqa: PLC0415 - as above
        from contacts_project.kernel.database.pool import watch_pool  # noqa: PLC0415 - as above
        from contacts_project.kernel.database.statistics import install_statistics  # noqa: PLC0415 - as above
        from contacts_project.kernel.ownership.tombstones import tombstone_triggers  # noqa: PLC0415 - needs loaded models
        from contacts_project.kernel.ownership.triggers import owner_triggers  # noqa: PLC0415 - as above
        from contacts_project.translations import compile_stale  # noqa: PLC0415 - needs loaded apps

        compile_stale()
        keep_prepared_statements()
        watch_pool()
        triggers.register_triggers(*owner_triggers(), *tombstone_triggers())
        pre_migrate.connect(triggers.drop_triggers, sender=self)
        post_migrate.connect(triggers.install_triggers, sender=self)
        post_migrate.connect(install_statistics, sender=self)
        post_migrate.connect(seed_schedule, sender=self)
        gc.freeze()  # no collection has to look through what is loaded by now
        gc.enable()  # settings.py has disabled it
