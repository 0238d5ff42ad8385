"""What a form sends, read without trust."""

from collections.abc import Mapping
from email.parser import BytesParser
from email.policy import HTTP
from urllib.parse import parse_qsl

from attrs import frozen
from fastapi import Request

from subsetprivacy.collect.web.refusals import Refused

_MOST_FIELDS = 64


@frozen
class Form:
    """The fields of a form; of a file that was chosen, its name and content."""

    fields: Mapping[str, str]
    files: Mapping[str, tuple[str, bytes]]

    def text(self, name: str) -> str:
        """Return a field, lines ended as in a file; "" where it was left out."""
        return self.fields.get(name, "").replace("\r\n", "\n").replace("\r", "\n")

    def number(self, name: str, least: int, most: int) -> int | None:
        """Return a whole number within bounds, or None."""
        text = self.fields.get(name, "").strip()
        if not (text.isascii() and text.isdigit() and len(text) < 10):
            return None
        return int(text) if least <= int(text) <= most else None

    def is_on(self, name: str) -> bool:
        """Tell whether a box was ticked."""
        return self.fields.get(name) == "on"


async def read_form(request: Request) -> Form:
    """Return what a form sent."""
    body = await request.body()
    kind = request.headers.get("content-type", "")
    if kind.partition(";")[0].strip().lower() == "multipart/form-data":
        return _read_parts(kind, body)
    if kind.partition(";")[0].strip().lower() != "application/x-www-form-urlencoded":
        raise Refused(415)
    try:
        pairs = parse_qsl(body.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=_MOST_FIELDS)
    except ValueError:
        raise Refused(400) from None
    return Form(dict(pairs), {})


def _read_parts(kind: str, body: bytes) -> Form:
    """Read a form with a file."""
    if "\r" in kind or "\n" in kind:
        raise Refused(400)
    whole = BytesParser(policy=HTTP).parsebytes(b"Content-Type: " + kind.encode("latin-1") + b"\r\n\r\n" + body)
    fields: dict[str, str] = {}
    files: dict[str, tuple[str, bytes]] = {}
    for part in whole.iter_parts() if whole.is_multipart() else ():
        name = part.get_param("name", header="content-disposition")
        content = part.get_payload(decode=True)
        if not isinstance(name, str) or not isinstance(content, bytes) or len(fields) + len(files) >= _MOST_FIELDS:
            raise Refused(400)
        if (file := part.get_filename()) is not None:
            files[name] = (file, content)
            continue
        try:
            fields[name] = content.decode("utf-8")
        except UnicodeDecodeError:
            raise Refused(400) from None
    return Form(fields, files)
