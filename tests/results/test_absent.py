"""Why results of some kinds lack what others have."""

from __future__ import annotations

import pytest

from odrf.api.load import RESULTS
from odrf.results.unsupported import ABSENT, why_unsupported

OF_CHUNKS = {"StreamedResults": "ODRFResults", "AllRowsResults": "ODTResults"}


@pytest.mark.parametrize("own", OF_CHUNKS)
def test_results_of_rows_in_chunks_lack_what_those_of_the_function_lack(own):
    lacking = [name for name in ABSENT if name.isidentifier() and not hasattr(RESULTS[own], name)]
    assert {"nodes", "oob_error"} & set(lacking)
    for name in lacking:
        assert why_unsupported(own, name) == ABSENT[name][OF_CHUNKS[own]]
