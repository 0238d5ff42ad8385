"""What the API takes and gives, typed: the OpenAPI document is made of this."""

from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from subsetprivacy.collect.service.publishing import MOST_CODES
from subsetprivacy.collect.survey.reading import MOST_BYTES

Format = Literal["toml", "yaml", "json"]


class Sent(BaseModel):
    """What a program sends: nothing but what is asked for."""

    model_config: ClassVar[ConfigDict] = ConfigDict(extra="forbid", strict=True)


class Given(BaseModel):
    """What a program is given."""

    model_config: ClassVar[ConfigDict] = ConfigDict(extra="forbid", from_attributes=True)


class ProblemLine(Given):
    """One thing that is wrong with what was sent."""

    line: int | None = Field(description="The line of the file, from 1, where there is one.")
    place: str = Field(description="The place in words.")
    message: str = Field(description="What must be, what was found, what to do.")


class Error(Given):
    """A refusal."""

    status: int = Field(description="The status of HTTP.")
    message: str = Field(description="Why, as a sentence.")
    problems: list[ProblemLine] = Field(default=[], description="Each thing that is wrong with what was sent.")


class SurveyItem(Given):
    """A published survey. Of the answers it tells what is released, and nothing that changes in between."""

    id: str = Field(description="The name in its link.")
    draft: str = Field(description="The draft it was published from.")
    version: int = Field(description="From 1, for each publication of the draft.")
    title: str
    study: str
    mode: Literal["code", "open"]
    batch: int = Field(description="Results change when so many further people have answered.")
    is_open: bool
    opened_day: str
    closed_day: str | None
    n: int = Field(description="How many people's answers are released.")
    releases: int
    link: str = Field(description="The link of the respondents' page; in code mode each person's has a code after #.")


class SurveyList(Given):
    """All published surveys."""

    surveys: list[SurveyItem]


class ReleaseItem(Given):
    """One release, with its seal."""

    no: int
    n: int = Field(description="People in this release.")
    locked: int = Field(description="Codes that were opened and not answered then.")
    day: str
    tally_sha256: str
    chain_sha256: str = Field(description="The seal: a hash of this release and of the seal before.")


class ReleaseList(Given):
    """All releases of a survey, the oldest first."""

    releases: list[ReleaseItem]
    key: str | None = Field(description="The key of the coin flip, once it is published.")


class DraftItem(Given):
    """A draft in a list."""

    id: str
    title: str
    format: Format


class DraftList(Given):
    """All drafts."""

    drafts: list[DraftItem]


class DraftText(DraftItem):
    """A draft with its text and whatever is wrong with it."""

    text: str
    problems: list[ProblemLine]


class NewDraft(Sent):
    """A survey as a file."""

    format: Format
    text: Annotated[str, Field(max_length=MOST_BYTES, description="The file, up to 256 kB.")]


def _whole(given: Any) -> Any:
    """Take 3.0 for 3, as JSON does: it has one kind of number."""
    return int(given) if isinstance(given, float) and given.is_integer() else given


class NewCodes(Sent):
    """How many codes to make."""

    n: Annotated[int, Field(ge=1, le=MOST_CODES), BeforeValidator(_whole)]


class Codes(Given):
    """One-time codes: given this once."""

    codes: list[str]
    links: list[str] = Field(description="The links, relative where the server does not know its address.")


class Closing(Sent):
    """How to close a survey."""

    last_wave: bool = Field(
        default=True, description="Whether no further survey of the study will come; then its key is published."
    )
