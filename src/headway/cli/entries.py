"""The commands, as the help lists them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Listed:
    """A command, as the help shows it.

    Attributes:
        part: heading of the help below which it stands.
        place: module and attribute of what carries it out.
        summary: what it does, in a line or two.
    """

    part: str
    place: str
    summary: str


STUDIES, RESULTS, _PATH, _FILES, _MORE = "Studies", "Results", "A path", "Files and sites", "More"
COMMANDS = {
    "run": Listed(STUDIES, "study.run", "Carry out a study and report its answer."),
    "plan": Listed(STUDIES, "study.plan", "Show what a study would run, and how long that takes."),
    "validate": Listed(STUDIES, "study.validate", "Check a study file without running it."),
    "reproduce": Listed(
        STUDIES, "study.reproduce", "Run a built-in study; judge a paper's claims, if it has any."
    ),
    "calibrate": Listed(
        STUDIES, "calibrate.calibrate", "Search knobs until a study's runs agree with a target."
    ),
    "check": Listed(STUDIES, "check.check", "Compare two builds of a program, packet by packet."),
    "report": Listed(RESULTS, "study.report", "Write the report of a study's results again."),
    "figure": Listed(
        RESULTS, "figure.figure", "Write one figure or table of a report, for a paper."
    ),
    "claims": Listed(RESULTS, "claims.claims", "Judge a study's claims by its results."),
    "states": Listed(
        RESULTS, "states.states", "Show the state machines of senders, also of other qlog files."
    ),
    "controllers": Listed(
        RESULTS, "controllers.controllers", "Tell which congestion control senders have."
    ),
    "packets": Listed(
        RESULTS,
        "packets.packets",
        "Show the packets of a run with a fault, or of one that captured them.",
    ),
    "export": Listed(RESULTS, "export.export", "Write results to one archive, to publish them."),
    "exec": Listed(_PATH, "lab.execute", "Run one command on the client's side of a path."),
    "shell": Listed(_PATH, "lab.shell", "Open a shell on the client's side of a path."),
    "doctor": Listed(_PATH, "doctor.doctor", "Measure the emulation from inside and judge it."),
    "trace": Listed(_PATH, "trace.app", "Read tables of rates as traces, for paths of studies."),
    "image": Listed(_PATH, "image.app", "Build, move or remove the lab image."),
    "processor": Listed(
        _PATH, "processor.app", "Measure what calls and packets cost here; list known processors."
    ),
    "look": Listed(
        _FILES, "look.look", "Tell what a file is and holds, and which command takes it."
    ),
    "sites": Listed(_FILES, "sites.app", "Show and check the web pages that studies replay."),
    "record": Listed(_FILES, "record.record_command", "Record a web page, or import a recording."),
    "video": Listed(_MORE, "video.app", "Write videos as files, for players in browsers."),
    "census": Listed(
        _MORE, "census.census", "Count who announces and who uses HTTP/3, by the HTTP Archive."
    ),
    "list": Listed(
        _MORE, "known.list_known", "List studies, programs, sites, profiles or workloads."
    ),
    "schema": Listed(_MORE, "schema.schema", "Print the JSON Schema of study files, for editors."),
    "completion": Listed(
        _MORE,
        "completion.completion",
        "Print the script that completes commands in a shell.",
    ),
    "help": Listed(_MORE, "group.show_help", "Show all commands, or one with its options."),
}
"""The commands, in the order of the help, and what carries them out."""
