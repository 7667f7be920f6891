"""The commands, as the help lists them: the core's, and those of instruments."""

from __future__ import annotations

from headway.cli.listed import FILES, MORE, PATH, RESULTS, STUDIES, Listed
from headway.modules import instrument_modules

_COMMANDS = {
    "run": Listed(STUDIES, "cli.study.run", "Carry out a study and report its answer."),
    "plan": Listed(
        STUDIES, "cli.study.plan", "Show what a study would run, and how long that takes."
    ),
    "validate": Listed(STUDIES, "cli.study.validate", "Check a study file without running it."),
    "reproduce": Listed(
        STUDIES,
        "cli.study.reproduce",
        "Run a built-in study; judge a paper's claims, if it has any.",
    ),
    "nearby": Listed(RESULTS, "cli.nearby.nearby", "Try how far an answer holds."),
    "report": Listed(RESULTS, "cli.study.report", "Write the report of a study's results again."),
    "figure": Listed(
        RESULTS, "cli.figure.figure", "Write one figure or table of a report, for a paper."
    ),
    "claims": Listed(RESULTS, "cli.claims.claims", "Judge a study's claims by its results."),
    "packets": Listed(
        RESULTS,
        "cli.packets.packets",
        "Show the packets of a run with a fault, or of one that captured them.",
    ),
    "export": Listed(
        RESULTS, "cli.export.export", "Write results to one archive, to publish them."
    ),
    "exec": Listed(PATH, "cli.lab.execute", "Run one command on the client's side of a path."),
    "shell": Listed(
        PATH,
        "cli.lab.shell",
        "Open a shell on the client's side of a path, or at a host of a study's network.",
    ),
    "doctor": Listed(PATH, "cli.doctor.doctor", "Measure the emulation from inside and judge it."),
    "trace": Listed(PATH, "cli.trace.app", "Read tables of rates as traces, for paths of studies."),
    "image": Listed(PATH, "cli.image.app", "Build, move or remove the lab image."),
    "processor": Listed(
        PATH,
        "cli.processor.app",
        "Measure what calls and packets cost here; list known processors.",
    ),
    "look": Listed(
        FILES, "cli.look.look", "Tell what a file is and holds, and which command takes it."
    ),
    "sites": Listed(FILES, "cli.sites.app", "Show and check the web pages that studies replay."),
    "record": Listed(
        FILES, "cli.record.record_command", "Record a web page, or import a recording."
    ),
    "video": Listed(MORE, "cli.video.app", "Write videos as files, for players in browsers."),
    "list": Listed(
        MORE, "cli.known.list_known", "List studies, programs, sites, profiles or workloads."
    ),
    "schema": Listed(
        MORE, "cli.schema.schema", "Print the JSON Schema of study files, for editors."
    ),
    "completion": Listed(
        MORE,
        "cli.completion.completion",
        "Print the script that completes commands in a shell.",
    ),
    "help": Listed(MORE, "cli.group.show_help", "Show all commands, or one with its options."),
}


def with_instruments(core: dict[str, Listed], added: dict[str, Listed]) -> dict[str, Listed]:
    """Commands in the order of the help: each instrument's behind the one that it names, or last in its part."""
    names, known, left = list(core), {**core, **added}, dict(added)
    while left:
        name = next((name for name, entry in left.items() if entry.after not in left), min(left))
        entry = left.pop(name)
        part = [other for other in names if known[other].part == entry.part]
        before = entry.after if entry.after in part else part[-1]
        names.insert(names.index(before) + 1, name)
    return {name: known[name] for name in names}


COMMANDS = with_instruments(
    _COMMANDS,
    {
        name: entry
        for module in instrument_modules("commands")
        for name, entry in module.COMMANDS.items()
    },
)
"""The commands, in the order of the help, and what carries them out."""
