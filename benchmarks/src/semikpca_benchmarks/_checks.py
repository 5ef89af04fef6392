"""What a run may be asked for; imports nothing of the package."""


def check_whole_number(name: str, value: object, minimum: int) -> None:
    """Refuse what is no whole number or less than ``minimum``; True and False are no numbers."""
    if not isinstance(value, int) or isinstance(value, bool) or value < minimum:
        raise ValueError(f"{name} must be a whole number, {minimum} or more, got {value!r}.")
