"""`manage.py install_triggers`: creates the database triggers again, as each run of `migrate` does by itself."""

from contacts_project.kernel.database.triggers import install_triggers
from contacts_project.management.service_command import ServiceCommand


class Command(ServiceCommand):
    help = "(Re)creates the triggers that compare the owners of linked rows and keep the counts of accounts."

    def handle(self, **options: object) -> None:
        install_triggers(plan=["by hand"])
