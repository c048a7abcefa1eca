"""Hooks for other apps when an account is created, claimed or deleted. They run inside the same transaction, get the id
of the account, and are registered in AppConfig.ready()."""

from collections.abc import Callable
from uuid import UUID

Starter = Callable[[UUID], None]
Releaser = Callable[[UUID], None]
FileLister = Callable[[UUID], list[str]]

_starters: list[Starter] = []
_releasers: list[Releaser] = []
_file_listers: list[FileLister] = []


def on_account_created(starter: Starter) -> None:
    """Register `starter(owner_id)`, which creates what every new account has, such as default relationship types."""
    _starters.append(starter)


def start_account(owner_id: UUID) -> None:
    """Run all hooks of `on_account_created`."""
    for starter in _starters:
        starter(owner_id)


def on_account_claimed(releaser: Releaser) -> None:
    """Register `releaser(owner_id)`, which removes access or messages that somebody else may have set up."""
    _releasers.append(releaser)


def release_account(owner_id: UUID) -> None:
    """Run all hooks of `on_account_claimed`."""
    for releaser in _releasers:
        releaser(owner_id)


def on_account_deleted(lister: FileLister) -> None:
    """Register `lister(owner_id)`, which returns the storage paths of the account's files, to be deleted with it."""
    _file_listers.append(lister)


def account_files(owner_id: UUID) -> list[str]:
    """The storage paths of all files of the account."""
    return [name for lister in _file_listers for name in lister(owner_id)]
