"""Python session that shows a data set in the App and keeps running, as a notebook or `make demo` does.

Run as a program, it prints the state of the session as one line of JSON for each line that it reads. All logs of
FiftyOne, its server and the plugin go to a file, in which tests look for errors.
"""

from __future__ import annotations

import json
import logging
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from contextlib import suppress
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]

LOST = "Could not connect session"
"""FiftyOne prints this if an event from the App made a session fail; ten seconds later it shows its first data set."""

WRONG = (LOST, "Traceback (most recent call last)", "Uncaught", "ERROR", "Exception")
"""Lines of the log with one of these texts are failures."""


class Living:
    """Process of the session, as seen by a test."""

    def __init__(self, folder: Path, port: int, dataset: str, environment: dict[str, str]) -> None:
        self.address = f"http://127.0.0.1:{port}"
        self.log = folder / "session.log"
        self._read = 0
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "tests.browser.living", str(port), dataset],
                cwd=ROOT,
                env=environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                start_new_session=True,
            )
        try:
            self.known()  # it answers once the App is running
        except BaseException:
            self.end()
            raise

    def known(self) -> dict[str, Any]:
        """Return the data set, the selected labels and the open sample, as seen by Python."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        with suppress(BrokenPipeError):
            self.process.stdin.write("\n")
            self.process.stdin.flush()
        line = self.process.stdout.readline()
        assert line, f"the session has ended:\n{self.log.read_text()[-3000:]}"
        answer: dict[str, Any] = json.loads(line)
        return answer

    def failures(self) -> list[str]:
        """Return log lines with errors since the last call, each with the lines around it."""
        lines = self.log.read_text(errors="replace").splitlines()
        new, self._read = lines[self._read :], len(lines)
        found = [place for place, line in enumerate(new) if any(word in line for word in WRONG)]
        return ["\n".join(new[max(0, place - 3) : place + 25]) for place in found[:3]]

    def end(self) -> None:
        for pipe in (self.process.stdin, self.process.stdout):
            assert pipe is not None
            pipe.close()  # its program ends, and FiftyOne stops the server
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(20)
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(10)


def free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return int(listening.getsockname()[1])


def main(port: int, name: str) -> None:
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # all output becomes part of the log, including that of FiftyOne's server
    import fiftyone as fo
    from fiftyone.core.service import Service
    from fiftyone.core.session import client

    Service._wait_for_child_port.__defaults__ = (None, 600)  # seconds, not a minute, for the server of a busy machine

    logging.getLogger("fiftyone").setLevel(logging.INFO)
    dispatch = client.Event.from_data

    def from_data(event: str, data: Any) -> Any:
        try:
            return dispatch(event, data)
        except Exception:
            logging.getLogger(__name__).exception("The session cannot read the event %s: %.2000s", event, data)
            raise

    client.Event.from_data = staticmethod(from_data)  # type: ignore[method-assign]
    session = fo.launch_app(fo.load_dataset(name), remote=True, address="127.0.0.1", port=port)
    _wait_for(f"http://127.0.0.1:{port}/")
    while not session._client._connected:  # it retries if the server is slow to start
        time.sleep(0.25)
    for _ in sys.stdin:
        state = session._state
        answers.write(
            json.dumps(
                {
                    "dataset": state.dataset.name if state.dataset is not None else None,
                    "labels": [label["label_id"] for label in state.selected_labels],
                    "sample": state.sample_id,
                    "view": len(state.view) if state.view is not None else None,
                    "threads": threading.active_count(),
                }
            )
            + "\n"
        )
        answers.flush()


def _wait_for(address: str) -> None:
    for _ in range(240):
        with suppress(OSError):
            urllib.request.urlopen(address, timeout=5).close()
            return
        time.sleep(0.25)
    raise TimeoutError(f"the App did not start at {address}")


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
