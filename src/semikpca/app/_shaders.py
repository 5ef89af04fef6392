"""What scripts the page may run."""


def script_rule(script_hashes: list[str]) -> str:
    """Return which scripts browsers may run."""
    # Plotly compiles the programs of its WebGL map with new Function.
    return " ".join(["'self'", "'unsafe-eval'", *script_hashes])
