"""Count the comments of a survey file, which are lost when a program rewrites the file."""

import re

from subsetprivacy.collect.survey.toml_reader import STRINGS

_TOML = re.compile("|".join(f"(?:{string.pattern})" for string in STRINGS) + r"|(?P<comment>#[^\n]*)", re.DOTALL)
_YAML = re.compile(r"(?:^|(?<=[ \t\n]))#[^\n]*")


def count_comments(text: str, format: str) -> int:
    r"""Return how many comments a valid survey file has. A line has at most one.

    Examples
    --------
    >>> count_comments('# Who asks\ntitle = "Number #1"  # for now', "toml")
    2
    """
    text = text.replace("\r\n", "\n")
    if format == "toml":
        return sum(match["comment"] is not None for match in _TOML.finditer(text))
    return len(_YAML.findall(_without_scalars(text))) if format == "yaml" else 0


def _without_scalars(text: str) -> str:
    """Return YAML with every text replaced, so that "#" in texts is not counted."""
    import yaml

    parts, at = [], 0
    for token in yaml.scan(text, Loader=yaml.SafeLoader):
        if isinstance(token, yaml.ScalarToken):
            start, end = token.start_mark.index, token.end_mark.index
            if token.style in {"|", ">"}:  # a comment may follow the sign
                start = text.find("\n", start, end) + 1 or end
            parts += [text[at:start], "-" if token.style not in {"|", ">"} else ""]
            at = end
    return "".join([*parts, text[at:]])
