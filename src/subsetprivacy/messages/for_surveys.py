"""Advice of `collect`: what to change in a survey file, in the studio's form, or in the service.

Advice about a file reads the same in Python and in the shell. On a page it uses the words of the form: questions and
answers instead of variables and options.
"""

from subsetprivacy.messages.advice import advise
from subsetprivacy.messages.installing import UPGRADE_SERVER

# Words and keys
MEANT = advise("meant", "{word}?")
KEYS_ARE = advise("keys_are", "the keys are {keys}")
PUT_IN_QUOTES = advise("put_in_quotes", "put it in quotes")
QUOTE_KEY = advise("quote_key", "put the key in quotes")
WRITE_OUT = advise("write_out", "write it out")
LEAVE_OUT_OR_QUOTE = advise("leave_out_or_quote", "leave it out, or put text in quotes")
CLOSE_QUOTES = advise("close_quotes", '"text" has a quote at both ends')
STRAIGHT_QUOTES = advise("straight_quotes", 'text is in straight quotes, "like this"; true and false are not')
ESCAPE_QUOTES = advise("escape_quotes", 'a quote inside text is written \\"')
KEY_ONCE = advise("key_once", "write each key once")
SAVE_IN_UTF8 = advise("save_in_utf8", "save it again in the encoding UTF-8")

# Characters
TYPE_AGAIN = advise("type_again", "type the text again")
NO_TURNING = advise("no_turning", "leave it out; the letters already show right-to-left text as such")
NO_PRIVATE_USE = advise("no_private_use", "leave it out; devices show it differently or not at all")
NO_UNKNOWN_LETTER = advise(
    "no_unknown_letter", "leave it out; if it is a newer emoji or letter, a newer Python knows it"
)

# Designs
RECOMMENDED_FITS = advise(
    "recommended_fits",
    '"recommended" fits any number of options',
    page="“Recommended” fits any number of answers",
)
WRITE_TABLE = advise("write_table", "write a table, {table}")
TAKE_RECOMMENDED = advise(
    "take_recommended", 'design = "recommended"', page="choose “Recommended” under “How it is asked”"
)
MORE_QUESTIONS = advise(
    "more_questions",
    'ask more questions, or take design = "recommended"',
    page="ask more questions, or choose “Recommended” under “How it is asked”",
)
ASKABLE_KINDS = advise(
    "askable_kinds",
    'design = "recommended", or a table with the kind uniform, hadamard, partition, independent, fixed_size or warner',
    page="choose “Recommended” under “How it is asked”",
)
HIDING_Q = advise("hiding_q", "q = 0.25")
UNLISTED_KINDS = advise("unlisted_kinds", "the kinds uniform, hadamard and partition need no list")
FEWER_QUESTIONS = advise("fewer_questions", "designs with fewer questions")

# Forbidden sets
FIVE_OPTIONS = advise("five_options", "make it five options or more", page="make it five answers or more")
FIVE_OPTIONS_OR_DEVICE = advise(
    "five_options_or_device",
    "make it five options or more, or have people mark answers on the device, design = {design}",
    page="make it five answers or more, or have people mark answers on the device (“How it is asked”: “On the device”, "
    "{size} sent together)",
)
ADD_OPTIONS_OR_DEVICE = advise(
    "add_options_or_device",
    "forbid fewer or smaller sets, or add options, or have people mark answers on the device, design = {design}",
    page="forbid fewer or smaller sets, or add answers, or have people mark answers on the device (“How it is asked”: "
    "“On the device”, {size} sent together)",
)
RECOMMENDED_OR_DEVICE = advise(
    "recommended_or_device",
    'forbid fewer or smaller sets, or take design = "recommended", or have people mark answers on the device, design = '
    "{design}",
    page="forbid fewer or smaller sets, or choose “Recommended” under “How it is asked”, or have people mark answers "
    "on the device (“How it is asked”: “On the device”, {size} sent together)",
)
FORBID_FEWER_OR_DEVICE = advise(
    "forbid_fewer_or_device",
    "forbid fewer sets, or have people mark answers on the device, design = {design}",
    page="forbid fewer sets, or have people mark answers on the device (“How it is asked”: “On the device”, {size} "
    "sent together)",
)
FEWER_OPTIONS_OR_DEVICE = advise(
    "fewer_options_or_device",
    "take fewer options, or have people mark answers on the device, design = {design}",
    page="take fewer answers, or have people mark answers on the device (“How it is asked”: “On the device”, {size} "
    "sent together)",
)

# Drafts and surveys
READ_AGAIN = advise("read_again", "read it again")
LOOK_AT_VERSIONS = advise("look_at_versions", "look at its versions again")
LOOK_AGAIN = advise("look_again", "look at it again")
OTHER_STUDY = advise("other_study", "give the survey another study")
CLOSE_SURVEYS = advise("close_surveys", "close those that are open")
ASK_ALIKE = advise(
    "ask_alike",
    "take those (forbidden sets are part of the design), give the variable another id if it is another "
    "question, or the survey another study if it is put to other people",
    page="take those (forbidden sets are part of how it is asked), give the question another name if it is "
    "another question, or the survey another study if it is put to other people",
)

# The database and the server
UPGRADE = advise("upgrade", UPGRADE_SERVER)
NAME_DATABASE = advise("name_database", "--db survey.db, or --db postgresql://user@host/name")
NAME_FILE = advise("name_file", "--db survey.db")
OWN_DATABASE = advise("own_database", "name a database that nothing else uses, such as --db survey.db")
MAKE_FOLDER = advise("make_folder", "make it first")
NAME_ANOTHER = advise("name_another", "name another")
LOOK_AT_FOLDER = advise("look_at_folder", "check its name and permissions")
LOOK_AT_FILE = advise(
    "look_at_file", "check the name of the file, its permissions, and whether another program uses it"
)
LOOK_AT_SERVER = advise(
    "look_at_server", "check that the server runs, and the host, user, password and name of the database"
)
STOP_OTHER_SERVER = advise("stop_other_server", "stop that one, or name another file with --db")
LOCAL_HOST = advise("local_host", "--host 127.0.0.1")
OTHER_PORT = advise("other_port", "--port {next}, or --port 0 for any")
HIGH_PORT = advise("high_port", "--port 8000, behind a proxy")
START_SERVICE = advise("start_service", shell="subsetprivacy serve creates one")
HTTPS_PROXY = advise(
    "https_proxy", shell="put a proxy with https in front of it and use --base-url https://…; listen on 127.0.0.1"
)
