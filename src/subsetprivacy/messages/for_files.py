"""Advice about frames, engines, draw, reproduce and report, and of the paths of this machine."""

from subsetprivacy.messages.advice import advise

# Files that are read
SAVE_AS_UTF8 = advise("save_as_utf8", "save it as CSV UTF-8")
EXPORT_OF_A_SURVEY = advise(
    "export_of_a_survey", "the export of a survey has a file framings.csv, with one line for each way to answer"
)
READ_ONE_OF_ITS_FILES = advise("read_one_of_its_files", "read one of the files in it")
TAKE_A_NEWER_PACKAGE = advise("take_a_newer_package", "a newer version of the package may read it")
GIVE_DESIGNS_OF_COLUMNS = advise(
    "give_designs_of_columns",
    python="pass designs={{'column': design}}, or keep {document} next to it, or write it as Parquet with the key "
    "{key}, as write_release does",
    shell=(
        "use --column NAME=DESIGN, or keep {document} next to it",
        "use --design DOCUMENT, or keep {document} next to it",
    ),
    page="keep {document} next to it",
    keyword_of="read_release",
)
SAY_THE_FORM = advise(
    "say_the_form",
    python="form='labels' or form='codes'",
    shell="--form labels or --form codes",
    keyword_of="read_release",
)
READ_CODES = advise(
    "read_codes", python="form='codes' reads codes", shell="--form codes reads codes", keyword_of="read_release"
)
COPY_TO_THIS_MACHINE = advise(
    "copy_to_this_machine",
    python="copy the file to this machine, or pass a table of Spark or Dask, which read and write such addresses",
    shell="copy the file to this machine",
    page="copy the file to this machine",
)
WRITE_THREE_SLASHES = advise("write_three_slashes", "file:///data/people.csv")

# Columns by their names
TAKE_A_SIMILAR_COLUMN = advise("take_a_similar_column", "did you mean {names}?")
TAKE_ONE_OF_ITS_COLUMNS = advise("take_one_of_its_columns", "it has {names}")
LOOK_FOR_A_HEADER = advise("look_for_a_header", "check the spelling, and whether the data have a header")

# Files that are written
REPLACE_OUTPUT = advise(
    "replace_output",
    python="overwrite=True replaces it",
    shell="--force replaces it",
    keyword_of=("privatize_table", "write_release", "write_counts", "write_report"),
)
NAME_AN_OUTPUT = advise(
    "name_an_output",
    python="output='private.parquet'",
    shell="--output private.parquet",
    keyword_of="privatize_table",
)
WRITE_OUTPUT_AS_TEXT = advise("write_output_as_text", python="output='s3://…'", keyword_of="privatize_table")
CHOOSE_ANOTHER_FOLDER = advise("choose_another_folder", "choose another folder")
REMOVE_BY_HAND = advise("remove_by_hand", "remove it by hand")
CONTINUE_BY_THE_SAME_CALL = advise(
    "continue_by_the_same_call",
    python="the same call continues where it stopped",
    shell="the same command continues where it stopped",
)
PREPARE_AGAIN = advise("prepare_again", python="sp.prepare(table, designs, output) makes a new one")
WRITE_COUNTS_OF_DATA = advise("write_counts_of_data", python="data.counts()")
WRITE_ROWS_WITH_WEIGHTS = advise(
    "write_rows_with_weights",
    python="write the rows with their weights, and count with weights= and weights_kind='sampling'",
    keyword_of="count",
)

# What is privatized
PRIVATIZE_VALUES_FIRST = advise("privatize_values_first", python="sp.privatize_table privatizes values")
PRIVATIZE_ONE_COLUMN = advise("privatize_one_column", python="sp.privatize(values, design) privatizes a single column")
PRIVATIZE_IN_MEMORY = advise("privatize_in_memory", python="sp.privatize(values, design) keeps them in memory")
MAP_COLUMNS_TO_DESIGNS = advise("map_columns_to_designs", python="{{'race': design}}")
COVER_THE_PRODUCT = advise(
    "cover_the_product",
    python="cover the product of the designs, sp.covered(sp.product(…), floor)",
    shell="cover the product of the designs: subsetprivacy design product, then subsetprivacy design covered",
)
PASS_THE_PRODUCT = advise(
    "pass_the_product", python="pass the product itself instead of a dict", shell="leave --column out"
)
KEEP_THE_JOINED_COLUMN = advise("keep_the_joined_column", "a joined column alone gives the shares of its variables too")

# Values that do not fit
STORE_ABSENT_AS_FULL = advise(
    "store_absent_as_full",
    python="missing='full' stores them as the full set",
    shell="--missing full stores them as the full set",
    keyword_of="privatize_table",
)
STRIP_SPACES = advise(
    "strip_spaces",
    python="strip=True leaves the spaces out",
    shell="--strip leaves the spaces out",
    keyword_of="privatize_table",
)
NAME_THE_MARK = advise(
    "name_the_mark",
    python="na= names the mark of a missing answer",
    shell="--na MARK names the mark of a missing answer",
    keyword_of="privatize_table",
)
CLEAN_VALUES = advise(
    "clean_values",
    python="strip=True leaves the spaces out, na= names the mark of a missing answer, and missing='full' stores "
    "missing values as the full set",
    shell="--strip leaves the spaces out, --na MARK names the mark of a missing answer, and --missing full stores "
    "missing values as the full set",
    keyword_of="privatize_table",
)

# Other libraries
COMPUTE_IT_ALONE = advise("compute_it_alone", "run it separately to see why; its message may show people's values")
LOOK_INTO_SPARKS_LOG = advise("look_into_sparks_log", "its own log says why")
WRITE_IT_AS_PARQUET = advise(
    "write_it_as_parquet", python="write it as Parquet and open the folder with pyarrow.dataset"
)
CALL_UNDER_A_GUARD = advise(
    "call_under_a_guard",
    python="put the work into a function, and call it under the guard if __name__ == '__main__':",
)
MAKE_AXES = advise("make_axes", python="fig, ax = plt.subplots() makes some, and so does fig.add_subplot")
TAKE_ONE_OF_THE_AXES = advise(
    "take_one_of_the_axes", python="one of them, as in ax=axes[0]", keyword_of="Estimate.plot"
)

# The experiments of the paper
TAKE_A_SIMILAR_EXPERIMENT = advise("take_a_similar_experiment", "did you mean {labels}?")
LIST_EXPERIMENTS = advise("list_experiments", "subsetprivacy reproduce lists them")
TAKE_ADULT_DATA = advise("take_adult_data", "use the original adult.data")
TAKE_ADULT_DATA_UNSORTED = advise("take_adult_data_unsorted", "use the original adult.data, not sorted")
UNPACK_ADULT_DATA = advise("unpack_adult_data", "if it is an archive, unpack it first")
NAME_ADULT_COLUMNS = advise("name_adult_columns", "alternatively, a header may name the columns race, sex and income")

# Only for commands
_COLUMN, _ARGUMENT = "--column NAME=DESIGN gives a column its design", "NAME=DESIGN gives a column its design"
_GROUPS = "if {name} was published unchanged, --by {name} makes groups of it; otherwise"

DESIGN_OF_COLUMN = advise("design_of_column", shell=(_COLUMN, _ARGUMENT))
GROUPS_OF_COLUMN = advise(
    "groups_of_column", shell=(f"{_GROUPS} {_COLUMN}", f"{_GROUPS} {_ARGUMENT}", _COLUMN, _ARGUMENT)
)
DESIGN_OF_WHICH_COLUMN = advise(
    "design_of_which_column",
    shell=(
        "--design COLUMN=FILE names the column of a design, by default the response; --form says whether cells are "
        "labels or codes"
    ),
)
ANOTHER_KEY = advise("another_key", shell="choose another name; a replaced key would be lost")
SAME_SUBSETS = advise("same_subsets", shell="--key-file gives the same subsets again")
REFERENCE_FILE = advise(
    "reference_file",
    shell="a CSV file has the columns category and share, a JSON file an object of shares by label; or write "
    "--reference LABEL=0.2,LABEL=0.8",
)
