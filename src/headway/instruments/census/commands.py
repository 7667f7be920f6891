"""The command of this instrument."""

from headway.cli.listed import MORE, Listed

COMMANDS = {
    "census": Listed(
        MORE,
        "instruments.census.cli.census",
        "Count who announces and who uses HTTP/3, by the HTTP Archive.",
        after="video",
    )
}
