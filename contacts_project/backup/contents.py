"""What a backup says of itself at its beginning and at its end."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field

import orjson
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from django.utils.crypto import constant_time_compare, salted_hmac

from contacts_project.backup.container import FORMAT, DamagedError

Migrations = frozenset[str]
#: Bytes of a row's line. Bodies of requests, the source of the longest rows, are bounded far below.
MAX_ROW = 256 * 1024 * 1024


@dataclass(frozen=True)
class Header:
    """`made_at`: ISO 8601. `migrations`: as `app.name`, those of the tables' state. `proof` is made with SECRET_KEY."""

    made_at: str
    version: str
    database: str
    migrations: tuple[str, ...]
    proof: str

    def to_bytes(self) -> bytes:
        return orjson.dumps({"format": FORMAT, **asdict(self)})

    @property
    def fits_secret_key(self) -> bool:
        """Whether this instance has the SECRET_KEY of the one that the backup was made of."""
        return constant_time_compare(self.proof, proof_of_secret_key(self.made_at))


def read_header(data: bytes) -> Header:
    """Raises DamagedError."""
    try:
        told = orjson.loads(data)
        names = ("made_at", "version", "database", "proof")
        return Header(migrations=tuple(map(str, told["migrations"])), **{name: str(told[name]) for name in names})
    except (ValueError, KeyError, TypeError):
        raise DamagedError("its header cannot be read") from None


def proof_of_secret_key(made_at: str) -> str:
    """Says that two instances have the same SECRET_KEY, without telling it."""
    return salted_hmac("contacts_project.backup", made_at, algorithm="sha256").hexdigest()


@dataclass
class Totals:
    """How much is in a backup. `missing_photos` are those that rows name and of which there was no file, or a damaged
    one."""

    rows: dict[str, int] = field(default_factory=dict)
    photos: int = 0
    missing_photos: int = 0

    def to_bytes(self) -> bytes:
        return orjson.dumps(asdict(self))

    def __str__(self) -> str:
        accounts, people = self.rows.get("accounts_user", 0), self.rows.get("people_person", 0)
        told = [_number(accounts, "account", "accounts"), _number(people, "person", "people")]
        told += [_number(sum(self.rows.values()), "row", "rows"), _number(self.photos, "photo", "photos")]
        return ", ".join(told)


def _number(number: int, one: str, many: str) -> str:
    return f"{number:,} {one if number == 1 else many}"


def read_totals(data: bytes) -> Totals:
    """Raises DamagedError."""
    try:
        return Totals(**orjson.loads(data))
    except (ValueError, TypeError):
        raise DamagedError("its end cannot be read") from None


def known_migrations() -> Migrations:
    """All of this version."""
    return spelled(MigrationLoader(connection).graph.nodes)


def applied_migrations() -> Migrations:
    """Those of this version that the database of this process has."""
    return known_migrations() & spelled(MigrationRecorder(connection).applied_migrations())


def spelled(migrations: Iterable[tuple[str, str]]) -> Migrations:
    """As `app.name`."""
    return frozenset(f"{app}.{name}" for app, name in migrations)
