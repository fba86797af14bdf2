"""Files that are nearly right: a value or one line, and nothing that no reader may do."""

from __future__ import annotations

from fuzz.campaign import findings
from fuzz.culprits import CULPRITS
from fuzz.readers import READERS

SHORT = 100  # inputs a reader; scripts/faults takes 10,000


def test_every_reader_answers_broken_files_with_a_value_or_one_line():
    found = findings([one.name for one in READERS], 0, SHORT)
    assert not found, "\n".join(map(str, found))


def test_the_fuzzing_notices_readers_that_do_what_none_may():
    found = findings(list(CULPRITS), 0, 1, seconds=0.5)
    assert {one.reader for one in found} == set(CULPRITS)
    for one in found:
        assert CULPRITS[one.reader][1] in one.what
