"""How many inputs are drawn: few and always the same ones in an ordinary run, many new ones when asked for.

``HYPOTHESIS_PROFILE=fuzz pytest tests/fuzz`` draws FUZZ_TIMES as many, from a new seed, and keeps what it finds in
``.hypothesis``, so that the next run begins there.
"""

import os

from hypothesis import HealthCheck, settings

PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "ordinary")
FUZZ_TIMES = 50


def drawn(n_examples):
    """Return settings for a test with that many examples in an ordinary run."""
    if PROFILE == "fuzz":
        return settings(deadline=None, max_examples=FUZZ_TIMES * n_examples, suppress_health_check=list(HealthCheck))
    # Inputs that break things are rare and built up from odd parts: how they are drawn is slow and none of our concern.
    return settings(
        deadline=None,
        max_examples=n_examples,
        derandomize=True,
        database=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
    )
