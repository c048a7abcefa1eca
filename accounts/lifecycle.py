"""Hooks for other apps when an account is created, claimed or deleted. They run inside the same transaction, and are
registered in AppConfig.ready()."""

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # UserManager calls start_account: a real import would be circular
    from accounts.models import User

Starter = Callable[["User"], None]
Releaser = Callable[["User"], None]
FileLister = Callable[["User"], list[str]]

_starters: list[Starter] = []
_releasers: list[Releaser] = []
_file_listers: list[FileLister] = []


def on_account_created(starter: Starter) -> None:
    """Register `starter(user)`, which creates what every new account has, such as default relationship types."""
    _starters.append(starter)


def start_account(user: "User") -> None:
    """Run all hooks of `on_account_created`."""
    for starter in _starters:
        starter(user)


def on_account_claimed(releaser: Releaser) -> None:
    """Register `releaser(user)`, which removes access or messages that somebody else may have set up."""
    _releasers.append(releaser)


def release_account(user: "User") -> None:
    """Run all hooks of `on_account_claimed`."""
    for releaser in _releasers:
        releaser(user)


def on_account_deleted(lister: FileLister) -> None:
    """Register `lister(user)`, which returns the storage paths of the account's files, to be deleted with it."""
    _file_listers.append(lister)


def account_files(user: "User") -> list[str]:
    """The storage paths of all files of the account."""
    return [name for lister in _file_listers for name in lister(user)]
