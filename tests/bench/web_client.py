"""The client in the browser with 2,000 and 10,000 people: first load, first sync, warm start, search, memory, and
each place: what holds it up, what it keeps, and how soon the box has its first hit there.

Times are elapsed, with the instance and the browser on the same machine.
"""

import os
import re
import statistics
import time
from pathlib import Path

from playwright.sync_api import Browser, Page, Request, expect, sync_playwright

from tests.bench.figures import Figure, SharedData
from tests.bench.instance import Instance, cpu_ticks, fill_in_bulk, served
from tests.browser import ARGUMENTS, find_chromium

SIZES = (2_000, 10_000)
WORDS = ("ada", "björn", "mir", "zoe", "ban cor")
PLACES = (
    *("/", "/people", "/dates", "/dates?view=year", "/dates?view=list", "/network", "/map", "/groups", "/shares"),
    *("/duplicates", "/relationships/suggestions", "/letters", "/import", "/trash", "/meetings", "/account/data"),
    *("/account/preferences", "/notifications", "/relationships", "/custom-fields", "/devices", "/more"),
)
# When the list is there, and when all is stored, in seconds from the click. To ask for it again and again, as `expect`
# does, would take a second of the tab's CPU time.
_WATCH_SYNC = """() => {
  const when = (isReached, options) => new Promise((done) => {
    const observer = new MutationObserver(() => {
      if (!isReached()) return;
      observer.disconnect();
      done((performance.now() - window.clicked_at) / 1000);
    });
    observer.observe(document, options);
  });
  addEventListener("click", () => (window.clicked_at = performance.now()), { capture: true, once: true });
  window.list_shown = when(() => document.querySelector("[role=row]"), { subtree: true, childList: true });
  const isStored = () => document.documentElement.dataset.sync === "idle";
  window.all_stored = when(isStored, { subtree: true, attributeFilter: ["data-sync"] });
}"""
# From a keystroke to the frame that shows its result.
_KEYSTROKES = """async (words) => {
  const box = document.querySelector("input[type=search]");
  const spans = [];
  for (const word of words) {
    for (let length = 1; length <= word.length; length++) {
      const start = performance.now();
      box.value = word.slice(0, length);
      box.dispatchEvent(new Event("input", { bubbles: true }));
      await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
      spans.push(performance.now() - start);
    }
  }
  return spans;
}"""

# The time between frames, and the tasks in which the page did nothing else for 50 ms or more.
_WATCH_FRAMES = """
window.frames_seen = [];
window.long_tasks = [];
new PerformanceObserver((list) => window.long_tasks.push(...list.getEntries().map(({ duration }) => duration)))
  .observe({ type: "longtask", buffered: true });
const next = (now) => { window.frames_seen.push(now); requestAnimationFrame(next); };
requestAnimationFrame(next);
"""
_FRAMES = """() => {
  const spans = window.frames_seen.slice(1).map((now, index) => now - window.frames_seen[index]);
  const tasks = window.long_tasks;
  window.frames_seen = [];
  window.long_tasks = [];
  return [spans, tasks];
}"""
# Two seconds of zooming in and out, one step a frame.
_ZOOM = """async () => {
  const canvas = document.querySelector(".network-picture canvas");
  const { width, height } = canvas.getBoundingClientRect();
  for (let step = 0; step < 120; step++) {
    const deltaY = step % 40 < 20 ? -60 : 60;
    const at = { clientX: width / 2, clientY: height / 2 };
    canvas.dispatchEvent(new WheelEvent("wheel", { deltaY, ...at, cancelable: true }));
    await new Promise((done) => requestAnimationFrame(done));
  }
}"""

# Down a list of any length, a screen a frame, and up again.
_SCROLL = """async () => {
  const isCut = (element) => element.scrollHeight > element.clientHeight + 1;
  const scrolls = (element) => isCut(element) && getComputedStyle(element).overflowY !== "hidden";
  const panes = [...document.querySelectorAll("main, main *"), document.scrollingElement].filter(scrolls);
  for (const pane of panes.slice(0, 3)) {
    for (let step = 0; step < 60; step++) {
      pane.scrollTop = step < 50 ? pane.scrollTop + pane.clientHeight : 0;
      await new Promise((done) => requestAnimationFrame(done));
    }
  }
}"""
# Milliseconds from a letter in the open box to the frame with its first hit; one letter after the other.
_BOX = """async (word) => {
  const box = document.querySelector("dialog[open] [role=combobox]");
  const spans = [];
  for (let length = 1; length <= word.length; length++) {
    const start = performance.now();
    box.value = word.slice(0, length);
    box.dispatchEvent(new Event("input", { bubbles: true }));
    await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
    while (!document.querySelector("[role=option]")) await new Promise((done) => requestAnimationFrame(done));
    spans.push(performance.now() - start);
  }
  return spans;
}"""


def web_client(shared: SharedData) -> list[Figure]:
    """Measure each size with an instance of its own."""
    if find_chromium() is None:
        return []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=[*ARGUMENTS])
        try:
            return [figure for size in SIZES for figure in measure_size(browser, shared.database, size)]
        finally:
            browser.close()


def measure_size(browser: Browser, database: str, size: int) -> list[Figure]:
    with served(database) as instance, browser.new_context(service_workers="block") as context:
        fill_in_bulk(instance, size)
        return measure_pages(browser, context.new_page(), instance, f"{size:,} people: ")


def measure_pages(browser: Browser, page: Page, instance: Instance, prefix: str) -> list[Figure]:
    base = f"http://127.0.0.1:{instance.port}"
    files: list[Request] = []
    changes: list[Request] = []
    page.on("requestfinished", lambda request: (changes if "/api/changes?" in request.url else files).append(request))
    page.goto(f"{base}/app/sign-in?next=/people")
    page.get_by_label("E-mail").fill("bench@example.org")
    page.get_by_label("Password").fill("Analytical-1843")
    page.evaluate(_WATCH_SYNC)
    before = cpu_seconds(browser, instance)
    page.get_by_role("button", name="Sign in").click()
    usable = page.evaluate("list_shown")
    loaded = [request.sizes()["responseBodySize"] for request in files if "/api/" not in request.url]
    complete = page.evaluate("all_stored")
    pages = [request.sizes()["responseBodySize"] for request in changes]
    used = ", ".join(f"{name} {value - before[name]:.1f}" for name, value in cpu_seconds(browser, instance).items())
    warm = statistics.median(warm_start(page) for _ in range(3))
    spans = sorted(page.evaluate(_KEYSTROKES, list(WORDS)))
    heap, resident = memory(browser, page)
    duplicates = measure_duplicates(page.context.new_page(), f"{base}/app/duplicates", prefix)
    network = measure_network(page, f"{base}/app/network", prefix)
    return [
        Figure(
            f"{prefix}first load", usable, note=f"{sum(loaded) / 1000:,.0f} kB, {len(loaded)} requests; time to a list"
        ),
        Figure(
            f"{prefix}first sync",
            complete,
            note=f"to the last record stored, {len(pages)} requests, {sum(pages) / 1e6:.1f} MB; CPU seconds: {used}",
        ),
        Figure(f"{prefix}warm start", warm, note="from navigation to a list"),
        Figure(f"{prefix}keystroke to paint", spans[int(len(spans) * 0.95)] / 1000, note="95th percentile"),
        Figure(
            f"{prefix}memory", 0, note=f"{heap:,.0f} MB of JavaScript, {resident:,.0f} MB in all after a collection"
        ),
        duplicates,
        *network,
        *(measure_place(browser, page, base, path, prefix) for path in PLACES),
    ]


def measure_place(browser: Browser, page: Page, base: str, path: str, prefix: str) -> Figure:
    """The longest task while a place is opened, scrolled and searched from: 50 ms and less are none."""
    page.goto(f"{base}/app{path}")
    expect(page.locator("h1")).to_be_visible(timeout=60_000)
    page.wait_for_timeout(2_000)
    expect(page.get_by_text("Something is wrong")).to_have_count(0)
    page.evaluate(_SCROLL)
    heap, _ = memory(browser, page)
    page.keyboard.press("Control+k")
    page.get_by_role("combobox", name="Search or do").wait_for()
    spans = page.evaluate(_BOX, WORDS[0])
    _, tasks = page.evaluate(_FRAMES)
    note = f"the longest of {len(tasks)} long tasks; {heap:,.0f} MB of JavaScript; box: {max(spans):,.0f} ms to a hit"
    return Figure(f"{prefix}{path}", max(tasks, default=0) / 1000, note=note)


def measure_duplicates(page: Page, url: str, prefix: str) -> Figure:
    """The time to the first pair, and what held up the page until then."""
    page.add_init_script(_WATCH_FRAMES)
    start = time.perf_counter()
    page.goto(url)
    expect(page.locator(".decision-bar")).to_be_visible(timeout=120_000)
    seconds = time.perf_counter() - start
    note = f"from navigation to the first pair; {describe_frames(*page.evaluate(_FRAMES))}"
    page.close()
    return Figure(f"{prefix}duplicates", seconds, note=note)


def measure_network(page: Page, url: str, prefix: str) -> list[Figure]:
    """The frames of the picture while it is arranged, and while it is zoomed."""
    page.add_init_script(_WATCH_FRAMES)
    start = time.perf_counter()
    page.goto(url)
    picture = page.locator(".network-picture")
    expect(picture).to_have_attribute("data-layout", "done", timeout=120_000)
    arranged = time.perf_counter() - start
    page.evaluate("scrollTo(0, 0)")
    while_arranged = page.evaluate(_FRAMES)
    page.evaluate(_ZOOM)
    while_zoomed = page.evaluate(_FRAMES)
    return [
        Figure(f"{prefix}network arranged", arranged, note=f"from navigation; {describe_frames(*while_arranged)}"),
        Figure(
            f"{prefix}network zoomed", percentile(while_zoomed[0]), note=f"a frame; {describe_frames(*while_zoomed)}"
        ),
    ]


def cpu_seconds(browser: Browser, instance: Instance) -> dict[str, float]:
    """CPU time so far: of the instance, the browser's own processes (IndexedDB and the network), and its tabs."""
    found = {"service": instance.cpu_seconds(), "browser": 0.0, "renderer": 0.0}
    for process in browser.new_browser_cdp_session().send("SystemInfo.getProcessInfo")["processInfo"]:
        kind = "browser" if process["type"].startswith("network.") else process["type"]
        if kind in found:
            found[kind] += cpu_ticks(process["id"]) / os.sysconf("SC_CLK_TCK")
    return found


def percentile(spans: list[float]) -> float:
    """The 95th percentile in seconds, from milliseconds."""
    return sorted(spans)[int(len(spans) * 0.95)] / 1000


def describe_frames(spans: list[float], tasks: list[float]) -> str:
    median, slow = statistics.median(spans), percentile(spans) * 1000
    longest = f", the longest {max(tasks):,.0f} ms" if tasks else ""
    return f"frames: median {median:,.0f} ms, 95th percentile {slow:,.0f} ms; {len(tasks)} long tasks{longest}"


def warm_start(page: Page) -> float:
    start = time.perf_counter()
    page.reload()
    expect(page.get_by_role("row").first).to_be_visible(timeout=60_000)
    return time.perf_counter() - start


def memory(browser: Browser, page: Page) -> tuple[float, float]:
    """The heap of JavaScript, and the anonymous memory of the tab's process, in MB."""
    session = page.context.new_cdp_session(page)
    session.send("HeapProfiler.collectGarbage")
    session.send("Performance.enable")
    metrics = {row["name"]: row["value"] for row in session.send("Performance.getMetrics")["metrics"]}
    processes = browser.new_browser_cdp_session().send("SystemInfo.getProcessInfo")["processInfo"]
    renderers = [process["id"] for process in processes if process["type"] == "renderer"]
    resident = max(anonymous_megabytes(pid) for pid in renderers)
    return metrics["JSHeapUsedSize"] / 1e6, resident


def anonymous_megabytes(pid: int) -> float:
    found = re.search(r"RssAnon:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())
    return int(found[1]) / 1000 if found else 0


BENCHES = [("client in the browser", web_client)]
