"""Put the help of every command on the command-line page, as the command prints it."""

from collections.abc import Iterator

import click
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from subsetprivacy.cli.main import main

WIDTH = 88


def commands(
    command: click.Command, path: tuple[str, ...], parent: click.Context | None = None
) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield each command's path and help, a group before its members."""
    width = {"terminal_width": WIDTH, "max_content_width": WIDTH}
    context = command.make_context(path[-1], [], parent=parent, resilient_parsing=True, **width)
    yield path, command.get_help(context)
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            member = command.get_command(context, name)
            if member is not None and not member.hidden:
                yield from commands(member, (*path, name), context)


class HelpTexts(SphinxDirective):
    """A section per command."""

    def run(self) -> list[nodes.Node]:
        """Return the sections, the members of a group below it."""
        top: list[nodes.Node] = []
        sections: dict[tuple[str, ...], nodes.section] = {}
        for path, text in commands(main, ("subsetprivacy",)):
            title = " ".join(path)
            section = nodes.section("", nodes.title(title, "", nodes.literal(title, title)), names=[title.lower()])
            section += nodes.literal_block(text, text, language="text")
            self.state.document.note_implicit_target(section, section)
            sections[path] = section
            if len(path) > 2:
                sections[path[:-1]] += section
            else:
                top.append(section)
        return top


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directive ``help-texts``."""
    app.add_directive("help-texts", HelpTexts)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
