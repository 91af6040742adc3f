# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs `subtick runq --json` for the duration of a with statement, with a window per second. Collects the rows of
containers and pods."""
import json
import subprocess
import tempfile
import threading

import tap
from exporter import SUBTICK, eventually, stop


class Windows:
    """Rows of `subtick runq @args` in the order of windows. The rows have container IDs as keys, or pod UIDs with --per
    pod."""

    def __init__(self, *args):
        self.args, self.rows, self.windows, self.quality = args, {}, 0, {}

    def __enter__(self):
        self.log = tempfile.TemporaryFile(mode="w+")
        self.child = subprocess.Popen([SUBTICK, "runq", "--json", *self.args, "1"], stdout=subprocess.PIPE,
                                      stderr=self.log, text=True)
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()
        try:
            self.settle()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        stop(self.child)
        self.reader.join()

    def read(self):
        for line in self.child.stdout:
            report = json.loads(line)
            for row in report["groups"]:
                key = row["container_id"] or row["pod_uid"]
                if key:
                    self.rows.setdefault(key, []).append(row)
            self.quality = report["quality"]
            self.windows += 1

    def settle(self):
        """Waits for the end of the next complete window."""
        ended = self.windows
        eventually(lambda: self.windows >= ended + 2 or self.child.poll() is not None)
        if self.child.poll() == 77:
            raise tap.Skip(self.said())
        if self.windows < ended + 2:
            raise RuntimeError(f"no window: {self.said()}")

    def said(self):
        self.log.seek(0)
        return self.log.read().strip()

    def count(self, key):
        """Returns the number of waits in all completed windows."""
        return sum(row["count"] for row in self.rows.get(key, []))
