"""A server of our own process, and what it takes of the machine."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

from attrs import define

_TICKS = os.sysconf("SC_CLK_TCK")
_GROUPS = Path("/sys/fs/cgroup")
_PERIOD = 4000  # microseconds after which a share of a core begins again: short, so that nobody waits long for it


@define
class Server:
    """`subsetprivacy serve` over a database, on a free port."""

    process: "subprocess.Popen[str]"
    port: int
    share: "Share | None" = None

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

    def limit(self, cores: float) -> None:
        """Let it have so much of a core and no more, as on a machine of its own."""
        self.share = Share(f"subsetprivacy-load-{self.process.pid}", cores)
        self.share.take(self.process.pid)

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
        if self.share is not None:
            self.share.remove()


class Share:
    """A share of a core, by a control group of Linux. To make one takes root.

    Parameters
    ----------
    name
        Of the group.
    cores
        How much of a core its processes have together.
    """

    def __init__(self, name: str, cores: float) -> None:
        is_second = (_GROUPS / "cgroup.controllers").exists()  # the second version of control groups
        self._folder = _GROUPS / name if is_second else _GROUPS / "cpu" / name
        quota = int(cores * _PERIOD)
        written = {"cpu.max": f"{quota} {_PERIOD}"}
        if not is_second:
            written = {"cpu.cfs_period_us": str(_PERIOD), "cpu.cfs_quota_us": str(quota)}
        try:
            self._folder.mkdir()
            for file, text in written.items():
                (self._folder / file).write_text(text)
        except OSError as error:
            raise SystemExit(f"--cores needs control groups of Linux that may be written: {error}") from None

    def take(self, pid: int) -> None:
        """Put a process with all its threads into the group."""
        (self._folder / "cgroup.procs").write_text(str(pid))

    def remove(self) -> None:
        """Remove the group, whose processes have ended."""
        self._folder.rmdir()


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
