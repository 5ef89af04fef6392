"""Words for numbers in messages and on pages; imports nothing of the package."""


def counted(number: int, one: str, many: str | None = None) -> str:
    """Return a number with the right form of its noun: "1 row", "2,000 rows"; ``many`` is for those without an s."""
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"
