"""The number of a credit note as it is printed."""


def number_of(number: int) -> str:
    """Return the number within its insurer, such as CN-0003."""
    return f"CN-{number:04d}"
