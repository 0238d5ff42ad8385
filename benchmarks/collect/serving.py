"""A server of our own process, and what it takes of the machine."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

from attrs import define

_TICKS = os.sysconf("SC_CLK_TCK")


@define
class Server:
    """`subsetprivacy serve` over a database, on a free port."""

    process: "subprocess.Popen[str]"
    port: int

    @classmethod
    def start(cls, database: str) -> "Server":
        """Start it and wait until it answers."""
        command = [sys.executable, "-m", "subsetprivacy", "serve", "--db", database, "--port", "0"]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        for line in process.stdout:
            if found := re.match(r"Studio\s+http://127\.0\.0\.1:(\d+)/", line):
                return cls(process, int(found[1]))
        raise SystemExit("the server did not start")

    def cpu_seconds(self) -> float:
        """Return the processor time that it has used."""
        return cpu_seconds(self.process.pid)

    def peak_megabytes(self) -> float:
        """Return the most memory that it has used."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        found = re.search(r"VmHWM:\s+(\d+) kB", status)
        assert found is not None
        return int(found[1]) / 1024

    def stop(self) -> None:
        """End it as Ctrl-C would."""
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(30)
        if self.process.stdout is not None:
            self.process.stdout.close()


def cpu_seconds(pid: int) -> float:
    """Return the processor time of a process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


def family_cpu_seconds(parent: int) -> float:
    """Return the processor time of a process, of its children, and of those of them that have ended."""
    total = 0.0
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                fields = (folder / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue  # it has ended
            if int(folder.name) == parent:
                total += sum(map(int, fields[11:15])) / _TICKS
            elif int(fields[1]) == parent:
                total += sum(map(int, fields[11:13])) / _TICKS
    return total
