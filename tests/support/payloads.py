"""Two hundred texts that run a script, or break out of where they stand, if anything shows them without care.

`PAYLOADS` are for labels, questions and whatever else a researcher writes. Each calls `alert`, `fetch` or leaves the
element it stands in. `placed` puts one in every field of a survey that can be published, `spread` puts all of them
into the fields of one survey.
"""

from collections.abc import Iterator

from subsetprivacy.collect.survey.checking import LENGTHS as OF_A_SURVEY
from subsetprivacy.collect.survey.variable_checks import LENGTHS as OF_A_QUESTION

_ELEMENTS = (
    "<script>alert({k})</script>",
    "<ScRiPt >alert({k})</ScRiPt >",
    "<script/x>alert({k})</script>",
    "<script src=//x.example/{k}.js></script>",
    "<img src=x onerror=alert({k})>",
    "<img/src=`x`/onerror=alert({k})>",
    "<svg onload=alert({k})>",
    "<svg/onload=alert({k})//",
    "<svg><script>alert({k})</script></svg>",
    "<svg><animate onbegin=alert({k}) attributeName=x dur=1s>",
    "<math><mi xlink:href=javascript:alert({k})>x",
    "<body onload=alert({k})>",
    "<iframe srcdoc='<script>alert({k})</script>'></iframe>",
    "<iframe src=javascript:alert({k})></iframe>",
    "<object data=javascript:alert({k})></object>",
    "<embed src=javascript:alert({k})>",
    "<a href=javascript:alert({k})>x</a>",
    "<a href=' javascript:alert({k})'>x</a>",
    "<a href=jav&#x09;ascript:alert({k})>x</a>",
    "<form action=javascript:alert({k})><button>x",
    "<button formaction=javascript:alert({k})>x",
    "<input autofocus onfocus=alert({k})>",
    "<details open ontoggle=alert({k})>",
    "<video><source onerror=alert({k})></video>",
    "<audio src=x onerror=alert({k})>",
    "<marquee onstart=alert({k})>x</marquee>",
    "<meta http-equiv=refresh content=0;url=//x.example>",
    "<base href=//x.example/>",
    "<link rel=stylesheet href=//x.example/{k}.css>",
    "<style>*{{background:url(//x.example/{k})}}</style>",
    "<template><script>alert({k})</script></template>",
    "<noscript><p title='</noscript><img src=x onerror=alert({k})>'>",
    "<!--><script>alert({k})</script>-->",
    "<![CDATA[<script>alert({k})</script>]]>",
    "<?xml version='1.0'?><script>alert({k})</script>",
)
_ESCAPES = (
    '"><script>alert({k})</script>',
    "'><script>alert({k})</script>",
    '" onmouseover="alert({k})',
    "' onmouseover='alert({k})",
    '" autofocus onfocus=alert({k}) x="',
    '"/><svg onload=alert({k})>',
    "</title><script>alert({k})</script>",
    "</textarea><script>alert({k})</script>",
    "</style><script>alert({k})</script>",
    "</script><script>alert({k})</script>",
    "</option></select><img src=x onerror=alert({k})>",
    "</text></svg><img src=x onerror=alert({k})>",
    "</desc><script>alert({k})</script>",
    "</caption></table><script>alert({k})</script>",
    "</button></form><form action=//x.example>",
    "-->\"'><svg onload=alert({k})>",
    "]]><script>alert({k})</script>",
    "&lt;script&gt;alert({k})&lt;/script&gt;",
    "&#60;script&#62;alert({k})&#60;/script&#62;",
    "&quot;&gt;&lt;svg onload=alert({k})&gt;",
    "\\u003cscript\\u003ealert({k})\\u003c/script\\u003e",
    "\\x3cscript\\x3ealert({k})\\x3c/script\\x3e",
    "%3Cscript%3Ealert({k})%3C/script%3E",
    "＜script＞alert({k})＜/script＞",
    "\u00ab<scr\u00edpt>alert({k})\u00bb",
)
_CODE = (
    "javascript:alert({k})",
    "data:text/html,<script>alert({k})</script>",
    "{{{{ 7*{k} }}}}",
    "{{% for x in ().__class__.__base__.__subclasses__() %}}{{{{x}}}}{{% endfor %}}",
    "{{{{ config }}}} {{{{ self }}}} {k}",
    "${{alert({k})}}",
    "#{{7*{k}}}",
    "<%= 7*{k} %>",
    "`${{alert({k})}}`",
    "'-alert({k})-'",
    '"-alert({k})-"',
    "';alert({k})//",
    '";alert({k})//',
    "\\';alert({k})//",
    "*/alert({k})/*",
    "__proto__ {k}",
    "constructor[{k}]",
    "toString {k}",
    '=HYPERLINK("//x.example",{k})',
    "+cmd|' /C calc'!A{k}",
    "-2+3+cmd|' /C calc'!A{k}",
    "@SUM({k}+1)*cmd|' /C calc'!A0",
    "'; DROP TABLE survey; -- {k}",
    "../../etc/passwd {k}",
    "CRLF%0d%0aSet-Cookie: x={k}",
)


def _all() -> Iterator[str]:
    k = 0
    for kinds in (_ELEMENTS, _ESCAPES, _CODE):
        for text in kinds:
            k += 1
            yield text.format(k=k)
    for text in (*_ELEMENTS, *_ESCAPES, *_CODE):  # inside other text, in capitals, twice
        k += 1
        done = text.format(k=k)
        yield (f"x {done} y", done.upper(), f"{done} {done}"[:150])[k % 3]
    for text in (*_ELEMENTS, *_ESCAPES):
        k += 1
        yield f"a\"b'c&{text.format(k=k)}"


PAYLOADS = tuple(dict.fromkeys(_all()))[:200]
VARIABLES, OPTIONS = 6, 6
_FIELDS = [*OF_A_SURVEY, *[*("label", "question", "help"), *["option"] * OPTIONS] * VARIABLES]  # in their order
_MOST = OF_A_SURVEY | OF_A_QUESTION
SLOTS = len(_FIELDS)


def placed(first: int) -> list[str]:
    """Return a payload for every place of a survey, a number before each so that all differ; cut to what fits there."""
    texts = [f"{slot} {PAYLOADS[(first + slot) % len(PAYLOADS)]}" for slot in range(SLOTS)]
    return [text[: _MOST[field]].rstrip() for text, field in zip(texts, _FIELDS, strict=True)]


def spread() -> list[str]:
    """Return a text for every place of a survey, which together hold every payload."""
    texts = [str(slot) for slot in range(SLOTS)]
    slot = 0
    for payload in PAYLOADS:
        while len(f"{texts[slot]} {payload}") > _MOST[_FIELDS[slot]]:
            slot = (slot + 1) % SLOTS
        texts[slot] += f" {payload}"
        slot = (slot + 1) % SLOTS
    return texts


def harmless(texts: list[str]) -> list[str]:
    """Return texts as long as these, with their blanks, in which nothing means anything."""
    return ["".join(sign if sign.isspace() or sign.isdigit() else "x" for sign in text) for text in texts]


def survey_document(texts: list[str], *, mode: str = "open") -> dict:
    """Return a survey with a text in every place."""
    left = iter(texts)
    document = {name: next(left) for name in ("title", "introduction", "thanks", "contact")}
    variables = []
    for k in range(VARIABLES):
        variable = {"id": f"v{k}", **{name: next(left) for name in ("label", "question", "help")}}
        variables.append({**variable, "options": [next(left) for _ in range(OPTIONS)]})
    links = [{"variables": ["v0", "v1"]}]
    return {**document, "study": "payloads", "mode": mode, "batch": 10, "variables": variables, "links": links}
