"""A real Spark for tests: a classic session in this process, or a session of a Connect server.

A classic and a Connect session cannot live in one process, and a session that
stays in a worker of pytest-xdist would get in the way of the next test. So
the tests of a file that need Spark run in a process of their own:

    def test_on_spark(tmp_path, need, mode):          # mode: "classic" or "connect"
        need(*SPARK)
        run_under_spark(mode, __file__, tmp_path, "-k", "counts")

which runs pytest once more on that file with SPARK_UNDER_TEST=<mode>; there
`spark_session(folder)` gives the session, and `spark_under_test()` the mode.
"""

import importlib.util
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import warnings
from contextlib import contextmanager, nullcontext
from pathlib import Path

_VARIABLE = "SPARK_UNDER_TEST"
_MODES = ("classic", "connect")
_SERVER = "org.apache.spark.sql.connect.service.SparkConnectServer"
_PLUGIN = "org.apache.spark.sql.connect.SparkConnectPlugin"
_SUPPORT = str(Path(__file__).parent)
_ADDRESS = "SPARK_CONNECT_UNDER_TEST"


def spark_present() -> bool:
    """Tell whether PySpark and a Java that can run it are here."""
    java = shutil.which("java") or os.path.exists(os.path.join(os.environ.get("JAVA_HOME", "/nowhere"), "bin", "java"))
    return bool(java) and importlib.util.find_spec("pyspark") is not None


# What `need` of tests/conftest.py wants to know.
SPARK = ("Spark", spark_present(), 'pip install ".[spark]" and Java 17')


def spark_under_test() -> str | None:
    """Return "classic" or "connect" in a process that `run_under_spark` has started, else None."""
    mode = os.environ.get(_VARIABLE)
    return mode if mode in _MODES else None


def run_under_spark(mode: str, path: str, folder: Path, *options: str, timeout: float = 900) -> None:
    """Run the tests of a file in a process of its own, with Spark in the given mode, and fail if one fails."""
    assert mode in _MODES
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", str(path), *options]
    environment = {**os.environ, _VARIABLE: mode, **_pinned(folder)}
    for name in list(environment):
        if name.startswith("PYTEST_"):  # what the worker of pytest-xdist above says of itself
            del environment[name]
    ran = subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
    )
    try:
        said, _ = ran.communicate(timeout=timeout)
    except BaseException:
        os.killpg(ran.pid, signal.SIGKILL)  # with the Java that it has started
        ran.communicate()
        raise
    assert ran.returncode == 0, f"under Spark, {mode}:\n{said[-8000:]}"


@contextmanager
def spark_session(folder: Path):
    """Give the session of the mode under test.

    The Java of a classic session serves Connect, too: what `run_under_spark` starts meanwhile need not start another.
    """
    if spark_under_test() == "connect":
        running = os.environ.get(_ADDRESS)
        with nullcontext(running) if running else connect_server(folder) as url, connect_session(url) as session:
            yield session
    else:
        port = free_port()
        with classic_session(folder, **{"spark.plugins": _PLUGIN}, **_listening(port)) as session:
            os.environ[_ADDRESS] = _url(port)
            yield session
            del os.environ[_ADDRESS]


@contextmanager
def classic_session(folder: Path, master: str = "local[1]", **settings: str):  # one task at a time: one Python worker
    """Start a classic session and its JVM, and stop both."""
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    os.environ.update(_pinned(folder))
    with _unwarned():
        builder = SparkSession.builder.master(master).appName("subsetprivacy")
        for name, value in {**_settings(folder), **settings}.items():
            builder = builder.config(name, value)
        session = builder.getOrCreate()
        session.sparkContext.setLogLevel("ERROR")
    gateway = SparkContext._gateway
    try:
        yield session
    finally:
        with _unwarned():
            session.stop()
        gateway.shutdown()
        gateway.proc.stdin.close()  # Spark's JVM ends with its input
        end(gateway.proc)
        SparkContext._gateway = SparkContext._jvm = None


@contextmanager
def connect_server(folder: Path, master: str = "local[1]", **settings: str):
    """Start a Connect server on a free port of this machine, give its address, and end it."""
    import pyspark

    home = Path(pyspark.__file__).parent
    port = free_port()
    command = [str(home / "bin" / "spark-submit"), "--class", _SERVER, "--master", master]
    for name, value in {**_settings(folder), **_listening(port), **settings}.items():
        command += ["--conf", f"{name}={value}"]
    environment = {**os.environ, **_pinned(folder), "SPARK_HOME": str(home)}
    environment.pop("SPARK_REMOTE", None)
    with open(folder / "connect-server.log", "w") as log:
        # spark-submit becomes the JVM (exec), so this process id is the server's.
        server = subprocess.Popen(
            [*command, "spark-internal"], cwd=folder, env=environment, stdout=log, stderr=subprocess.STDOUT
        )
    try:
        _wait_for(port, server, folder / "connect-server.log")
        yield _url(port)
    finally:
        end(server)


@contextmanager
def connect_session(url: str):
    """Open a session of a Connect server, and close it."""
    from pyspark.sql import SparkSession

    with _unwarned():
        session = SparkSession.builder.remote(url).getOrCreate()
    try:
        yield session
    finally:
        with _unwarned():
            session.stop()


def end(process: subprocess.Popen, patience: float = 15) -> None:
    """End a process that was started here, by its id."""
    process.terminate()
    try:
        process.wait(patience)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def free_port() -> int:
    """Return a port of this machine that nobody listens on."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        return held.getsockname()[1]


def _listening(port: int) -> dict[str, str]:
    return {"spark.connect.grpc.binding.address": "127.0.0.1", "spark.connect.grpc.binding.port": str(port)}


def _url(port: int) -> str:
    return f"sc://127.0.0.1:{port}"


def _pinned(folder: Path) -> dict[str, str]:
    """Return the environment in which Python workers are this Python, and nothing is written outside the folder."""
    places = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    return {
        "PYTHONPATH": os.pathsep.join(dict.fromkeys([_SUPPORT, *filter(None, places)])),  # for `warm_daemon`
        "PYSPARK_PYTHON": sys.executable,
        "PYSPARK_DRIVER_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_LOCAL_DIRS": str(folder),
    }


def _settings(folder: Path) -> dict[str, str]:
    # A Java of a minute: one quick compiler, and no check of the byte code of thousands of classes of Spark's own.
    quick = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote"
    java = f"-Djava.io.tmpdir={folder} -Dderby.system.home={folder} {quick}"
    return {
        "spark.ui.enabled": "false",
        # Small tables: what is compiled for a query costs more than the query.
        "spark.sql.shuffle.partitions": "2",
        "spark.default.parallelism": "2",
        "spark.sql.adaptive.enabled": "false",
        "spark.sql.codegen.wholeStage": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.memory": "1g",
        "spark.local.dir": str(folder),
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.driver.extraJavaOptions": java,
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        "spark.python.daemon.module": "warm_daemon",
    }


@contextmanager
def _unwarned():
    """Let PySpark's own warnings pass: it says of itself that a new pandas is not fully supported."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _wait_for(port: int, server: subprocess.Popen, log: Path, patience: float = 300) -> None:
    until = time.monotonic() + patience
    while time.monotonic() < until:
        if server.poll() is not None:
            break
        with socket.socket() as knock:
            knock.settimeout(1)
            if knock.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.2)
    raise RuntimeError(f"the Connect server did not start:\n{log.read_text()[-3000:]}")
