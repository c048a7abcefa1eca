"""Texts of the API come in the language of the account, whenever it is read."""

import datetime as dt
from typing import Any

import pytest
from django.utils import timezone, translation

from accounts.models import User
from carddav.models import Connection, Run, RunState, RunTrigger
from contacts_project.kernel.texts import define_text
from tests.client import Client, client_of
from tests.people.importing.uploads import import_vcards
from tests.people.steps import create_person

_PROBLEM = define_text("card_problem", "%(href)s: %(reason)s")
_REASON = define_text("server_busy", "The server is busy. It is asked again later.")
pytestmark = pytest.mark.sqlite_suffices


def speak(user: User, language: str) -> Client:
    User.objects.filter(pk=user.pk).update(language=language)
    return client_of(user)


def test_errors_follow_the_account_and_not_the_browser(alice: User) -> None:
    client = speak(alice, "de-DE")
    refused = client.ok("POST", "/api/people", {"name": "x" * 1001}, status=400, HTTP_ACCEPT_LANGUAGE="fr")
    assert refused == {
        "error": "name: Höchstens 100 Zeichen, dies hat 1.001.",
        "code": "invalid",
        "params": {"limit": 100, "length": 1001},
        "details": [
            {
                "field": "name",
                "message": "Höchstens 100 Zeichen, dies hat 1.001.",
                "code": "too_long",
                "params": {"limit": 100, "length": 1001},
            }
        ],
    }
    assert client.ok("GET", f"/api/people/{alice.pk}", status=404)["error"] == "Nicht gefunden."
    assert speak(alice, "ja-JP").ok("GET", f"/api/people/{alice.pk}", status=404)["error"] == "見つかりません。"


def test_language_does_not_outlive_the_request(alice: User, mallory: User) -> None:
    speak(alice, "fr-FR").ok("GET", "/api/people")
    assert translation.get_language() == "en"
    assert client_of(mallory).ok("GET", f"/api/people/{alice.pk}", status=404)["error"] == "Not found."


def test_operations_of_a_batch_are_in_the_language_of_the_account(alice: User) -> None:
    body = {"operations": [{"method": "GET", "path": f"/api/people/{alice.pk}"}]}
    [result] = speak(alice, "es-ES").ok("POST", "/api/batch", body)["results"]
    assert result["body"] == {"error": "No se encontró.", "code": "not_found"}


def test_remarks_of_a_receipt_are_translated_with_their_values(alice: User) -> None:
    card = b"BEGIN:VCARD\r\nVERSION:3.0\r\nFN:Ada\r\nTITLE:" + b"x" * 300 + b"\r\nGEO:nowhere\r\nEND:VCARD\r\n"
    [result] = import_vcards(speak(alice, "de-DE"), card)["results"]
    assert result["reason"] == result["remarks"][0]["text"]
    by_code = {remark["code"]: remark for remark in result["remarks"]}
    cut = by_code["value_cut"]
    assert cut["text"].startswith("Beruf „xxx")
    assert (cut["params"]["limit"], cut["params"]["field"]["code"]) == (200, "field_job_title")
    assert by_code["geo_without_coordinates"]["text"].startswith("GEO enthält keine Koordinaten")


def test_messages_of_a_run_follow_a_changed_language(alice: User) -> None:
    connection = Connection.objects.create(owner=alice, server_url="https://dav.example", username="a", password="b")
    run = Run.objects.create(
        owner=alice,
        connection=connection,
        trigger=RunTrigger.MANUAL,
        state=RunState.ENDED,
        ended_at=timezone.now(),
        errors=1,
        code="busy",
        error=_REASON,
        error_messages=[_PROBLEM.format(href="/1.vcf", reason=_REASON).to_stored(), "a message of an older release"],
    )
    german = "Der Server ist ausgelastet. Er wird später noch einmal gefragt."
    french = "Le serveur est occupé. Il sera interrogé plus tard."
    for language, words in (("de-DE", german), ("fr-FR", french)):
        [shown] = speak(alice, language).ok("GET", "/api/carddav/runs")["runs"]
        assert (shown["id"], shown["code"], shown["error"]) == (str(run.pk), "busy", words)
        assert words in shown["errorMessages"][0]
        assert shown["errorMessages"][1] == "a message of an older release"
        assert [remark["code"] for remark in shown["remarks"]] == ["card_problem", "other"]
        assert shown["remarks"][0]["params"]["reason"]["text"] == words


def test_insights_are_in_the_language_of_the_account(alice: User) -> None:
    person = create_person(client_of(alice), "Ada", lastContact=str(timezone.now().date() - dt.timedelta(days=400)))
    body = {"contactReminderEnabled": True, "contactReminderInterval": 2, "contactReminderIntervalUnit": "WEEKS"}
    client_of(alice).ok("PUT", f"/api/people/{person}", body)
    insights: dict[str, Any] = speak(alice, "nb-NO").ok("GET", "/api/insights")
    [drifting], [incomplete] = insights["drifting"], insights["incomplete"]
    assert drifting["reason"] == "Stille: 400 dager; du ville holde kontakt hver 2. uke."
    assert drifting["code"] == "contact_interval"
    assert drifting["params"]["silence"] == {"code": "days", "params": {"days": 400}, "text": "400 dager"}
    assert incomplete["reason"] == "Verken telefon, e-post eller adresse."
