"""A real cluster on this machine: a standalone master with workers, whose Python is bare, and a Connect server."""

import importlib.metadata
import os
import signal
import subprocess
import time
import venv
from contextlib import contextmanager, suppress
from pathlib import Path

from spark import connect_session, free_port

HOST = "127.0.0.1"
_SERVER = "org.apache.spark.sql.connect.service.SparkConnectServer"


def bare_python(folder: Path, *packages: str) -> Path:
    """Make a Python that has these installed packages and nothing else; nothing is downloaded."""
    venv.create(folder, with_pip=False, symlinks=True)
    site = next(folder.glob("lib/python*/site-packages"))
    for package in packages:
        for top in _parts(package):
            (site / top.name).symlink_to(top)
    return folder / "bin/python"


def _parts(package: str) -> set[Path]:
    """Return the folders and files that an installed package put in its site directory."""
    found = importlib.metadata.distribution(package)
    site = Path(str(found.locate_file("")))
    names = {Path(str(file)).parts[0] for file in found.files or ()}
    return {site / name for name in names if name not in ("..", "__pycache__") and (site / name).exists()}


class Daemon:
    """A process of Spark in a group of its own, with a log."""

    def __init__(self, log: Path, command: list[str], env: dict[str, str]) -> None:
        self.log = log
        # Ours alone: what the user's shell says about Spark must not reach the cluster.
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("SPARK_", "PYSPARK_")) and k != "PYTHONPATH"}
        with log.open("wb") as out:
            self.process = subprocess.Popen(
                command, env=kept | env, stdout=out, stderr=subprocess.STDOUT, start_new_session=True
            )

    def await_text(self, text: str, seconds: float = 300) -> None:
        """Wait until the log says so."""
        until = time.monotonic() + seconds
        while text not in self.log.read_text(errors="replace"):
            if self.process.poll() is not None or time.monotonic() > until:
                raise RuntimeError(f"{self.log.name} did not say {text!r}:\n{self.log.read_text()[-3000:]}")
            time.sleep(0.1)

    def kill(self) -> None:
        """Kill the process and whatever it started, at once, as a machine that loses its power."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


class Cluster:
    """A standalone master and its workers, on loopback; their Python has NumPy, PyArrow, what is named, and no more."""

    def __init__(self, folder: Path, *packages: str) -> None:
        import pyspark

        self.home, self.folder = Path(pyspark.__file__).parent, folder
        self.python = bare_python(folder / "python", "numpy", "pyarrow", *packages)
        self.workers: list[Daemon] = []
        self._started = 0
        port = free_port()
        self.url = f"spark://{HOST}:{port}"
        self.master = self._spark_class("master", "master.Master", "--port", str(port), "--webui-port", "0")

    def add_worker(self) -> Daemon:
        """Start one more worker."""
        name = f"worker-{self._started}"  # those that died have left their names and logs
        self._started += 1
        flags = ["--webui-port", "0", "-c", "2", "-m", "1500m", "-d", str(self.folder / name), self.url]
        self.workers.append(self._spark_class(name, "worker.Worker", *flags))
        return self.workers[-1]

    def serve(self, **settings: str) -> tuple[Daemon, str]:
        """Start a Connect server that runs its work on the cluster; return it and its address."""
        port = free_port()
        given = {"spark.connect.grpc.binding.address": HOST, "spark.connect.grpc.binding.port": str(port)} | settings
        command = [str(self.home / "bin/spark-submit"), "--class", _SERVER, "--master", self.url]
        for name, value in (driver_settings(self.folder) | given).items():
            command += ["--conf", f"{name}={value}"]
        server = Daemon(self.folder / "connect.log", [*command, "spark-internal"], self._environment())
        server.await_text("Spark Connect server started")
        return server, f"sc://{HOST}:{port}"

    def _spark_class(self, name: str, role: str, *flags: str) -> Daemon:
        command = [str(self.home / "bin/spark-class"), f"org.apache.spark.deploy.{role}", "--host", HOST, *flags]
        light = {
            "SPARK_DAEMON_MEMORY": "256m",
            "SPARK_DAEMON_JAVA_OPTS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        }
        return Daemon(self.folder / f"{name}.log", command, self._environment() | light)

    def _environment(self) -> dict[str, str]:
        return {
            "PYSPARK_PYTHON": str(self.python),
            "SPARK_LOCAL_IP": HOST,
            "SPARK_LOCAL_DIRS": str(self.folder / "local"),
        }

    def logs(self) -> str:
        """Return all that master, workers, executors and server have logged."""
        files = [*self.folder.glob("*.log"), *self.folder.glob("worker-*/app-*/*/std*")]
        return "\n".join(file.read_text(errors="replace") for file in files)

    def stop(self) -> None:
        """Stop everything that was started."""
        for each in (*self.workers, self.master):
            each.kill()


def driver_settings(folder: Path) -> dict[str, str]:
    """Return the settings of a program that uses the cluster: one core of each of two workers, and little patience."""
    java = f"-Djava.io.tmpdir={folder} -Dderby.system.home={folder} -XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
    return {
        "spark.ui.enabled": "false",
        "spark.driver.host": HOST,
        "spark.driver.bindAddress": HOST,
        "spark.driver.memory": "768m",
        "spark.driver.extraJavaOptions": java,
        "spark.executor.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        "spark.executor.memory": "512m",
        "spark.executor.cores": "1",
        "spark.cores.max": "2",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.sql.adaptive.enabled": "false",
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.shuffle.partitions": "4",
        "spark.shuffle.readHostLocalDisk": "false",  # as if the workers were on machines of their own
        "spark.shuffle.io.maxRetries": "1",
        "spark.shuffle.io.retryWait": "200ms",
    }


@contextmanager
def standalone(folder: Path, *packages: str, workers: int = 2):
    """Run a cluster while the block lasts."""
    folder.mkdir(parents=True, exist_ok=True)
    cluster = Cluster(folder, *packages)
    try:
        for _ in range(workers):
            cluster.add_worker()
        for each in cluster.workers:
            each.await_text("Successfully registered with master")
        yield cluster
    finally:
        cluster.stop()


@contextmanager
def connected(cluster: Cluster, **settings: str):
    """Open a session of a Connect server on the cluster; the client has no JVM."""
    server, url = cluster.serve(**settings)
    try:
        with connect_session(url) as session:
            yield session
    finally:
        server.kill()
