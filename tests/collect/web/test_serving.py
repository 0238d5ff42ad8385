"""The socket that the server listens on."""

from refusals import refused

from subsetprivacy.collect.web import serving
from subsetprivacy.errors import ArgumentError


def test_a_port_is_taken_once():
    with serving.bind("127.0.0.1", 0) as taken:
        taken.listen()
        with refused(ArgumentError, "port"):
            serving.bind("127.0.0.1", taken.getsockname()[1])
    with refused(ArgumentError, "host"):
        serving.bind("no such host.invalid", 0)
    with serving.bind("localhost", 0) as taken:
        assert taken.getsockname()[1] > 0
