"""What other apps learn of accounts, by signals and by hooks.

Signals are sent on commit, with ids as arguments; receivers only enqueue tasks:

preferences_changed   user_id, fields (set of model field names)
mail_queued           mail_id of an AccountMail that is to be sent

Hooks run in the transaction in which an account is created, claimed or deleted or gets another language. They get its
id, and are registered in AppConfig.ready().
"""

from collections.abc import Callable
from uuid import UUID

from django.dispatch import Signal

preferences_changed = Signal()
mail_queued = Signal()

_starters: list[Callable[[UUID], None]] = []
_releasers: list[Callable[[UUID], None]] = []
_translators: list[Callable[[UUID, str], None]] = []
_file_listers: list[Callable[[UUID], list[str]]] = []


def on_account_created(starter: Callable[[UUID], None]) -> None:
    """Register `starter(owner_id)`, which creates what every new account has, such as default relationship types."""
    _starters.append(starter)


def start_account(owner_id: UUID) -> None:
    """Run all hooks of `on_account_created`."""
    for starter in _starters:
        starter(owner_id)


def on_account_claimed(releaser: Callable[[UUID], None]) -> None:
    """Register `releaser(owner_id)`, which removes access or messages that somebody else may have set up."""
    _releasers.append(releaser)


def release_account(owner_id: UUID) -> None:
    """Run all hooks of `on_account_claimed`."""
    for releaser in _releasers:
        releaser(owner_id)


def on_language_changed(translator: Callable[[UUID, str], None]) -> None:
    """Register `translator(owner_id, language)`, which translates what the account was given and nobody has renamed."""
    _translators.append(translator)


def translate_account(owner_id: UUID, language: str) -> None:
    """Run all hooks of `on_language_changed`. Must be called inside `account_write`."""
    for translator in _translators:
        translator(owner_id, language)


def on_account_deleted(lister: Callable[[UUID], list[str]]) -> None:
    """Register `lister(owner_id)`, which returns the storage paths of the account's files, to be deleted with it."""
    _file_listers.append(lister)


def account_files(owner_id: UUID) -> list[str]:
    """The storage paths of all files of the account."""
    return [name for lister in _file_listers for name in lister(owner_id)]
