"""The operation page: it shows the figures, its cost does not grow with the data, and a browser can lay it out."""

import datetime as dt
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from django.contrib.staticfiles.finders import find
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from kombu.exceptions import OperationalError

from accounts.models import User
from contacts_project.admin.charts import HEIGHT, build_day_chart, build_line
from contacts_project.operation import figures
from tests.client import Client
from tests.contacts_project.operation.rows import make_delivery, make_ended_run

pytestmark = pytest.mark.sqlite_suffices

PAGE = "/admin/operation/"
MONDAY = dt.date(2026, 3, 2)
TUESDAY = MONDAY + dt.timedelta(days=1)


def html_of(client: Client) -> str:
    response = client.get(PAGE)
    assert response.status_code == 200
    return str(response.content.decode())


def test_page_is_called_status_and_stands_in_the_index(operator: Client) -> None:
    index = operator.get("/admin/").content.decode()
    assert re.search(rf'<p class="ways"><a href="{PAGE}">Status:', index)
    html = html_of(operator)
    assert "<h1>Status</h1>" in html
    assert f'<a href="{PAGE}">Status</a>' in html
    assert "How it goes" not in index + html


def test_page_shows_the_figures(operator: Client, alice: User) -> None:
    now = timezone.now()
    for number in range(3):
        make_delivery(alice, now - dt.timedelta(days=number))
    make_delivery(alice, now, channel="webhook", state="failed", code="dns")
    make_delivery(alice, now, state="pending", next_try_at=now - dt.timedelta(hours=3), ended_at=None)
    make_ended_run(alice, now, 4)
    make_ended_run(alice, now, 8, "auth")
    figures.count_days(sizes=figures.sizes(), now=now)
    html = html_of(operator)
    for text in (
        '<li class="look"><b>3 h</b><span>Oldest that is due',
        "sent 3</span>",
        "<h2>Over webhook</h2>",
        "dns: the host name does not resolve</dt><dd>1",
        "half within 6.0 s",
        "0 waiting</dd>",
        "<h2>Database</h2>",
        "free beside it",
        'class="sent"',
    ):
        assert text in html, text
    assert not re.search(r"\sstyle=|<style|<script(?![^>]* src=)|https?://(?!www.w3.org)", html)


def test_page_of_an_empty_instance(operator: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def raise_operational_error() -> None:
        raise OperationalError

    monkeypatch.setattr(figures, "queue_messages", raise_operational_error)
    html = html_of(operator)
    assert "None has failed." in html
    assert "No run yet." in html
    assert "The broker does not answer." in html


def test_number_of_queries_does_not_grow_with_the_data(operator: Client, alice: User) -> None:
    def cost() -> int:
        with CaptureQueriesContext(connection) as captured:
            html_of(operator)
        return len(captured)

    now = timezone.now()
    make_delivery(alice, now)
    make_ended_run(alice, now, 1)
    figures.count_days(sizes=figures.sizes(), now=now)
    html_of(operator)
    few = cost()
    for number in range(40):
        make_delivery(alice, now)
        make_ended_run(alice, now, number)
    assert cost() == few < 60


def test_stacked_bars_fill_the_height_of_the_chart() -> None:
    chart = build_day_chart({MONDAY: {"sent": 3, "failed": 1}, TUESDAY: {}}, ["sent", "failed"])
    sent, failed = chart.columns[0].bars
    assert (sent.y + sent.height, failed.y, failed.y + failed.height) == (HEIGHT, 0, sent.y)
    assert chart.columns[1].bars == []
    assert (chart.maximum, chart.legend) == (4, [("sent", 3), ("failed", 1)])


def test_line_spans_all_days() -> None:
    assert build_line({MONDAY: 1, TUESDAY: 2}, "2").points == "0.0,75.0 600.0,0.0"
    assert build_line({MONDAY: 0}, "0").points == "0.0,150.0 600.0,150.0"


@pytest.mark.skipif(shutil.which("chromium") is None, reason="Chromium is not here")
@pytest.mark.parametrize(("width", "scheme"), [(1200, "light"), (390, "dark")])
def test_page_fits_the_window_in_both_colour_schemes(
    operator: Client, alice: User, tmp_path: Path, width: int, scheme: str
) -> None:
    """Nothing is wider than the window, the bars have an area, and the colours are those of the colour scheme."""
    make_delivery(alice, timezone.now())
    styles = ("admin/css/base.css", "admin/css/dark_mode.css", "admin/css/responsive.css", "operators/operators.css")
    look = "".join(f"<style>{Path(str(find(name))).read_text()}</style>" for name in styles)
    html = re.sub(r"<script.*?</script>|<link[^>]*>", "", html_of(operator), flags=re.DOTALL)
    probe = """<script>addEventListener("load", () => {
      const bar = document.querySelector("svg[role=img] .sent").getBoundingClientRect();
      const card = getComputedStyle(document.querySelector(".panels section")).backgroundColor;
      document.title = ["seen", document.documentElement.scrollWidth <= innerWidth + 1,
        bar.width > 0 && bar.height > 0, card].join("|");
    });</script>"""
    file = tmp_path / "page.html"
    file.write_text(html.replace("</head>", f"{look}{probe}</head>"))
    command: list[Any] = [
        *("chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
        *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
        *(f"--user-data-dir={tmp_path / 'profile'}", f"--window-size={max(width, 500)},1000", "--dump-dom"),
        *(["--blink-settings=preferredColorScheme=0"] if scheme == "dark" else []),
        f"file://{file}",
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    title = re.search(r"<title>(.*?)</title>", done.stdout)
    card = {"light": "rgb(255, 255, 255)", "dark": "rgb(27, 31, 39)"}[scheme]
    assert title is not None
    assert title[1] == f"seen|true|true|{card}"
