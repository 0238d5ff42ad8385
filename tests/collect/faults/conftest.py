"""Loaded for the tests of faults: real servers, which can be killed."""

from faults import serve, servers  # noqa: F401  fixtures
