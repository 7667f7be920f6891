"""The command of this instrument."""

from headway.cli.listed import STUDIES, Listed

COMMANDS = {
    "conformance": Listed(
        STUDIES,
        "instruments.conformance.cli.conformance",
        "Try whether congestion control does what its specification says.",
        after="interop",
    )
}
