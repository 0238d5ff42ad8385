"""`subsetprivacy demo`: the main steps from end to end, on the Adult data."""

from contextlib import ExitStack, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import click

from subsetprivacy._choices import Estimator
from subsetprivacy._words import people
from subsetprivacy.cli.options import FilePath
from subsetprivacy.cli.show import draw_to_files, echo_table, echo_warning, is_quiet

_METHODS: dict[str, Estimator] = {"maximum likelihood": "mle", "one step": "one-step", "moments": "mom-conditional"}


@click.command(short_help="Show the main steps on the Adult data.")
@click.option(
    "-o",
    "--output",
    type=FilePath(file_okay=False, path_type=Path),
    default=Path("demo-results"),
    show_default=True,
    help="The folder for the pictures and the design.",
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    help="Make the run repeatable. Without a seed the draws are cryptographic, as for real data.",
)
def demo(output: Path, seed: int | None) -> None:
    """Privatize the Adult data, then estimate, audit and test, and save pictures.

    The pictures need matplotlib, which the extra plot installs. Everything else works without it.

    \b
    Example:
      subsetprivacy demo -o demo-results
    """
    no_pictures = _why_no_pictures()
    output.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        if is_quiet():  # results are printed on the way; only the files stay
            stack.enter_context(redirect_stdout(StringIO()))
        _show(output, seed, pictures=no_pictures is None)
    if no_pictures is not None:
        echo_warning(no_pictures)


def _show(output: Path, seed: int | None, *, pictures: bool) -> None:
    import subsetprivacy as sp
    from subsetprivacy.examples import adult

    design = sp.uniform(adult.races)
    values = adult.rows()["race"]
    click.echo(
        f"1. Privatize the race of {people(len(values))}: each value becomes a random subset that contains it.\n"
    )
    data = sp.privatize(values, design, seed=seed)
    labels = data.labels()
    for race in adult.races[:3]:  # the rows are sorted: the first ones are of the same race
        subset = labels[list(values).index(race)]
        click.echo("   " + " or ".join(str(label) for label in subset))
    click.echo("   …\n\n2. Estimate the distribution from the subsets alone.\n")
    fit = sp.estimate(data)
    echo_table(fit.summary())
    click.echo("\n   Compared with the truth and the moment estimators:\n")
    echo_table(_comparison(data, adult.race))
    click.echo("\n3. Audit what each subset revealed.\n")
    report = sp.audit(data)
    echo_table(report.summary())
    click.echo("\n4. Test whether race and income are related, from a subset of each.\n")
    income = sp.privatize(adult.rows()["income"], sp.warner(["low", "high"]), seed=None if seed is None else seed + 1)
    test = sp.independence_test(sp.crosstab(data, income, names=["race", "income"]), seed=seed)
    echo_table(test.summary())
    files = _pictures(data, report, test, output, seed) if pictures else []
    design.save(output / "race.design.json")
    click.echo(f"\n5. Saved the design{f' and {len(files)} pictures' if files else ''}:\n")
    for file in (*files, output / "race.design.json"):
        click.echo(f"   {file}")
    click.echo("\nTo do the same with files, start with: subsetprivacy example adult -o adult.csv")


def _why_no_pictures() -> Warning | None:
    """Return a warning that names what to install for pictures, or nothing if they can be drawn."""
    from subsetprivacy.errors import MissingDependencyError, SubsetPrivacyWarning

    try:
        draw_to_files("pictures need")
    except MissingDependencyError as error:
        return SubsetPrivacyWarning(error.message, error.advice)
    return None


def _comparison(data: Any, truth: Any) -> Any:
    import subsetprivacy as sp
    from subsetprivacy.tables import Table, number

    methods: dict[str, Estimator] = {
        "maximum likelihood": "mle",
        "conditional moments": "mom-conditional",
        "moments": "mom",
    }
    fits = [sp.estimate(data, method) for method in methods.values()]
    rows = tuple(
        (str(label), number(truth[j], 5), *(number(fit.w[j], 5) for fit in fits))
        for j, label in enumerate(data.categories)
    )
    return Table("True and estimated shares of each race", ("category", "truth", *methods), rows)


def _pictures(data: Any, report: Any, test: Any, output: Path, seed: int | None) -> list[Path]:
    from matplotlib import pyplot as plt

    import subsetprivacy as sp
    from subsetprivacy import draw
    from subsetprivacy.examples import ADULT_CASES, adult

    fits = {name: sp.estimate(data, method) for name, method in _METHODS.items()}
    cases = sp.privatize(list(ADULT_CASES.values()), data.design, seed=seed)
    drawn = {
        "estimate": fits["maximum likelihood"].plot(reference=adult.race),
        "difference": draw.difference(
            adult.races,
            {name: fit.w for name, fit in fits.items()},
            adult.race,
            intervals={name: fit.interval(method="wald") for name, fit in fits.items()},
            title=f"Estimated minus true share of each race, 95% intervals, n = {len(data):,}",
        ),
        "leakage": report.plot(),
        "independence": test.plot(),
        "residuals": test.plot("residuals"),
        "cases": sp.person_leakage(cases, adult.race).plot(
            truth=ADULT_CASES.values(), names=[f"case {row}" for row in ADULT_CASES]
        ),
    }
    files = []
    for name, picture in drawn.items():
        figure = getattr(picture, "figure", picture)
        files.append(output / f"{name}.png")
        figure.savefig(files[-1], dpi=150)
        plt.close(figure)
    return files
