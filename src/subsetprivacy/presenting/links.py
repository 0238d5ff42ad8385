"""Three and more columns together: which are linked directly, in words and as a table."""

from collections.abc import Iterable, Mapping

from subsetprivacy.finding.tables import DirectLink, TableFindings
from subsetprivacy.presenting.html import Html, bullets, el, lines, table
from subsetprivacy.presenting.words import Words


def links_section(words: Words, held: TableFindings, titles: Mapping[str, str]) -> Html:
    """Return all that is said of several columns together, without a heading."""
    sentences = links_sentences(words, held, titles)
    if not held.links:
        problem = Html() if held.problem is None else words.note(held.problem)
        return el("p", *sentences, " ", problem)
    lead, *others = sentences
    parts = [el("p", lead, class_="lead"), *(el("p", text) for text in others), _table(words, held, titles)]
    return lines([*parts, bullets([words.note(note) for note in held.notes], class_="notes")])


def links_sentences(words: Words, held: TableFindings, titles: Mapping[str, str]) -> list[str]:
    """Return what was found, a sentence each: the links, the pairs without one, and whether pairs are all there is."""
    if not held.links:
        return [words("links.unknown", names=words.listed(_named(held.names, titles)))]
    found = [link for link in held.links if link.test.rejects]
    others = [link for link in held.links if not link.test.rejects]
    said = [words("links.found", pairs=_pairs(words, found, titles)) if found else words("links.not_found")]
    if found and others:
        said.append(words("links.others", pairs=_pairs(words, others, titles)))
    if held.pairs_suffice is not None:
        key = "links.more" if held.pairs_suffice.rejects else "links.suffice"
        said.append(words(key, p=words.pvalue(held.pairs_suffice.pvalue)))
    return said


def _named(names: Iterable[str], titles: Mapping[str, str]) -> list[str]:
    return [titles.get(name, name) for name in names]


def _pair(link: DirectLink, titles: Mapping[str, str]) -> str:
    return " – ".join(_named(link.names, titles))


def _pairs(words: Words, links: list[DirectLink], titles: Mapping[str, str]) -> str:
    return words.listed([_pair(link, titles) for link in links], len(links))


def _table(words: Words, held: TableFindings, titles: Mapping[str, str]) -> Html:
    rows = [
        (
            _pair(link, titles),
            words.bare_pvalue(link.test.pvalue),
            words("links.yes" if link.test.rejects else "links.no"),
        )
        for link in held.links
    ]
    caption = words(
        "links.caption",
        names=words.listed(_named(held.names, titles)),
        n=words.whole(held.n),
        level=words.small(held.level or 0.0),
    )
    head = (words("links.pair"), words("links.pvalue"), words("links.direct"))
    return table(caption, head, rows, words=(0, 2))
