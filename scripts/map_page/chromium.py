"""Headless Chromium with WebGL in software, driven through its debugging pipe, without a library.

Messages are JSON that ends in a zero byte (Chrome DevTools Protocol), on file descriptors 3 and 4.
"""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

WIDTH, HEIGHT = 1280, 800
_NAMES = ("chromium", "chromium-browser", "google-chrome")
_FLAGS = (
    "--headless", "--remote-debugging-pipe", "--no-sandbox", "--no-first-run", "--hide-scrollbars",
    "--disable-background-networking", "--use-gl=angle", "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader", f"--window-size={WIDTH},{HEIGHT}",
)  # fmt: skip
_SECONDS = 60.0  # a wait takes at most


def find_chromium() -> str | None:
    """Return the path of Chromium, None where it is missing."""
    return next(filter(None, map(shutil.which, _NAMES)), None)


class Page:
    """A page in a browser of its own: `with Page(program, "file:///…") as page`."""

    def __init__(self, program: str, address: str) -> None:
        self._profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        command = [program, *_FLAGS, f"--user-data-dir={self._profile.name}", "about:blank"]
        from_us, self._write = os.pipe()
        self._read, to_us = os.pipe()
        # The shell gives the pipes the numbers that Chromium expects.
        shell = f'exec "$@" 3<&{from_us} 4>&{to_us}'
        self._process = subprocess.Popen(
            ["bash", "-c", shell, "bash", *command], pass_fds=(from_us, to_us),
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(from_us)
        os.close(to_us)
        self._session, self._number, self._buffer = "", 0, b""
        self.events: list[dict[str, Any]] = []
        targets = self.call("Target.getTargets")["targetInfos"]
        target = next(one["targetId"] for one in targets if one["type"] == "page")
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Network"):
            self.call(f"{domain}.enable")
        size = {"width": WIDTH, "height": HEIGHT, "deviceScaleFactor": 1, "mobile": False}
        self.call("Emulation.setDeviceMetricsOverride", **size)
        self.call("Page.navigate", url=address)

    def __enter__(self) -> Page:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.wait()
        os.close(self._write)
        os.close(self._read)
        self._profile.cleanup()

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """Return the answer to a command of the protocol; raises RuntimeError for an error."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": params}
        message |= {"sessionId": self._session} if self._session else {}
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._message()
            if answer.get("id") != self._number:
                self.events.append(answer)
            elif "error" in answer:
                raise RuntimeError(f"{method}: {answer['error']['message']}")
            else:
                return dict(answer["result"])

    def _message(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            part = os.read(self._read, 1 << 20)
            if not part:
                raise RuntimeError("Chromium ended")
            self._buffer += part
        raw, _, self._buffer = self._buffer.partition(b"\0")
        return dict(json.loads(raw))

    def run(self, script: str) -> Any:
        """Return the value of an expression; raises RuntimeError for an exception."""
        answer = self.call("Runtime.evaluate", expression=script, awaitPromise=True,
                           returnByValue=True)  # fmt: skip
        if "exceptionDetails" in answer:
            raise RuntimeError(str(answer["exceptionDetails"].get("exception", answer)))
        return answer["result"].get("value")

    def wait(self, condition: str) -> None:
        """Wait until an expression is true; raises TimeoutError."""
        end = time.monotonic() + _SECONDS
        while not self.run(condition):
            if time.monotonic() > end:
                raise TimeoutError(condition)
            time.sleep(0.05)

    def press(self, key: str, text: str = "") -> None:
        """Press a key; text: what it types."""
        typed = {"text": text} if text else {}
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, **typed)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key)

    def mouse(self, kind: str, x: float, y: float, **more: Any) -> None:
        """Send a mouse event: mouseMoved, mousePressed, mouseReleased, mouseWheel."""
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def picture(self, path: Path) -> None:
        """Write a .png of the page."""
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot")["data"]))
