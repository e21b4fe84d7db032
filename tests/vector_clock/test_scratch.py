"""Memory that library ops take for themselves."""

from __future__ import annotations

import numpy as np

import broadcloth as bc
from stream_order import on_vector_clock, recorded


@on_vector_clock(memory=512 << 20)
def test_the_scratch_of_an_assignment_has_the_size_of_its_values():
    with bc.device("cuda"):
        large = bc.zeros(200 << 20, dtype="uint8")
        index, values = bc.asarray(np.arange(10) * 1000), bc.asarray(np.arange(10, dtype="u1"))
        bc.flush()
        with recorded() as log:
            large[index] = values  # a word for each element would be 800 MB
            bc.flush()
        log.check()
        assert sum(e.bytes for e in log.of_kind("fill")) < 4096
