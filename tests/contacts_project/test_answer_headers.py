"""What answers tell browsers: no foreign and no inline script, https only, nothing kept that is not meant to be."""

import re
from pathlib import Path

from django.conf import settings as project
from django_celery_beat.models import PeriodicTask

from contacts_project.beat import SCHEDULE
from tests.client import Client
from tests.contacts_project.test_environment import run

# An inline script, style or handler is what the policy forbids; a block of JSON is data.
INLINE = re.compile(r"<script(?![^>]*(?: src=|type=\"application/json\"))[^>]*>|<style|\sstyle=|\son[a-z]+=\"")


def test_no_page_needs_what_the_policy_forbids(operator: Client) -> None:
    tasks = "/admin/django_celery_beat/periodictask/"
    task = PeriodicTask.objects.get(name=SCHEDULE[0].name)
    pages = ["/admin/", "/admin/accounts/user/", "/admin/accounts/user/add/", tasks, f"{tasks}{task.pk}/change/"]
    for path in ["/", "/account/sign-in", "/account/verify-email", "/api/unsubscribe", *pages, "/nowhere"]:
        answer = operator.get(path)
        assert answer["Content-Security-Policy"] == project.CONTENT_SECURITY_POLICY, path
        assert INLINE.findall(answer.content.decode()) == [], path
        assert "no-store" in answer["Cache-Control"], path


def test_with_https_browsers_are_held_to_it_and_nothing_is_left_to_harden(tmp_path: Path) -> None:
    script = (
        "import django; django.setup(); from django.core.checks import run_checks, WARNING; "
        "found = [check for check in run_checks(include_deployment_checks=True) if not check.is_silenced()]; "
        "print([check.id for check in found if check.level >= WARNING]); "
        "from django.test import Client; "
        "answer = Client().get('/api/version', HTTP_HOST='example.org', HTTP_X_FORWARDED_PROTO='https'); "
        "print(answer['Strict-Transport-Security'])"
    )
    done = run(["-c", script], {"BASE_URL": "https://example.org", "DATA_DIR": str(tmp_path), "LOG_LEVEL": "ERROR"})
    assert (done.stderr, done.stdout) == ("", "[]\nmax-age=31536000\n")
