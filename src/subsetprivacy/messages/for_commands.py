"""Advice that only commands give."""

from subsetprivacy.messages.advice import advise

_COLUMN, _ARGUMENT = "--column NAME=DESIGN gives a column its design", "NAME=DESIGN gives a column its design"
_GROUPS = "if {name} was published as it is, --by {name} makes groups of it; else"

DESIGN_OF_COLUMN = advise("design_of_column", shell=(_COLUMN, _ARGUMENT))
GROUPS_OF_COLUMN = advise(
    "groups_of_column", shell=(f"{_GROUPS} {_COLUMN}", f"{_GROUPS} {_ARGUMENT}", _COLUMN, _ARGUMENT)
)
DESIGN_OF_WHICH_COLUMN = advise(
    "design_of_which_column",
    shell="--design COLUMN=FILE says which column a design is of, by default the response; --form says whether cells "
    "are labels or codes",
)
ANOTHER_KEY = advise("another_key", shell="choose another name; a replaced key would be lost")
SAME_SUBSETS = advise("same_subsets", shell="--key-file gives the same subsets again")
START_SERVICE = advise("start_service", shell="subsetprivacy serve makes it")
HTTPS_PROXY = advise(
    "https_proxy", shell="put a proxy with https before it and say --base-url https://…; listen on 127.0.0.1"
)
REFERENCE_FILE = advise(
    "reference_file",
    shell="a CSV file has the columns category and share, a JSON file an object of shares by label; or write "
    "--reference LABEL=0.2,LABEL=0.8",
)
