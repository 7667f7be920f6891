"""The command of this instrument."""

from headway.cli.listed import RESULTS, Listed

COMMANDS = {
    "controllers": Listed(
        RESULTS,
        "instruments.controllers.cli.controllers",
        "Tell which congestion control senders have.",
        after="states",
    )
}
