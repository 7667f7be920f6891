"""The command of this instrument."""

from headway.cli.listed import STUDIES, Listed

COMMANDS = {
    "interop": Listed(
        STUDIES,
        "instruments.interop.cli.interop",
        "Try which QUIC stacks work with which, by the interop runner's test cases.",
    )
}
