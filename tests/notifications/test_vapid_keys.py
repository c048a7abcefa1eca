"""VAPID keys: both must be set and belong together, in any of the usual encodings."""

from base64 import urlsafe_b64encode

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from contacts_project.environment.reader import WrongSettingError, read_settings
from notifications.vapid import make_keys, public_key_of


def wrong(**values: str) -> str:
    with pytest.raises(WrongSettingError) as caught:
        read_settings(values)
    return str(caught.value)


def test_keys_must_be_a_matching_pair() -> None:
    ours, other = make_keys(), make_keys()
    assert read_settings({"VAPID_PUBLIC_KEY": ours.public, "VAPID_PRIVATE_KEY": ours.private})
    for public, private in ((other.public, ours.private), (ours.public, ""), ("", ours.private)):
        line = wrong(VAPID_PUBLIC_KEY=public, VAPID_PRIVATE_KEY=private)
        assert line.startswith(f"VAPID_PUBLIC_KEY={public} is not allowed. Allowed: the public half")
    line = wrong(VAPID_PUBLIC_KEY=ours.public, VAPID_PRIVATE_KEY="nonsense")
    assert line.startswith("VAPID_PRIVATE_KEY=*** is not allowed. Allowed: a P-256 key")


def test_private_key_is_accepted_in_all_usual_encodings() -> None:
    key = ec.generate_private_key(ec.SECP256R1())
    pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
    der = key.private_bytes(Encoding.DER, PrivateFormat.PKCS8, NoEncryption())
    number = key.private_numbers().private_value.to_bytes(32, "big")
    forms = [pem, pem.replace("\n", "\\n"), urlsafe_b64encode(der).decode(), urlsafe_b64encode(number).decode()]
    assert len({public_key_of(form) for form in forms}) == 1


def test_vapid_keys_command_prints_a_matching_pair(capsys: pytest.CaptureFixture[str]) -> None:
    from django.core.management import call_command

    call_command("vapid_keys")
    lines = dict(line.split("=", 1) for line in capsys.readouterr().out.splitlines())
    assert public_key_of(lines["VAPID_PRIVATE_KEY"]) == lines["VAPID_PUBLIC_KEY"]
    assert lines["VAPID_SUBJECT"]
