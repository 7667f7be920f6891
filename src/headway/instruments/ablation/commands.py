"""The command of this instrument."""

from headway.cli.listed import RESULTS, Listed

COMMANDS = {
    "why": Listed(
        RESULTS,
        "instruments.ablation.cli.why",
        "Take the difference of two contenders apart, cause by cause.",
        after="nearby",
    )
}
