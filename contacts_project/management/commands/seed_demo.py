"""`manage.py seed_demo`: creates a demo account with people and relationships."""

import secrets

from django.core.management.base import CommandError, CommandParser
from tqdm import tqdm

from accounts.services.registration import DEMO_EMAIL
from contacts_project.management.demo import DemoSeeder, get_or_create_account
from contacts_project.management.service_command import ServiceCommand


class Command(ServiceCommand):
    help = f"Make the account {DEMO_EMAIL} with people who know each other. Run again, it adds what is missing."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--people", type=int, default=60, metavar="N", help="how many people (60)")
        parser.add_argument("--password", help="the password of a new account; else one is made up and shown")

    def handle(self, *, people: int, password: str | None, **options: object) -> None:
        if people < 0:
            raise CommandError("--people: at least 0.")
        password = password or secrets.token_urlsafe(12)
        owner, is_new = get_or_create_account(password)
        with tqdm(total=people, unit=" people", disable=None) as bar:
            for done in DemoSeeder(owner, people).run():
                bar.update(done)
        if is_new:
            self.stdout.write(f"Sign in as {DEMO_EMAIL} with the password {password}")
        else:
            self.stdout.write(f"{DEMO_EMAIL} was there already; its password stays.")
