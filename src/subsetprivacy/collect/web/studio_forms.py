"""Read the data of a form, without trusting them."""

import re
from collections.abc import Mapping
from urllib.parse import parse_qsl

from attrs import frozen
from fastapi import Request

from subsetprivacy.collect.web.refusals import RefusalError

_MOST_FIELDS = 64
_MOST_HEAD = 1024
_BOUNDARY = re.compile(r"""boundary="?([A-Za-z0-9'()+_,./:=?-]{1,70})"?""")
_DISPOSITION = re.compile(
    r'content-disposition: form-data; name="(?P<name>[^"\r\n]{1,64})"(?:; filename="(?P<file>[^"\r\n]{0,255})")?',
    re.IGNORECASE,
)


@frozen
class Form:
    """The fields of a form, and the name and content of an uploaded file."""

    fields: Mapping[str, str]
    files: Mapping[str, tuple[str, bytes]]

    def text(self, name: str) -> str:
        """Return a field with line endings as in a file, or ""."""
        return self.fields.get(name, "").replace("\r\n", "\n").replace("\r", "\n")

    def number(self, name: str, least: int, most: int) -> int | None:
        """Return a whole number within bounds, or None."""
        text = self.fields.get(name, "").strip()
        if not (text.isascii() and text.isdigit() and len(text) < 10):
            return None
        return int(text) if least <= int(text) <= most else None

    def is_on(self, name: str) -> bool:
        """Tell whether a box is ticked."""
        return self.fields.get(name) == "on"


async def read_form(request: Request) -> Form:
    """Return the data of a form."""
    body = await request.body()
    kind = request.headers.get("content-type", "")
    if kind.partition(";")[0].strip().lower() == "multipart/form-data":
        return _read_parts(kind, body)
    if kind.partition(";")[0].strip().lower() != "application/x-www-form-urlencoded":
        raise RefusalError(415)
    try:
        pairs = parse_qsl(body.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=_MOST_FIELDS)
    except ValueError:
        raise RefusalError(400) from None
    return Form(dict(pairs), {})


def _read_parts(kind: str, body: bytes) -> Form:
    """Read a form with a file in one pass, whatever is sent."""
    boundary = _BOUNDARY.search(kind)
    if boundary is None:
        raise RefusalError(400)
    pieces = (b"\r\n" + body).split(b"\r\n--" + boundary[1].encode("ascii"), _MOST_FIELDS + 2)
    if pieces[0] or not pieces[-1].startswith(b"--"):
        raise RefusalError(400)
    fields: dict[str, str] = {}
    files: dict[str, tuple[str, bytes]] = {}
    for part in pieces[1:-1]:
        head, _, content = part.partition(b"\r\n\r\n")
        disposition = _DISPOSITION.search(head.decode("utf-8", "replace")[:_MOST_HEAD])
        if disposition is None:
            raise RefusalError(400)
        if disposition["file"] is not None:
            files[disposition["name"]] = (disposition["file"], content)
            continue
        try:
            fields[disposition["name"]] = content.decode("utf-8")
        except UnicodeDecodeError:
            raise RefusalError(400) from None
    return Form(fields, files)
