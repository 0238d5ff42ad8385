r"""People who answer at random: an additional category that gives each of m answers with probability 1/m.

If a share :math:`\rho` of the people pick one of the m answers at random, an answer has probability
:math:`(1-\rho)\,r_a^\top w + \rho/m`. The share is identifiable if the column 1/m is not a combination of the columns
of the rows, that is, if [r_a, 1/m] has rank p + 1. If all questions contain half of the categories, it is not
identifiable, since a uniform distribution gives the same answers.

If weights are estimated as zero, the maximum likelihood estimate of the share is biased towards 0, and the likelihood
ratio is far from its limit distribution (a share of 0.10 is estimated as 0.02 with 50 categories, 63 Hadamard questions
and 10,000 people; the test at 5% rejects 0 to 1% for Adult race). So an unconstrained step is added (see `linear`),
which changes nothing if no estimate is zero. The estimate is then unbiased, and its standard error is valid.

People who always say "yes" cannot be identified, because the code of an answer does not show which of the two sides was
asked about. If a set and its complement are asked equally often, as in `uniform`, people who always say "yes" or always
"no" look like random answers and are counted with them.
"""

import numpy as np

from subsetprivacy._checks import read_only
from subsetprivacy._types import FloatArray
from subsetprivacy.estimation.newton import newton
from subsetprivacy.estimation.simplex import project
from subsetprivacy.honesty.answers import AnswersTest
from subsetprivacy.honesty.fits import GoodnessOfFit, RandomAnswers
from subsetprivacy.honesty.linear import MOST_EXACT, LinearModel, UnconstrainedFit
from subsetprivacy.honesty.pvalue_method import HALF, PValueMethod, half_pvalue
from subsetprivacy.honesty.reading import one_at_a_time
from subsetprivacy.incidence import Affine
from subsetprivacy.messages import Note, NoteKind
from subsetprivacy.messages.for_tests import ASK_DIFFERENT_SIZES

_MOST_RANDOM = 0.95


def chance_model(plain: LinearModel) -> tuple[LinearModel | None, Note | None]:
    """Return the model with random answers, or the reason why it is missing."""
    design = plain.table.design
    if alone := one_at_a_time(design):
        text = "Random answers are not estimated for several variables together."
        return None, Note(NoteKind.RANDOM_ANSWERS, text, alone)
    if design.options is None:
        text = (
            f"Random answers are not estimated: in a {design.maker} design the subset is drawn around the value, and "
            "no one answers a question."
        )
        return None, Note(NoteKind.RANDOM_ANSWERS, text)
    model = LinearModel(plain.table, 1 / design.options)
    if model.rank == plain.rank:
        text = f"Random answers cannot be identified: {_reason(plain)}."
        return None, Note(NoteKind.RANDOM_ANSWERS, text, ASK_DIFFERENT_SIZES)
    return model, None


def _reason(plain: LinearModel) -> str:
    """Return why random answers cannot be identified."""
    p, options = plain.rows.p, plain.table.design.options
    assert options is not None
    if np.allclose(plain.rows.inner(np.full(p, 1 / p)), 1 / options):
        return "each question splits the categories evenly, so they look like a uniform distribution"
    return "with these questions they look like a change of the weights"


def score_statistic(model: LinearModel, observed: FloatArray, start: FloatArray) -> float:
    """Return the squared score for random answers at a fit without them; 0 if it points to a negative share."""
    share, se = model.step(observed, np.append(start, 0.0)).last()
    return max(share / se, 0.0) ** 2


def random_part(tested: AnswersTest, pvalue_method: PValueMethod) -> GoodnessOfFit:
    """Return the test that no one answers at random, from the second statistic of the test of the answers."""
    if tested.second_pvalue is None:
        pvalue, law = half_pvalue(tested.second), HALF
    else:
        pvalue, law = tested.second_pvalue, pvalue_method.bootstrap
    return GoodnessOfFit("random", tested.second, 1, pvalue, law, tested.part.least_expected)


def random_answers(model: LinearModel, fit: UnconstrainedFit, test: GoodnessOfFit) -> RandomAnswers:
    """Return the share of random answers and the distribution of the other people."""
    cov = fit.covariance(model.table.n)
    share = float(fit.free[-1])
    rho = min(max(share, 0.0), 1.0)
    w = honest_distribution(model, fit, rho)
    # w = u/(1-rho) for the free weights u, hence dw = (du + w d rho)/(1-rho).
    variance = cov.diagonal()[:-1] + 2 * w * cov[-1, :-1] + w**2 * cov[-1, -1]
    w_se = np.sqrt(np.maximum(variance, 0.0)) / (1 - min(rho, _MOST_RANDOM))  # beyond this, w is NaN
    labels = tuple(model.table.design.categories)
    return RandomAnswers(share, float(np.sqrt(cov[-1, -1])), test, labels, read_only(w), read_only(w_se))


def honest_distribution(model: LinearModel, fit: UnconstrainedFit, rho: float) -> FloatArray:
    """Return the maximum likelihood estimate with a fixed share rho of random answers; the free fit if p is large."""
    table = model.table
    assert model.chance is not None
    if rho >= _MOST_RANDOM or model.rank < model.rows.p:
        return np.full(table.design.p, np.nan)  # almost no one is left, or the distribution is not identifiable
    if model.rows.p > MOST_EXACT:
        return project(fit.free[:-1] / (1 - rho))
    seen = table.observed > 0
    rows = Affine(table.design.incidence(table.codes[seen]), 1 - rho, rho * model.chance)
    return newton(rows, table.observed[seen] / table.n).w
