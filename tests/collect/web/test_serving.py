"""The socket that the server listens on."""

import pytest

from subsetprivacy.collect.web import serving
from subsetprivacy.errors import ArgumentError


def test_a_port_is_taken_once():
    with serving.bind("127.0.0.1", 0) as taken:
        taken.listen()
        with pytest.raises(ArgumentError, match=r"`port` must be free; .*Hint: --port"):
            serving.bind("127.0.0.1", taken.getsockname()[1])
    with pytest.raises(ArgumentError, match="`host` must be an address"):
        serving.bind("no such host.invalid", 0)
    with serving.bind("localhost", 0) as taken:
        assert taken.getsockname()[1] > 0
