"""Let the tests of this folder import `pages` and the site's own extensions."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
for folder in (HERE, HERE.parents[1] / "docs" / "_ext"):
    sys.path.insert(0, str(folder))
