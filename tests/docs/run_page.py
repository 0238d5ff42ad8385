"""Run the cells of a page in order, in this process, as the site does: `python run_page.py docs/tutorial.md`."""

import ast
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from pages import COMMAND, cells


def command(line):
    """Run a line of a shell; a failure ends the page."""
    subprocess.run(line, shell=True, check=True)


def show(thing):
    """Make what a notebook would show."""
    for form in ("_repr_html_", "_repr_svg_", "__repr__"):
        if hasattr(thing, form):
            getattr(thing, form)()
            return


def as_python(source):
    """Turn the lines of a shell into calls."""
    return COMMAND.sub(lambda line: f"__command__({line.group(1)!r})", source)


def run(page):
    space = {"__name__": "__main__", "__command__": command, "display": show}
    for cell in cells(page):
        tree = ast.parse(as_python(cell.source))
        last = None
        if tree.body and isinstance(tree.body[-1], ast.Expr) and not cell.source.rstrip().endswith(";"):
            last = ast.Expression(tree.body.pop().value)
        where = f"{page.name}, cell {cell.number}"
        try:
            exec(compile(tree, where, "exec"), space)
            if last is not None:
                show(eval(compile(last, where, "eval"), space))
        except BaseException:
            print(f"In {where}:\n\n{cell.source}\n", file=sys.stderr)
            raise


if __name__ == "__main__":
    import matplotlib

    matplotlib.use("Agg")
    run(Path(sys.argv[1]))
