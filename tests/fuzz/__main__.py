"""`make fuzz`: sends what the API description allows, and what it forbids, to a served instance on each database.

    python -m tests.fuzz [--db sqlite|postgresql] [--as owner|reader|browser] [--seed N] [--examples N]
        [--only "PUT /api/groups/{groupId}"]

Finds 5xx responses, responses that are not in the description, invalid input that is accepted and valid input that is
refused. The same seed sends the same requests to the same state.
"""

import argparse
import os
import random
import secrets
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import requests

from tests import ROOT
from tests.bench.instance import Instance, fill, make_token, register, served
from tests.run import postgresql

SCHEMATHESIS = str(Path(sys.executable).parent / "schemathesis")
CONFIG = Path(__file__).parent / "schemathesis.toml"
PEOPLE = 40
# Not the password of the description's examples, with which a request could delete the account.
PASSWORD = f"Fuzz-{secrets.token_hex(8)}"
# Options that restrict a caller's operations. Session-only routes refuse tokens, so only the browser is sent there. The
# owner is not sent to the route that revokes its token; a READ token may not call it.
CALLER_OPTIONS = {
    "owner": ["--exclude-name", "DELETE /api/auth/token"],
    "browser": ["--include-path-regex", "/api/user/(mfa|api-tokens)"],
}
ACCOUNT_ENDINGS = [
    ("POST", "/api/auth/logout", None),
    ("DELETE", "/api/auth/token", None),
    ("DELETE", "/api/user/delete", {"password": PASSWORD, "confirmationText": "DELETE"}),
]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--db", choices=["sqlite", "postgresql"])
    parser.add_argument("--seed", type=int, default=random.randrange(2**32))
    parser.add_argument("--examples", type=int, default=20, help="random cases an operation, beside those of coverage")
    parser.add_argument("--as", dest="caller", choices=["owner", "reader", "browser"], help="one caller; reader: READ")
    parser.add_argument("--only", help="one operation: method and path")
    options = parser.parse_args()
    print(f"Seed {options.seed}", flush=True)
    failed = [
        name
        for database in ([options.db] if options.db else ["sqlite", "postgresql"])
        for name, status in fuzz(database, options)
        if status
    ]
    print(f"Found something as: {', '.join(failed)}." if failed else "Found nothing.")
    print(f"To run it again: make fuzz FUZZ='--seed {options.seed}' on the same commit.")
    return bool(failed)


def fuzz(database: str, options: argparse.Namespace) -> Iterator[tuple[str, int]]:
    """Send requests as each caller; yields the caller, and a status that is not 0 if something was found."""
    with run_instance(database) as instance:
        owner = register(instance, "fuzz@example.org", PASSWORD)
        instance.bearer = make_token(instance, owner)
        fill(instance, PEOPLE)
        reader = {"Authorization": f"Bearer {make_token(instance, owner, 'READ')}"}
        # An account of its own, because the owner's requests list and revoke the sessions of the owner's account.
        browser = register(instance, "browser@example.org", PASSWORD)
        callers = {"owner": {"Authorization": f"Bearer {instance.bearer}"}, "reader": reader, "browser": browser}
        for name, headers in callers.items():
            if options.caller not in {None, name}:
                continue
            print(f"== {name}, {database} ==", flush=True)
            yield f"{name} on {database}", run_schemathesis(instance.port, name, headers, options)
            yield f"{name} on {database}, afterwards", is_refused(instance.port, headers)
        yield f"ends of accounts on {database}", end_accounts(instance)


@contextmanager
def run_instance(database: str) -> Iterator[Instance]:
    settings = {"TRUSTED_PROXY_COUNT": "1", "OUTBOUND_ALLOWED_NETWORKS": "127.0.0.0/8", "LOG_LEVEL": "WARNING"}
    with ExitStack() as stack:
        if database == "postgresql":
            os.environ["TEST_DATABASE_URL"] = stack.enter_context(postgresql())
        yield stack.enter_context(served(database, **settings))


def run_schemathesis(port: int, caller: str, headers: dict[str, str], options: argparse.Namespace) -> int:
    """Run schemathesis with the API description; returns its exit status."""
    cookies = dict(cookie.split("=", 1) for cookie in headers.get("Cookie", "").split("; ") if cookie)
    schemes = {"session": cookies.pop("sessionid", None), "csrf": headers.get("X-CSRFToken")}
    sent = {name: value for name, value in headers.items() if name not in {"Cookie", "X-CSRFToken"}}
    header_arguments = [argument for name, value in sent.items() for argument in ("--header", f"{name}: {value}")]
    selection = CALLER_OPTIONS.get(caller, [])
    if options.only:
        selection = ["--include-name", options.only]
    with tempfile.NamedTemporaryFile("w", prefix="fuzz-", suffix=".toml") as config:
        config.write(CONFIG.read_text())
        # Not with --header: schemathesis omits the credential of a scheme in cases that test its absence.
        config.writelines(
            f'[auth.openapi.{name}]\napi_key = "{value}"\n' for name, value in schemes.items() if value is not None
        )
        config.flush()
        done = subprocess.run(
            [
                *(SCHEMATHESIS, "--config-file", config.name, "--no-color"),
                *("run", f"http://127.0.0.1:{port}/api/openapi.json", *header_arguments, *selection),
                *("--seed", str(options.seed), "--max-examples", str(options.examples)),
            ],
            env={
                **os.environ,
                "SCHEMATHESIS_HOOKS": "tests.fuzz.hooks",
                "PYTHONPATH": str(ROOT),
                "FUZZ_COOKIE": "; ".join(f"{name}={value}" for name, value in cookies.items()),
            },
            cwd=ROOT,
            check=False,
        )
    return done.returncode


def is_refused(port: int, headers: dict[str, str]) -> int:
    """1 if the caller's credential is refused by now, because then most requests ended at a 401; else 0."""
    return int(
        requests.get(f"http://127.0.0.1:{port}/api/auth/session", headers=headers, timeout=60).status_code != 200
    )


def end_accounts(instance: Instance) -> int:
    """Call what ends a session or an account, each on a new account; returns the number of wrong responses."""
    wrong, url = 0, f"http://127.0.0.1:{instance.port}"
    for number, (method, path, body) in enumerate(ACCOUNT_ENDINGS):
        headers = register(instance, f"end{number}@example.org", PASSWORD)
        if path == "/api/auth/token":
            headers = {"Authorization": f"Bearer {make_token(instance, headers)}"}
        responses = [
            requests.request(method, url + path, json=body, headers=headers, timeout=60).status_code,
            requests.get(f"{url}/api/auth/session", headers=headers, timeout=60).status_code,
        ]
        if responses != [200, 401]:
            print(f"{method} {path}, then GET /api/auth/session: {responses}")
            wrong += 1
    return wrong


if __name__ == "__main__":
    sys.exit(main())
