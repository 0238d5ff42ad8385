"""The line that says how far a long command is."""

from io import StringIO

import pytest

from subsetprivacy.cli.progress import ProgressLine


class Terminal(StringIO):
    def isatty(self):
        return True


class Clock:
    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


def last_line(stream):
    return stream.getvalue().split("\r")[-1].rstrip()


def test_rows_speed_and_time_left():
    stream, clock = Terminal(), Clock()
    progress = ProgressLine("rows", stream=stream, clock=clock)
    clock.now += 10
    progress(2_000, 8_000)
    assert last_line(stream) == " 25 %  2,000 of 8,000 rows, 200 a second, 30 s left"
    clock.now += 300
    progress(4_000, 8_000)
    assert last_line(stream).endswith("13 a second, 5 min 10 s left")
    clock.now += 0.001
    progress(8_000, 8_000)  # the end is always shown
    assert last_line(stream).startswith("100 %  8,000 of 8,000 rows")
    assert "left" not in last_line(stream)


def test_a_total_that_is_not_known():
    stream, clock = Terminal(), Clock()
    progress = ProgressLine("rows", stream=stream, clock=clock)
    clock.now += 2
    progress(3_000, None)
    assert last_line(stream) == "3,000 rows, 1,500 a second"


def test_the_line_is_not_written_too_often():
    stream, clock = Terminal(), Clock()
    progress = ProgressLine("rows", stream=stream, clock=clock)
    for done in range(1, 100):
        clock.now += 0.01
        progress(done, 1000)
    assert stream.getvalue() == ""  # nor for what is done within a second
    for done in range(100, 200):
        clock.now += 0.01
        progress(done, 1000)
    assert 4 <= stream.getvalue().count("\r") <= 6


def test_the_line_is_wiped_at_the_end():
    stream, clock = Terminal(), Clock()
    with ProgressLine("rows", stream=stream, clock=clock) as progress:
        clock.now += 1
        progress(1, 2)
        wide = len(last_line(stream))
    assert stream.getvalue().endswith("\r" + " " * wide + "\r")


@pytest.mark.parametrize(("seconds", "text"), [(40, "40 s"), (61, "1 min 1 s"), (7300, "2 h 1 min")])
def test_durations(seconds, text):
    stream, clock = Terminal(), Clock()
    progress = ProgressLine("rows", stream=stream, clock=clock)
    clock.now += seconds
    progress(50, 100)
    assert last_line(stream).endswith(f", {text} left")


def test_nothing_where_there_is_no_terminal():
    stream = StringIO()
    with ProgressLine("rows", stream=stream) as progress:
        progress(1, 1)
    assert stream.getvalue() == ""
