"""Write readable YAML."""

from typing import Any

import yaml

from subsetprivacy.collect.survey.yaml_reader import plain_scalar

_WIDTH = 100


class _Dumper(yaml.SafeDumper):
    """Write no aliases, texts of several lines as blocks, and ambiguous words in quotes."""

    def ignore_aliases(self, data: Any) -> bool:
        return True

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, False)  # indent the items of a list more than its key


def _represent_text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = "|" if "\n" in text else None if plain_scalar(text) == text else '"'
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


def _represent_list(dumper: yaml.SafeDumper, items: list[Any]) -> yaml.SequenceNode:
    # Shares and nested lists are easier to read on one line.
    beside = all(isinstance(item, (int, float, list)) for item in items)
    return dumper.represent_sequence("tag:yaml.org,2002:seq", items, flow_style=beside)


_Dumper.add_representer(str, _represent_text)
_Dumper.add_representer(list, _represent_list)


def yaml_text(document: dict[str, Any]) -> str:
    """Return the document of a survey as YAML."""
    return yaml.dump(document, Dumper=_Dumper, allow_unicode=True, sort_keys=False, width=_WIDTH)
