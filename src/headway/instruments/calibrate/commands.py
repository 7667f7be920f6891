"""The command of this instrument."""

from headway.cli.listed import STUDIES, Listed

COMMANDS = {
    "calibrate": Listed(
        STUDIES,
        "instruments.calibrate.cli.calibrate",
        "Search knobs until a study's runs agree with a target.",
        after="reproduce",
    )
}
