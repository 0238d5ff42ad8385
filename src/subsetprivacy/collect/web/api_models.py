"""The typed requests and responses of the API, from which the OpenAPI document is made."""

from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from subsetprivacy.collect.service.publishing import MOST_CODES
from subsetprivacy.collect.survey.reading import MOST_BYTES

Format = Literal["toml", "yaml", "json"]
Revision = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]


class RequestModel(BaseModel):
    """A request, without unknown fields."""

    model_config: ClassVar[ConfigDict] = ConfigDict(extra="forbid", strict=True)


class ResponseModel(BaseModel):
    """A response."""

    model_config: ClassVar[ConfigDict] = ConfigDict(extra="forbid", from_attributes=True)


class ProblemLine(ResponseModel):
    """One error in the request."""

    line: int | None = Field(description="The line of the file, from 1, where there is one.")
    place: str = Field(description="The place in words.")
    message: str = Field(description="What is required, what was found, and what to do.")


class Error(ResponseModel):
    """A refusal."""

    status: int = Field(description="The HTTP status.")
    message: str = Field(description="Why, as a sentence.")
    problems: list[ProblemLine] = Field(default=[], description="Each error in the request.")


class SurveyItem(ResponseModel):
    """A published survey. It shows only released data, and nothing that changes between releases."""

    id: str = Field(description="The name in its link.")
    draft: str = Field(description="The draft it was published from.")
    version: int = Field(description="From 1, for each publication of the draft.")
    title: str
    study: str
    mode: Literal["code", "open"]
    batch: int = Field(description="Results change when this many more people have answered.")
    is_open: bool
    opened_day: str
    closed_day: str | None
    n: int = Field(description="How many people's answers are released.")
    releases: int
    link: str = Field(
        description="The link to the respondents' page. In code mode, each person's link has a code after #."
    )


class SurveyList(ResponseModel):
    """All published surveys."""

    surveys: list[SurveyItem]


class ReleaseItem(ResponseModel):
    """One release, with its seal."""

    no: int
    n: int = Field(description="People in this release.")
    locked: int = Field(description="Codes that were opened but not answered at that time.")
    day: str
    tally_sha256: str
    chain_sha256: str = Field(description="The seal: a hash of this release and of the seal before.")


class ReleaseList(ResponseModel):
    """All releases of a survey, oldest first."""

    releases: list[ReleaseItem]
    key: str | None = Field(description="The key of the coin flip, once it is published.")


class DraftItem(ResponseModel):
    """A draft in a list."""

    id: str
    title: str
    format: Format
    revision: str = Field(description="A hash of the text and its format: it changes whenever one of them does.")


class DraftList(ResponseModel):
    """All drafts."""

    drafts: list[DraftItem]


class SentSet(ResponseModel):
    """A set of options that can be sent."""

    options: list[str] = Field(description="The options that stay possible.")
    chance: float = Field(description="The probability that a person whose answer is one of these sends it.")


class SentSets(ResponseModel):
    """The smallest sets that can be sent, those of neighboring options first."""

    size: int = Field(description="How many options each has.")
    number: int = Field(description="How many such sets there are.")
    sets: list[SentSet] = Field(description="The first fifty of them.")
    runs: list[SentSet] = Field(description="Larger sets of neighboring options only, the first fifty.")


class ForbiddingPrice(ResponseModel):
    """What it costs, in people, to forbid sets."""

    people: int = Field(description="How many people must answer so that every share has a margin of 5 points (95%).")
    people_before: int = Field(description="The same if nothing were forbidden.")
    ratio: float = Field(description="The largest variance of a share divided by what it would be.")
    average_ratio: float = Field(description="The same for the mean squared error of all shares.")
    at_guess: bool = Field(description="Whether the shares are those of the guess. Otherwise they are even.")


class DraftVariable(ResponseModel):
    """What the answers to one question of a draft would reveal, in the worst case."""

    id: str
    revealing: SentSets | None = Field(description="Null where no answer rules an option out.")
    never_alone: list[list[str]] = Field(description="The sets that are forbidden.")
    price: ForbiddingPrice | None = Field(description="Null where no set is forbidden.")


class DraftText(DraftItem):
    """A draft with its text, its problems, and what its answers would reveal."""

    text: str
    problems: list[ProblemLine]
    variables: list[DraftVariable] = Field(description="None if there is a problem.")


class NewDraft(RequestModel):
    """A survey as a file."""

    format: Format
    text: Annotated[str, Field(max_length=MOST_BYTES, description="The file, up to 256 kB.")]


_SEEN = "The revision that was read. If the draft has another one by now, it stays as it is (409)."


class ChangedDraft(NewDraft):
    """A survey file that replaces an earlier one."""

    revision: Revision | None = Field(
        default=None, description=f"{_SEEN} Without it, the draft is overwritten in any case."
    )


class Reviewed(RequestModel):
    """The revision to publish."""

    revision: Revision = Field(description=f"{_SEEN} Publishing cannot be undone, so only what was read is published.")


def _whole(given: Any) -> Any:
    """Accept 3.0 as 3, because JSON has one kind of number."""
    return int(given) if isinstance(given, float) and given.is_integer() else given


class NewCodes(RequestModel):
    """How many codes to create."""

    n: Annotated[int, Field(ge=1, le=MOST_CODES), BeforeValidator(_whole)]


class Codes(ResponseModel):
    """One-time codes. They are returned only once."""

    codes: list[str]
    links: list[str] = Field(description="The links, relative where the server does not know its address.")


class Closing(RequestModel):
    """How to close a survey."""

    last_wave: bool = Field(
        default=True, description="Whether the study will have no further survey. Then its key is published."
    )
