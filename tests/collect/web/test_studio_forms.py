"""What forms send, honest and not."""

import asyncio

import pytest

from subsetprivacy.collect.web.refusals import RefusalError
from subsetprivacy.collect.web.studio_forms import read_form


class Request:
    """As much of a request as a form needs."""

    def __init__(self, body, kind):
        self.headers = {"content-type": kind}
        self._body = body

    async def body(self):
        return self._body


def read(body, kind="multipart/form-data; boundary=X"):
    return asyncio.run(read_form(Request(body, kind)))


def part(head, content):
    return b"--X\r\nContent-Disposition: form-data; " + head + b"\r\n\r\n" + content + b"\r\n"


def test_fields_and_a_file():
    body = part(b'name="format"', b"toml") + part(b'name="file"; filename="a.toml"', b"x = 1\r\n--Y\r\n") + b"--X--\r\n"
    form = read(body)
    assert form.fields == {"format": "toml"}
    assert form.files == {"file": ("a.toml", b"x = 1\r\n--Y\r\n")}


def test_a_plain_form():
    form = read(b"a=1&b=%C3%BC&c=", "application/x-www-form-urlencoded")
    assert form.fields == {"a": "1", "b": "ü", "c": ""}


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"no boundary at all",
        part(b'name="a"', b"1"),  # without an end
        b"--X\r\n\r\nx\r\n--X--",
        b"--X\r\nContent-Type: text/plain\r\n\r\nx\r\n--X--",
        b"--X\r\nContent-Disposition: form-data\r\n\r\nx\r\n--X--",
        part(b'name="a"', b"\xff") + b"--X--",
        part(b'name="a"', b"1") * 80 + b"--X--",
    ],
)
def test_what_is_no_form_is_refused(body):
    with pytest.raises(RefusalError, match="400"):
        read(body)


@pytest.mark.parametrize(("kind", "status"), [("text/plain", 415), ("", 415), ("multipart/form-data", 400)])
def test_other_kinds_are_refused(kind, status):
    with pytest.raises(RefusalError, match=str(status)):
        read(b"a=1", kind)


@pytest.mark.parametrize(
    "body",
    [
        b"".join(b"--X\r\nContent-Type: multipart/mixed; boundary=%d\r\n\r\n--%d\r\n" % (k, k) for k in range(1000)),
        b"--X\r\n" + b"\r\n" * 30_000,
        b"--X\r\nContent-Disposition: form-data; " + b";".join(b"a*%d*=b" % k for k in range(5000)) + b"\r\n\r\nx",
    ],
    ids=["nested", "blank lines", "continued"],
)
def test_what_readers_of_mail_stumble_over_is_refused(body):
    """Such a reader recurses, or takes seconds over these, while everybody waits."""
    with pytest.raises(RefusalError, match="400"):
        read(body + b"\r\n--X--")
