"""The command of this instrument."""

from headway.cli.listed import RESULTS, Listed

COMMANDS = {
    "states": Listed(
        RESULTS,
        "instruments.states.cli.states",
        "Show the state machines of senders, also of other qlog files.",
        after="claims",
    )
}
