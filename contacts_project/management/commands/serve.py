"""`manage.py serve`: the whole service from one command: web, worker and scheduler. `make run` calls it."""

import os
import socket
import sys
from typing import Any, NoReturn

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connections

from contacts_project.data_folder import everything_in, make_private
from contacts_project.management.service_command import ServiceCommand
from contacts_project.server.listener import CannotListenError, bind


class Command(ServiceCommand):
    help = "Prepares the database, then runs the web process and a worker with the scheduler until it is stopped."

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            listener = bind(settings.HOST, settings.PORT)
        except CannotListenError as error:
            raise CommandError(str(error)) from None
        self.stdout.write(f"Data folder: {settings.DATA_DIR}")
        if (default := settings.BASE_DIR / "data") != settings.DATA_DIR:
            self.stdout.write(f"Give manage.py the same DATA_DIR, too: without it, it works on {default}.")
        self.stdout.write("Preparing the database ...")
        call_command("migrate", verbosity=0, interactive=False)
        make_private(everything_in(settings.DATA_DIR))  # of an older version; what is new is made so
        connections.close_all()
        self.stdout.flush()
        become_supervisor(listener)


def become_supervisor(listener: socket.socket) -> NoReturn:
    """Replace this program, which has Django in its memory, by the small one that waits."""
    listener.set_inheritable(True)
    os.chdir(settings.BASE_DIR)
    # A relative folder was relative to where we came from.
    environment = {**os.environ, "DATA_DIR": str(settings.DATA_DIR)}
    options = ["--fd", str(listener.fileno()), "--web", str(settings.WEB_WORKERS), "--url", settings.BASE_URL]
    command = [sys.executable, "-m", "contacts_project.processes.supervisor", *options]
    os.execve(sys.executable, command, environment)  # noqa: S606 - ourselves
