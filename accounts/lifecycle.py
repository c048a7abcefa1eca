"""What apps above do when an account begins, changes hands or ends, inside its transaction; see AppConfig.ready()."""

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # the manager of users runs the starters: a real import would go in a circle
    from accounts.models import User

Starter = Callable[["User"], None]
Releaser = Callable[["User"], None]
FileLister = Callable[["User"], list[str]]

_starters: list[Starter] = []
_releasers: list[Releaser] = []
_file_listers: list[FileLister] = []


def on_account_created(starter: Starter) -> None:
    """Register `starter(user)`, run inside the transaction that makes an account (its default types, say)."""
    _starters.append(starter)


def start_account(user: "User") -> None:
    """Run every starter; called by the registration service alone."""
    for starter in _starters:
        starter(user)


def on_account_claimed(releaser: Releaser) -> None:
    """Register `releaser(user)`, which cuts what may tie the account to somebody else than its address's owner."""
    _releasers.append(releaser)


def release_account(user: "User") -> None:
    """Run every releaser; called by the claiming service alone."""
    for releaser in _releasers:
        releaser(user)


def on_account_deleted(lister: FileLister) -> None:
    """Register `lister(user)`, which names the paths on the storage of the files that go with it."""
    _file_listers.append(lister)


def files_of(user: "User") -> list[str]:
    """All stored files of the account."""
    return [name for lister in _file_listers for name in lister(user)]
