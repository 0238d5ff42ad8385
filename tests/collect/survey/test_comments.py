"""Comments of a file: all of them are found, and nothing else is."""

import pytest

from subsetprivacy.collect.survey.bundled_files import example_text
from subsetprivacy.collect.survey.comments import count_comments
from subsetprivacy.collect.survey.reading import read_survey
from subsetprivacy.collect.survey.writing import write_survey

TOML = '''# 1
title = "no # comment" # 2
thanks = """
# no "quoted" # comment \\" """ # 3
contact = 'it # is'
introduction = \'\'\'# no\'\'\'
[[variables]] # 4
"id" = "a#b"
question = "?"
options = [ # 5
  "a", # 6
  # 7
  "#b",
]#8
'''
YAML = """# 1
title: "no # comment" # 2
thanks: |  # 3
  # no comment
    # none
  end # no

contact: it#is # 4
introduction: 'it''s # no'
# 5
variables:  # 6
  - id: several words
      on # 7
    options: [a, "#b"] # 8
"""


@pytest.mark.parametrize(("text", "format"), [(TOML, "toml"), (YAML, "yaml")])
def test_comments_are_counted(text, format):
    assert count_comments(text, format) == 8
    assert count_comments(text.replace("\n", "\r\n"), format) == 8


def test_json_has_none():
    assert count_comments('{"title": "a # b"}', "json") == 0


@pytest.mark.parametrize("format", ["toml", "yaml", "json"])
def test_what_is_written_has_none(format):
    text = write_survey(read_survey(example_text("toml").replace("?", "? # no comment"), "toml"), format)
    assert "# no comment" in text
    assert count_comments(text, format) == 0
