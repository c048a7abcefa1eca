"""`manage.py letters EMAIL`: the addresses of an account's households, for letters and labels."""

import sys
from uuid import UUID

import orjson
from django.core.management.base import CommandError, CommandParser
from django.template.loader import render_to_string
from django.utils import translation

from accounts.models import User
from contacts_project.management.service_command import ServiceCommand, account_of
from contacts_project.pages.labels import DEFAULT_SHEET, labels_context
from people.letters.households import Household, find_households, households_csv
from people.letters.sheets import SHEETS, labels_css
from people.models import Group
from people.models.groups import group_key


class Command(ServiceCommand):
    help = "Writes the addresses of an account's households, one entry for all who live together, to the output."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("email", metavar="EMAIL", help="the account")
        parser.add_argument("--groups", nargs="+", default=[], metavar="NAME", help="only people of these groups")
        parser.add_argument("--format", choices=["csv", "json", "html"], default="csv")
        parser.add_argument("--sheet", choices=list(SHEETS), default=DEFAULT_SHEET, help="of labels, for html")

    def handle(self, *, email: str, groups: list[str], format: str, sheet: str, **options: object) -> None:
        owner = account_of(email)
        with translation.override(owner.language):
            households = find_households(owner, self._group_ids(owner, groups))
            content = _render(owner, households, format, sheet)
        # Bytes, so that the file is UTF-8 whatever the terminal is.
        stream = getattr(self.stdout._out, "buffer", None) or sys.stdout.buffer
        self.stdout.flush()
        stream.write(content)
        stream.flush()

    def _group_ids(self, owner: User, names: list[str]) -> list[UUID] | None:
        if not names:
            return None
        keys = {group_key(name): name for name in names}
        groups = dict(Group.objects.owned_by(owner).active().filter(name_key__in=keys).values_list("name_key", "pk"))
        for key, name in keys.items():
            if key not in groups:
                raise CommandError(f"There is no group {name}.")
        return list(groups.values())


def _render(owner: User, households: list[Household], kind: str, sheet: str) -> bytes:
    if kind == "csv":
        return households_csv(households)
    if kind == "json":
        return orjson.dumps({"households": [household.as_json() for household in households]}) + b"\n"
    context = {**labels_context(sheet, households), "language": owner.language, "styles": labels_css()}
    return render_to_string("pages/labels.html", context).encode()
