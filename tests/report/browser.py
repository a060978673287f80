"""A real browser without a window, driven by chromedriver over HTTP (the WebDriver protocol)."""

from __future__ import annotations

import base64
import json
import os
import re
import shutil
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any, Self

import pytest

ARGUMENTS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--window-size=1280,900",
]
PATIENCE = 60  # seconds
CHROMIUM = ("chromium", "chromium-browser", "google-chrome")


def required() -> tuple[str, str]:
    """Return the paths of browser and driver, or skip the test that needs them."""
    browser = next((path for name in CHROMIUM if (path := shutil.which(name))), None)
    driver = shutil.which("chromedriver")
    if browser is None or driver is None:
        pytest.skip("needs chromium and chromedriver (Debian: apt-get install chromium chromium-driver)")
    return browser, driver


class Browser:
    """One session of a browser; what it says on its console and what it asks the network for is kept."""

    def __init__(self) -> None:
        browser, driver = required()
        self._folder = tempfile.TemporaryDirectory()
        self._driver = subprocess.Popen(
            [driver, "--port=0"],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=os.environ | {"HOME": self._folder.name},
        )
        try:
            self._begin(browser)
        except BaseException:
            self._end()
            raise

    def _begin(self, browser: str) -> None:
        self._address = f"http://127.0.0.1:{self._port()}"
        options = {"binary": browser, "args": [*ARGUMENTS, f"--user-data-dir={self._folder.name}/profile"]}
        wanted = {"goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"}}
        said = self._send("/session", {"capabilities": {"alwaysMatch": wanted}})
        self._address += f"/session/{said['sessionId']}"
        self._send("/url", {"url": "about:blank"})
        self.requests()  # the browser's own first page has asked for much

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self._send("", None, "DELETE")
        finally:
            self._end()

    def _end(self) -> None:
        self._driver.terminate()
        self._driver.wait()
        if self._driver.stdout is not None:
            self._driver.stdout.close()
        self._folder.cleanup()

    def _port(self) -> int:
        assert self._driver.stdout is not None
        for line in self._driver.stdout:
            if found := re.search(r"started successfully on port (\d+)", line):
                return int(found[1])
        raise AssertionError("chromedriver did not start")

    def _send(self, path: str, body: Any, method: str = "POST") -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(
            f"{self._address}{path}", data, {"Content-Type": "application/json"}, method=method
        )
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
                return json.loads(answer.read())["value"]
        except urllib.error.HTTPError as error:
            raise AssertionError(json.loads(error.read())["value"]["message"]) from None

    def open(self, path: Path, fragment: str = "") -> None:
        """Load a page from a file, as a new document."""
        self._send("/url", {"url": "about:blank"})
        self._send("/url", {"url": path.as_uri() + fragment})

    def run(self, script: str, *arguments: Any) -> Any:
        """Return what a script returns in the page."""
        return self._send("/execute/sync", {"script": script, "args": list(arguments)})

    def keys(self, *keys: str) -> None:
        """Press keys one after the other: characters, or WebDriver's codes of Tab, Enter and arrows."""
        actions = [{"type": kind, "value": key} for key in keys for kind in ("keyDown", "keyUp")]
        self._send("/actions", {"actions": [{"type": "key", "id": "keyboard", "actions": actions}]})

    def _find(self, selector: str, at: int = 0) -> dict[str, str]:
        found: list[dict[str, str]] = self._send("/elements", {"using": "css selector", "value": selector})
        return found[at]

    def enter(self, selector: str) -> None:
        """Look into a frame from now on."""
        self._send("/frame", {"id": self._find(selector)})

    def leave(self) -> None:
        """Look at the whole page again."""
        self._send("/frame", {"id": None})

    def click(self, selector: str, at: int = 0) -> None:
        """Scroll to an element and click on it, as a person would: nothing may be in front of it."""
        element = self._find(selector, at)
        self.run("arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", element)
        self._send(f"/element/{next(iter(element.values()))}/click", {})

    def devtools(self, command: str, **parameters: Any) -> Any:
        """Run a command of the DevTools protocol."""
        return self._send("/goog/cdp/execute", {"cmd": command, "params": parameters})

    def screenshot(self, *, whole: bool = False) -> bytes:
        """Return the window as a PNG, or the whole page."""
        return base64.b64decode(self.devtools("Page.captureScreenshot", captureBeyondViewport=whole)["data"])

    def resize(self, width: int, height: int) -> None:
        """Give the page a size in pixels."""
        self.devtools(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 500
        )

    def complaints(self) -> list[str]:
        """Return what the console says since the last call, warnings and errors."""
        return [line["message"] for line in self._send("/se/log", {"type": "browser"})]

    def requests(self) -> list[str]:
        """Return the addresses that were asked for since the last call."""
        events = [json.loads(line["message"])["message"] for line in self._send("/se/log", {"type": "performance"})]
        return [e["params"]["request"]["url"] for e in events if e["method"] == "Network.requestWillBeSent"]

    def until(self, condition: str) -> None:
        """Wait until a condition holds in the page."""
        end = time.monotonic() + PATIENCE
        while not self.run(f"return {condition}"):
            if time.monotonic() >= end:
                raise TimeoutError(f"{condition} does not come true")
            time.sleep(0.05)
