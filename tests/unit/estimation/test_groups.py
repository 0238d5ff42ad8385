"""The estimates of groups, under their names."""

import numpy as np
import pytest
from problems import quietly
from refusals import refused

import subsetprivacy as sp
from subsetprivacy.errors import CategoryError, MismatchError
from subsetprivacy.estimation import dispatch
from subsetprivacy.messages import NoteKind

U4 = sp.uniform(list("abcd"))
W = [0.1, 0.2, 0.3, 0.4]


class Groups(dict):
    """Counts by group that know what the groups are made by."""

    def __init__(self, data, keys, by):
        keys = list(keys)
        at = {name: [k for k, key in enumerate(keys) if key == name] for name in dict.fromkeys(keys)}
        super().__init__({name: sp.count(data.codes[rows], design=U4) for name, rows in at.items()})
        self.by = by


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(1)
    values = rng.choice(list("abcd"), 1200, p=W)
    return sp.privatize(values, U4, seed=2), np.where(np.arange(1200) % 3 == 0, "f", "m"), np.arange(1200) % 2


def test_groups_are_found_by_name(people):
    data, sex, _ = people
    counts = sp.count(data, by=sex)
    fits = sp.estimate_many(counts)
    assert set(fits.names) == {"f", "m"}
    assert fits["f"].w == pytest.approx(sp.estimate(counts["f"]).w)
    assert fits["f"].n == 400
    assert "m" in fits
    assert "x" not in fits
    assert dict(fits.items())["m"] is fits["m"]
    assert len(fits) == 2
    with refused(CategoryError, "name"):
        fits["x"]
    with refused(CategoryError, "name"):
        fits[["f"]]


def test_groups_by_several_columns(people):
    data, sex, year = people
    fits = sp.estimate_many(Groups(data, zip(sex.tolist(), year.tolist(), strict=True), ("sex", "year")))
    assert set(fits.names) == {("f", 0), ("f", 1), ("m", 0), ("m", 1)}
    assert fits.by == ("sex", "year")
    assert fits["f", 1].n == 200
    frame = fits.to_frame(0.9)
    numbers = ["category", "estimate", "se", "lower", "upper", "level", "n"]
    assert list(frame.columns) == ["sex", "year", *numbers]
    part = frame[(frame.sex == "m") & (frame.year == 0)]
    assert part["estimate"].to_numpy() == pytest.approx(fits["m", 0].w)
    assert part[["lower", "upper"]].to_numpy() == pytest.approx(fits["m", 0].interval(0.9))
    assert set(frame["level"]) == {0.9}
    assert "Estimated shares by sex and year" in str(fits.summary())
    assert fits.difference(("f", 0), ("m", 0)).names == ("f / 0", "m / 0")


def test_a_column_called_like_a_number_keeps_both(people):
    data, sex, _ = people
    fits = sp.estimate_many(Groups(data, sex.tolist(), ("n",)))
    frame = fits.to_frame()
    assert next(iter(frame.columns)) == "n (group)"
    assert frame["n"].max() == 800


def test_the_difference_of_two_groups(people):
    data, sex, _ = people
    fits = sp.estimate_many(sp.count(data, by=sex))
    result = fits.difference("f", "m")
    assert result.names == ("f", "m")
    assert result.estimate == pytest.approx(fits["f"].w - fits["m"].w)
    with pytest.raises(MismatchError):
        fits.difference("f", "f")
    with refused(CategoryError, "name"):
        fits.difference("f", "x")


def test_samples_without_names_are_numbered():
    fits = sp.estimate_many(sp.simulate_many(U4, W, 300, 3, seed=1))
    assert fits.names == (0, 1, 2)
    assert fits.by == ("sample",)
    assert fits.interval().shape == (3, 4, 2)
    assert fits.interval()[1] == pytest.approx(fits[1].interval())
    assert fits.w.shape == fits.se.shape == (3, 4)


def test_pictures_have_a_panel_per_category(people):
    plt = pytest.importorskip("matplotlib.pyplot")
    data, sex, _ = people
    drawn = sp.estimate_many(sp.count(data, by=sex)).plot()
    assert len(drawn.axes) >= 4
    plt.close("all")


def test_two_thousand_groups_at_once(monkeypatch):
    design = sp.uniform(range(5))
    samples = list(sp.simulate_many(design, np.full(5, 0.2), 100, 2000, seed=1))
    calls = []
    estimate = dispatch.estimate
    monkeypatch.setattr(dispatch, "estimate", lambda *args, **options: (calls.append(1), estimate(*args, **options))[1])
    with quietly():
        fits = sp.estimate_many({f"g{k}": counts for k, counts in enumerate(samples)})
        frame = fits.to_frame(engine="pyarrow")
        table = fits.summary()
    assert len(calls) == 2000
    assert frame.num_rows == 10_000
    assert fits["g1999"].w == pytest.approx(sp.estimate(samples[-1]).w)
    assert [note.kind for note in table.notes[:2]] == [NoteKind.SHORTENED, NoteKind.INTERVAL_METHOD]
    assert "The first 12 of 2000 groups." in table.notes[0].text
    assert len(table.rows) == 60


def test_notes_are_merged_by_kind():
    w = {"usual": W, "rare": [0.97, 0.01, 0.01, 0.01], "rarer": [0.985, 0.005, 0.005, 0.005], "lone": [1, 0, 0, 0]}
    with quietly():
        fits = sp.estimate_many({name: sp.simulate(U4, shares, 60, seed=3) for name, shares in w.items()})
    kinds = [note.kind for note in fits.notes]
    assert len(kinds) == len(set(kinds))
    about = {note.kind: sum(note.kind in [each.kind for each in fit.notes] for fit in fits) for note in fits.notes}
    assert about[NoteKind.BOUNDARY] > 1
    for note in fits.notes:
        if about[note.kind] > 1:
            assert note.text.startswith(f"{about[note.kind]} of 4 groups (")
        else:
            assert note.text.split(": ")[0] in w
    one = sp.estimate_many({"usual": sp.simulate(U4, W, 2000, seed=1), "lone": fits["lone"].counts})
    assert any(note.kind == NoteKind.BOUNDARY and note.text.startswith("lone: ") for note in one.notes)
