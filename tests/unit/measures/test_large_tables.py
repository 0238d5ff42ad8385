"""Tables with thousands of joint categories show what can be read, and compute what is asked for."""

import json

import numpy as np
import pytest
from problems import quietly

import subsetprivacy as sp
from subsetprivacy.errors import TooLargeError
from subsetprivacy.estimation.fisher import FisherUncertainty
from subsetprivacy.measures import association
from subsetprivacy.messages import NoteKind

MAX_PRINTED = 5000  # characters


def described(p, q, n=20_000):
    """Return two variables with many categories; the first decides the second for three people in ten."""
    chance = np.random.default_rng(p)
    rising = np.arange(1.0, p + 1)
    x = chance.choice(p, n, p=rising / rising.sum())
    y = np.where(chance.random(n) < 0.3, x % q, chance.integers(0, q, n))
    pair = sp.product({"x": sp.hadamard(range(p)), "y": sp.hadamard(range(q))})
    with quietly():
        return association(sp.privatize({"x": x, "y": y}, pair, seed=1))


@pytest.fixture(scope="module")
def huge():
    return described(100, 100)


@pytest.fixture(scope="module")
def large():
    return described(64, 17)


def largest(table, k=24):
    """Return the positions of the largest cells, one after the other."""
    left, result = np.array(table), []
    for _ in range(k):
        result.append(tuple(int(i) for i in np.unravel_index(left.argmax(), left.shape)))
        left[result[-1]] = -1
    return result


class TestWithoutAsking:
    @pytest.fixture(autouse=True)
    def _no_errors(self, monkeypatch):
        def refuse(*_):
            raise AssertionError("nobody asked for a standard error")

        monkeypatch.setattr(FisherUncertainty, "along", refuse)
        monkeypatch.setattr(FisherUncertainty, "matrix", refuse)

    def test_the_summary_lists_the_largest_shares(self, huge):
        table = huge.summary()
        assert len(str(table)) < MAX_PRINTED
        assert table.columns == ("x", "y", "share")
        assert [(int(i), int(j)) for i, j, _ in table.rows] == largest(huge.table)
        assert [float(share) for *_, share in table.rows] == pytest.approx(np.sort(huge.pair.w)[::-1][:24], abs=5e-5)
        assert table.notes[0].kind is NoteKind.SHORTENED
        assert table.notes[0].text == "The pairs with the 24 largest of 10,000 joint shares."
        e = np.outer(huge.rows.w, huge.columns.w)
        v = np.sqrt(((huge.table - e) ** 2 / np.where(e > 0, e, 1)).sum() / 99)
        assert table.notes[1] == f"Cramér's V {v:.4f}, corrected for its upward bias -."
        assert table.notes[2].kind is NoteKind.NO_STANDARD_ERRORS
        assert table.notes[2].advice is None
        assert table.notes[2].text.startswith("More than 4096 joint categories")
        assert huge._repr_html_().count("<tr>") == 25

    def test_other_output(self, huge):
        assert repr(huge) == "<Association of x and y: 100 x 100, n = 20,000>"
        plain = json.loads(json.dumps(huge.to_dict(), allow_nan=False))
        assert np.shape(plain["estimate"]) == np.shape(plain["se"]) == (100, 100)
        assert plain["se"][3][4] is plain["lower"][3][4] is None
        assert plain["cramers_v_corrected"] is None
        assert plain["cramers_v"] > 0
        assert plain["notes"] == [note.to_dict() for note in huge.notes]
        ax = huge.plot()
        assert not ax.texts
        ax.figure.draw_without_rendering()
        frame = huge.to_frame()
        assert frame["estimate"].to_numpy() == pytest.approx(huge.pair.w)
        assert frame[["se", "residual", "lower"]].isna().all(axis=None)

    def test_conditional_shares(self, huge):
        given = huge.conditional("y")
        table = given.summary()
        assert len(str(table)) < MAX_PRINTED
        assert table.columns == ("y", "x", "share of y")
        places = [(int(i), int(j)) for i, j, _ in table.rows]
        assert places == largest(huge.table.T)
        assert [float(share) for *_, share in table.rows] == pytest.approx(
            [given.table[place] for place in places], abs=5e-5
        )
        assert NoteKind.NO_STANDARD_ERRORS in [note.kind for note in table.notes]
        assert given.to_frame()["se"].isna().all()
        assert not given.plot().texts

    def test_empty_groups_are_not_all_listed(self, huge):
        nobody = huge.conditional().notes[0]
        empty = int((huge.rows.w < 1e-9).sum())
        assert empty > 6
        assert nobody.kind is NoteKind.NO_ESTIMATE
        assert nobody.text.endswith(f", … ({empty} in all).")
        assert nobody.text.count(",") == 6

    def test_between_shown_and_possible(self, large):
        notes = large.summary().notes
        assert notes[1].endswith("corrected for its upward bias -.")
        assert str(notes[2]) == (
            "More than 1024 joint categories: by default no standard errors, and V is not corrected for its bias. "
            "Hint: the attribute se and cramers_v(corrected=True) have them."
        )
        within = [note for note in large.conditional().notes if note.kind is NoteKind.NO_STANDARD_ERRORS]
        assert [note.advice.name for note in within] == ["ask_for_errors"]

    def test_a_small_table_of_many_joint_categories_has_its_margins(self):
        three = sp.product({"x": sp.warner(["a", "b"]), "y": sp.warner(["c", "d"]), "z": sp.hadamard(range(300))})
        with quietly():
            fit = sp.estimate(sp.simulate(three, np.full(1200, 1 / 1200), 3000, seed=1))
        lines = str(association(fit, "x", "y").summary()).splitlines()
        assert lines[4].split() == ["a", *(f"{v:.4f}" for v in (*fit.table().sum(axis=2)[0], fit.margin("x").w[0]))]


def test_what_is_asked_for_is_computed(large):
    with quietly():
        assert large.se.shape == (64, 17)
        cov = large.fit.cov
        assert large.se[60, 3] == pytest.approx(np.sqrt(cov[60 * 17 + 3, 60 * 17 + 3]))
        assert large.to_frame()["se"].to_numpy() == pytest.approx(large.se.ravel())
        strength = large.cramers_v(corrected=True)
        assert 0 <= strength.value < large.cramers_v().value


def test_what_takes_too_long_is_refused(huge):
    with quietly():
        for ask in (
            lambda: huge.se,
            lambda: huge.residuals,
            lambda: huge.plot("residuals"),
            lambda: huge.conditional().se,
            lambda: huge.conditional().interval(),
        ):
            with pytest.raises(TooLargeError):
                ask()
        strength = huge.cramers_v()
        assert strength.value == huge.to_dict()["cramers_v"]
        assert strength.lower == 0
        assert strength.notes[0].kind is NoteKind.BIASED
        assert "more than 4096 joint categories" in strength.notes[0].text


def test_listed_shares_have_their_errors():
    pair = sp.product({"x": sp.hadamard(range(30)), "y": sp.warner(["no", "yes"])})
    w = np.outer(np.arange(1, 31), [1, 3]) / 1860
    with quietly():
        result = association(sp.simulate(pair, w.ravel(), 50_000, seed=2))
        errors = result.se
    table = result.summary()
    places = largest(result.table)
    assert [f"{result.table[i, j]:.4f} ({errors[i, j]:.4f})" for i, j in places] == [cell for *_, cell in table.rows]
    assert [j for _, j, _ in table.rows] == [["no", "yes"][j] for _, j in places]
    within = result.conditional()
    cells = [cell for *_, cell in within.summary().rows]
    assert cells == [f"{within.table[i, j]:.4f} ({within._se[i, j]:.4f})" for i, j in places]
