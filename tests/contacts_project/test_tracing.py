"""Traces of web and worker reach a collector, form one trace, and contain no personal data."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import requests
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from tests.concurrency import wait_until
from tests.fork_targets import run_module
from tests.loopback import Recorder, closed_port, is_listening, recording_server
from tests.workers import start_fork

ADDRESS = "quibble@example.org"
PRIVATE_VALUES = ("Quibblethorpe", "quibble%40", "quibble@", "Correct-Horse-9", "cnt_planted", "/api/people?")


def spans_of(collector: Recorder) -> dict[bytes, tuple[str, Any]]:
    """The spans that the collector has received, by id, each with its service."""
    found = {}
    for request in collector.received:
        assert request.path == "/v1/traces"
        for of_process in ExportTraceServiceRequest.FromString(request.body).resource_spans:
            resource = {pair.key: pair.value.string_value for pair in of_process.resource.attributes}
            for scope in of_process.scope_spans:
                found.update({span.span_id: (resource["service.name"], span) for span in scope.spans})
    return found


def attributes(span: Any) -> dict[str, str]:
    return {pair.key: pair.value.string_value or str(pair.value.int_value) for pair in span.attributes}


@contextmanager
def run_traced_instance(folder: Path, collector: str) -> Iterator[str]:
    """Run a web process and a worker; yields the web address. Both send their spans when they end, after the mail."""
    port = closed_port()
    environment = {"DATA_DIR": str(folder), "PORT": str(port), "OTEL_EXPORTER_OTLP_ENDPOINT": collector}
    modules = ("contacts_project.server", "contacts_project.processes.background")
    processes = [start_fork(run_module, folder / "log", environment, module) for module in modules]
    wait_until(lambda: is_listening(port))
    yield f"http://127.0.0.1:{port}"
    wait_until(
        lambda: f"To: {ADDRESS}" in (folder / "log").read_text()
    )  # the mail is logged, because no mail server is configured
    for process in processes:
        process.terminate()
        process.join(60)
    assert [process.exitcode for process in processes] == [0, 0], (folder / "log").read_text()


@pytest.mark.one_database
@pytest.mark.django_db(transaction=True)
def test_request_and_its_task_form_one_trace_without_personal_data(tmp_path: Path) -> None:
    with recording_server() as collector:
        with run_traced_instance(tmp_path, collector.url) as base:
            account = {"email": ADDRESS, "password": "Correct-Horse-9", "name": "Quibblethorpe"}
            headers = {"X-Request-ID": "of-the-registration"}
            address = f"{base}/api/auth/register"
            assert requests.post(address, json=account, headers=headers, timeout=60).status_code == 201
            token = {"Authorization": "Bearer cnt_planted"}
            address = f"{base}/api/people?search=Quibblethorpe"
            assert requests.get(address, headers=token, timeout=60).status_code == 401
        spans = spans_of(collector)
    registration = next(span for _, span in spans.values() if span.name == "POST /api/auth/register")
    assert attributes(registration) == {
        "contacts.request_id": "of-the-registration",
        "http.request.method": "POST",
        "http.route": "/api/auth/register",
        "http.response.status_code": "201",
    }
    tasks = [span for service, span in spans.values() if service == "contacts-worker" and span.name.startswith("run/")]
    [mail] = [span for span in tasks if span.trace_id == registration.trace_id]
    told = attributes(mail)
    assert told["contacts.request_id"] == "of-the-registration"
    assert told["celery.task_name"] == mail.name.removeprefix("run/")
    assert len(told["messaging.message.id"]) == 36
    service, published = spans[mail.parent_span_id]
    assert (service, published.parent_span_id) == ("contacts-web", registration.span_id)
    assert any(span.name == "GET /api/people" for _, span in spans.values())
    everything = "".join(request.body.decode("utf-8", "replace") for request in collector.received)
    assert "of-the-registration" in everything
    assert not [planted for planted in PRIVATE_VALUES if planted in everything]
