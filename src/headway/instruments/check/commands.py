"""The command of this instrument."""

from headway.cli.listed import STUDIES, Listed

COMMANDS = {
    "check": Listed(
        STUDIES,
        "instruments.check.cli.check",
        "Compare two builds of a program, packet by packet.",
        after="calibrate",
    )
}
