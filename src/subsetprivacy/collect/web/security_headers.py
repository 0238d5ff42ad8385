"""The headers of every kind of route, in full."""

from functools import cache

_POWERS = (
    "accelerometer", "autoplay", "browsing-topics",
    "camera", "compute-pressure", "display-capture", "encrypted-media", "fullscreen", "gamepad", "geolocation",
    "gyroscope", "hid", "identity-credentials-get", "idle-detection", "keyboard-map", "local-fonts", "magnetometer",
    "microphone", "midi", "otp-credentials", "payment", "picture-in-picture", "publickey-credentials-create",
    "publickey-credentials-get", "screen-wake-lock", "serial", "storage-access", "usb", "window-management",
    "xr-spatial-tracking",
)  # fmt: skip

_COMMON = {
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Robots-Tag": "noindex, nofollow",
}
# These restrict what a page may do. Browsers ignore them for anything else.
_OF_PAGES = {
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Embedder-Policy": "require-corp",
    "Permissions-Policy": ", ".join(f"{power}=()" for power in _POWERS),
}
_NEVER_KEPT = {"Cache-Control": "no-store"}
_NEVER_FRAMED = {"X-Frame-Options": "DENY"}
_PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; form-action 'self'; "
    "frame-ancestors 'none'; base-uri 'none'; require-trusted-types-for 'script'"
)
_STUDIO_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; "
    "frame-ancestors 'none'; frame-src 'self'; base-uri 'none'"
)
_NO_PAGE = {
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'; form-action 'none'; base-uri 'none'"
}

KINDS: dict[str, dict[str, str]] = {
    # The respondents' page.
    "page": {"Content-Security-Policy": _PAGE_POLICY} | _OF_PAGES | _NEVER_FRAMED | _NEVER_KEPT,
    # The same page before it is published, shown next to the editor.
    "preview": {
        "Content-Security-Policy": _PAGE_POLICY.replace("frame-ancestors 'none'", "frame-ancestors 'self'"),
        "X-Frame-Options": "SAMEORIGIN",
    }
    | _OF_PAGES
    | _NEVER_KEPT,
    # What a respondent's page loads and sends.
    "data": _NO_PAGE | _NEVER_FRAMED | _NEVER_KEPT,
    # Scripts and styles, the same for everyone. Their address changes with their content.
    "static": _NO_PAGE | _NEVER_FRAMED | {"Cache-Control": "public, max-age=31536000, immutable"},
    # The researchers' pages, and any other page.
    "studio": {"Content-Security-Policy": _STUDIO_POLICY} | _OF_PAGES | _NEVER_FRAMED | _NEVER_KEPT,
    # For programs.
    "api": _NO_PAGE | _NEVER_FRAMED | _NEVER_KEPT,
    # Files to save.
    "export": _NO_PAGE | _NEVER_FRAMED | _NEVER_KEPT,
}
_SECURE = {"Strict-Transport-Security": "max-age=63072000"}


def kind_of(path: str) -> str:
    """Return the kind of a route by its path. Other paths have a kind too."""
    first, *rest = path.split("/")[1:] or [""]
    if first == "s":
        return "page" if len(rest) == 1 or rest[1:] == [""] else "data"
    if first == "static":
        return "static"
    if first == "api":
        return "api"
    if first == "studio" and rest[2:3] == ["preview"]:
        return "preview" if len(rest) == 4 else "data" if len(rest) > 4 else "studio"
    if first == "studio" and rest[2:3] == ["export"]:
        return "export"
    return "studio"


@cache
def headers_of(kind: str, *, secure: bool = False) -> tuple[tuple[bytes, bytes], ...]:
    """Return the headers of a kind of route.

    Parameters
    ----------
    kind
        One of `KINDS`.
    secure
        Whether people reach the server by https. Then browsers are told to use nothing else.
    """
    headers = {**KINDS[kind], **_COMMON, **(_SECURE if secure else {})}
    return tuple((name.lower().encode(), value.encode()) for name, value in headers.items())
