"""Three or more columns together: which are linked directly, in words and as a table."""

from collections.abc import Iterable, Mapping

from subsetprivacy.finding.tables import DirectLink, TableFindings
from subsetprivacy.presenting.html import Html, bullets, el, lines, table
from subsetprivacy.presenting.words import Words


def links_section(words: Words, joint: TableFindings, titles: Mapping[str, str]) -> Html:
    """Return the section about several columns together, without a heading."""
    sentences = links_sentences(words, joint, titles)
    if not joint.links:
        problem = Html() if joint.problem is None else words.note(joint.problem)
        return el("p", *sentences, " ", problem)
    lead, *others = sentences
    parts = [el("p", lead, class_="lead"), *(el("p", text) for text in others), _table(words, joint, titles)]
    return lines([*parts, bullets([words.note(note) for note in joint.notes], class_="notes")])


def links_sentences(words: Words, joint: TableFindings, titles: Mapping[str, str]) -> list[str]:
    """Return one sentence each about the links, the pairs without a link, and whether pairs suffice."""
    if not joint.links:
        return [words("links.unknown", names=words.listed(_named(joint.names, titles)))]
    linked = [link for link in joint.links if link.test.rejects]
    others = [link for link in joint.links if not link.test.rejects]
    sentences = [words("links.found", pairs=_pairs(words, linked, titles)) if linked else words("links.not_found")]
    if linked and others:
        sentences.append(words("links.others", pairs=_pairs(words, others, titles)))
    if joint.pairs_suffice is not None:
        key = "links.more" if joint.pairs_suffice.rejects else "links.suffice"
        sentences.append(words(key, p=words.pvalue(joint.pairs_suffice.pvalue)))
    return sentences


def _named(names: Iterable[str], titles: Mapping[str, str]) -> list[str]:
    return [titles.get(name, name) for name in names]


def _pair(link: DirectLink, titles: Mapping[str, str]) -> str:
    return " – ".join(_named(link.names, titles))


def _pairs(words: Words, links: list[DirectLink], titles: Mapping[str, str]) -> str:
    return words.listed([_pair(link, titles) for link in links], len(links))


def _table(words: Words, joint: TableFindings, titles: Mapping[str, str]) -> Html:
    rows = [
        (
            _pair(link, titles),
            words.bare_pvalue(link.test.pvalue),
            words("links.yes" if link.test.rejects else "links.no"),
        )
        for link in joint.links
    ]
    caption = words(
        "links.caption",
        names=words.listed(_named(joint.names, titles)),
        n=words.whole(joint.n),
        level=words.small(joint.alpha or 0.0),
    )
    head = (words("links.pair"), words("links.pvalue"), words("links.direct"))
    return table(caption, head, rows, words=(0, 2))
