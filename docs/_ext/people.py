"""A picture of people, each with a value, the question they were asked and the subset that is stored.

The directive's lines are ``value: set that was asked about``, its argument the list of categories::

    ```{people} black, red, green, blue
    red: red, blue
    ```

The answer and the stored subset follow from the two. Each color is drawn as a ball and written as a word, so the
picture needs neither colors nor sight.
"""

from html import escape

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

PERSON = (
    '<svg class="person" viewBox="0 0 64 44" aria-hidden="true" focusable="false">'
    '<circle class="body" cx="18" cy="17" r="8"/><path class="body" d="M3 44c0-11 6-17 15-17s15 6 15 17z"/>'
    '<circle class="bubble" cx="48" cy="14" r="13"/><circle class="bubble" cx="33" cy="25" r="2.4"/>'
    '<circle class="bubble" cx="29" cy="29" r="1.5"/><circle class="ball {0}" cx="48" cy="14" r="7"/></svg>'
)
BALL = (
    '<svg viewBox="0 0 20 20" aria-hidden="true" focusable="false">'
    '<circle class="ball {0}" cx="10" cy="10" r="8"/></svg>'
)


def stored(value: str, asked: list[str], categories: list[str]) -> tuple[str, list[str]]:
    """Return the answer of a person, and the subset that is stored."""
    if value in asked:
        return "yes", asked
    return "no", [category for category in categories if category not in asked]


def card(value: str, asked: list[str], categories: list[str]) -> str:
    """Return one person as HTML."""
    answer, kept = stored(value, asked, categories)
    return (
        '<li><p class="secret">'
        + PERSON.format(escape(value))
        + f"<span>has <b>{escape(value)}</b></span></p>"
        + f'<p class="asked">“Is it {" or ".join(map(escape, asked))}?” <b>{answer.capitalize()}.</b></p>'
        + f'<p class="kept"><span class="what">stored</span> {"".join(map(_named_ball, kept))}</p></li>'
    )


def _named_ball(category: str) -> str:
    return f'<span class="member">{BALL.format(escape(category))}{escape(category)}</span> '


class People(SphinxDirective):
    """Draw a card for each person."""

    has_content = True
    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        """Return the cards as a list."""
        categories = self.arguments[0].replace(",", " ").split()
        cards = []
        for line in self.content:
            value, _, asked = line.partition(":")
            cards.append(card(value.strip(), asked.replace(",", " ").split(), categories))
        return [nodes.raw("", f'<ul class="people">{"".join(cards)}</ul>', format="html")]


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive("people", People)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
