"""VAPID keys: the pair has to be whole and to fit, in any form in use."""

from base64 import urlsafe_b64encode
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from django.core.checks import run_checks

from notifications.vapid import make_keys, public_key_of


def ids() -> set[str]:
    return {message.id for message in run_checks() if message.id and not message.is_silenced()}


def test_defaults_are_fine() -> None:
    assert ids() == set()


@pytest.mark.parametrize("name", ["VAPID_PUBLIC_KEY", "VAPID_PRIVATE_KEY"])
def test_half_a_pair_is_named(settings: Any, name: str) -> None:
    setattr(settings, name, "alone")
    assert ids() == {"notifications.E001"}


def test_vapid_keys_have_to_fit_each_other(settings: Any) -> None:
    ours, other = make_keys(), make_keys()
    settings.VAPID_PRIVATE_KEY = ours.private
    settings.VAPID_PUBLIC_KEY = ours.public
    assert ids() == set()
    settings.VAPID_PUBLIC_KEY = other.public
    assert ids() == {"notifications.E003"}
    settings.VAPID_PRIVATE_KEY = "nonsense"
    assert ids() == {"notifications.E002"}


def test_vapid_private_key_in_any_form_in_use() -> None:
    key = ec.generate_private_key(ec.SECP256R1())
    pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
    der = key.private_bytes(Encoding.DER, PrivateFormat.PKCS8, NoEncryption())
    number = key.private_numbers().private_value.to_bytes(32, "big")
    forms = [pem, pem.replace("\n", "\\n"), urlsafe_b64encode(der).decode(), urlsafe_b64encode(number).decode()]
    assert len({public_key_of(form) for form in forms}) == 1


def test_vapid_keys_command_prints_a_pair_that_fits(capsys: pytest.CaptureFixture[str]) -> None:
    from django.core.management import call_command

    call_command("vapid_keys")
    lines = dict(line.split("=", 1) for line in capsys.readouterr().out.splitlines())
    assert public_key_of(lines["VAPID_PRIVATE_KEY"]) == lines["VAPID_PUBLIC_KEY"]
    assert lines["VAPID_SUBJECT"]
