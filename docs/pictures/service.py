"""Take screenshots of the sample survey for the README. Run this from the root of the repository.

It needs the extra `serve`, Playwright, and Chromium on the path. Codes and keys are drawn again each time, so the
numbers in the pictures differ a little from run to run.
"""

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, sync_playwright

HERE = Path(__file__).parent
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-headless-shell", "chromium-browser"))), None)
MOST_BYTES = 200_000


@contextmanager
def sample() -> Iterator[dict[str, str]]:
    """Serve the sample, and yield the links it prints by their first words."""
    command = [sys.executable, "-m", "subsetprivacy", "serve", "--demo", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            printed: dict[str, str] = {}
            for line in process.stdout:
                printed |= dict(re.findall(r"^(\w+) +(http\S+)", line))
                if "Ctrl-C" in line:
                    break
            yield printed
        finally:
            process.terminate()


def take_screenshot(page: Any, name: str) -> None:
    """Save what is in view, and check that the file is small."""
    path = HERE / name
    page.screenshot(path=path)
    size = path.stat().st_size
    assert size < MOST_BYTES, f"{name} has {size} bytes"
    print(f"{path}: {size} bytes")


def results(browser: Browser, link: str) -> None:
    """Show the top of the dashboard with its first question."""
    page = browser.new_page(viewport={"width": 1180, "height": 960}, color_scheme="light")
    page.goto(link)
    page.wait_for_load_state("networkidle")
    bottom = page.locator(".split").first.evaluate("element => element.getBoundingClientRect().bottom")
    page.set_viewport_size({"width": 1180, "height": int(bottom) + 8})
    take_screenshot(page, "results.png")


def question(browser: Browser, link: str) -> None:
    """Show a question as it appears on a phone."""
    page = browser.new_page(
        viewport={"width": 400, "height": 800}, color_scheme="light", has_touch=True, is_mobile=True
    )
    page.goto(link)
    page.get_by_role("button", name="Start").click()
    page.get_by_role("button", name="Skip the practice").click()
    page.wait_for_selector("#progress:not(:empty)")
    page.get_by_text("All possible answers").click()
    page.mouse.move(1, 1)
    take_screenshot(page, "question.png")


if __name__ == "__main__":
    with sample() as links, sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        results(browser, links["Results"])
        question(browser, links["Respond"])
        browser.close()
