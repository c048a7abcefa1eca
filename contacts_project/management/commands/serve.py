"""`manage.py serve`: runs web, worker and scheduler with one command. `make run` calls it."""

import os
import socket
import sys
from typing import NoReturn

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connections

from contacts_project.data_folder import make_private, own_paths
from contacts_project.management.service_command import ServiceCommand
from contacts_project.processes.supervisor import CannotListenError, bind


class Command(ServiceCommand):
    help = "Prepares the database, then runs the web process and a worker with the scheduler until it is stopped."

    def handle(self, **options: object) -> None:
        # Before the migration: a second instance on the same port must not touch the database.
        try:
            listener = bind(settings.HOST, settings.PORT)
        except CannotListenError as error:
            raise CommandError(str(error)) from None
        self.stdout.write(f"Data folder: {settings.DATA_DIR}")
        if (default := settings.BASE_DIR / "data") != settings.DATA_DIR:
            self.stdout.write(f"Give manage.py the same DATA_DIR, too: without it, it works on {default}.")
        self.stdout.write("Preparing the database ...")
        call_command("migrate", verbosity=0, interactive=False)
        # For files of an older version; new ones are created with these permissions.
        make_private(own_paths(settings.DATA_DIR))
        connections.close_all()
        self.stdout.flush()  # exec discards what is buffered
        exec_supervisor(listener)


def exec_supervisor(listener: socket.socket) -> NoReturn:
    """Replace this process, which has Django in memory, by the supervisor, which has not. It inherits the listener."""
    listener.set_inheritable(True)
    os.chdir(settings.BASE_DIR)
    # As an absolute path: a relative one would be resolved in the new working directory.
    environment = {**os.environ, "DATA_DIR": str(settings.DATA_DIR)}
    options = ["--fd", str(listener.fileno()), "--web", str(settings.WEB_WORKERS), "--url", settings.BASE_URL]
    command = [sys.executable, "-m", "contacts_project.processes.supervisor", *options]
    os.execve(sys.executable, command, environment)  # noqa: S606 - ourselves
