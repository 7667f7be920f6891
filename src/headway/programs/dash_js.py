"""dash.js, the reference player of DASH, in Chromium's headless shell."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

from headway.contract.outcome import Ended
from headway.errors import WrongInputError
from headway.guest.browser import Configuration
from headway.guest.player import PlayerOrders
from headway.image.keys import all_layers
from headway.overriding import override
from headway.programs.base import KEY_PIN_FILE, SERVER_NAME, Adjustment, Flow, Knob, Started
from headway.programs.browser import BROWSER_PACKAGE, QUIC_OPTIONS, HeadlessShell
from headway.programs.dash_session import played_session
from headway.programs.measurement import Measurement
from headway.programs.videos import session_name, source_of
from headway.study.film import Film
from headway.study.host import Host
from headway.study.live import Live
from headway.study.video import QualityRule, Video
from headway.study.workload import Workload
from headway.videos.content import Content, check_content, files_of

_PAGE = "headway-player"
"""Path of the page, which no server has."""
_CONTAINERS = ("video/mp4", "video/webm", "audio/mp4", "audio/webm")
_MIMES = f"{', '.join(_CONTAINERS[:-1])} and {_CONTAINERS[-1]}"
_DECODED = {
    "video": ("avc1", "avc3", "vp8", "vp08", "vp9", "vp09", "av01"),
    "audio": ("mp4a", "opus", "vorbis", "flac"),
}
"""What Debian's build decodes of what an MPD may name (RFC 6381): no H.265."""
_BUFFERS = Knob(
    "buffers",
    "workload",
    "how much is buffered: as much as the workload's `buffer` says, or dash.js' own lengths",
    ("workload", "own"),
)
_WITHOUT = Knob(
    "without",
    "none",
    "of rule `dynamic`: which of dash.js' rules has no say",
    ("none", "insufficientBufferRule", "switchHistoryRule", "abandonRequestsRule"),
)


class DashJs(HeadlessShell):
    """dash.js 5, one video in a browser context of its own."""

    name = "dash.js"
    package = "dashjs@5.2.1"
    also = (BROWSER_PACKAGE,)
    workloads = (Video,)
    plays_files = True
    knobs = (_BUFFERS, _WITHOUT, QUIC_OPTIONS)
    adjustments: tuple[Adjustment, ...] = (
        Adjustment(
            "dash.js",
            "lastBitrateCachingInfo, lastMediaSettingsCachingInfo",
            "off",
            "nothing is known from a session before",
        ),
        Adjustment(
            "dash.js",
            "rules",
            'the workload\'s rule alone, without fastSwitchEnabled; all of its own with rule = "dynamic"',
            "rules are compared one by one, and with the scripted player's",
        ),
        Adjustment(
            "dash.js",
            "the video element",
            "32 CSS pixels wide, muted",
            "painting takes the host time, and dash.js does not choose by the element's size",
        ),
    )
    buffer_keys: ClassVar[tuple[str, ...]] = (
        "bufferTimeDefault",
        "bufferTimeAtTopQuality",
        "bufferTimeAtTopQualityLongForm",
    )
    cmcd_mode: ClassVar[str] = "headers"
    """How its settings name CMCD in header fields; by any other name it is in the query."""

    @override
    def check(self, host: Host, workload: Workload) -> None:
        if not isinstance(workload, Video):
            return
        if workload.live is not None and workload.audio is not None:
            raise WrongInputError(
                "live video has no sound here; leave it out", where="workload.audio"
            )
        if workload.rule is not QualityRule.DYNAMIC and "without" in host.knobs:
            raise WrongInputError(
                f"rule {workload.rule} is alone; without is of rule dynamic", where="knobs.without"
            )
        if workload.rule is QualityRule.MPC:
            raise WrongInputError(
                f"{self.name} has no rule mpc; headway-client has", where="workload.rule"
            )
        if (film := workload.film) is not None:
            _check_film(film)
            return
        try:
            check_content(Content.of(workload))
        except WrongInputError as error:
            raise WrongInputError(error.message, where=f"workload.{error.where}") from None

    @override
    def start(self, flow: Flow) -> Started:
        video = _video(flow)
        content = files_of(video)
        server = f"{'https' if flow.tls else 'http'}://{SERVER_NAME}"
        source_s = source_of(flow, video)
        (module,) = (
            module
            for layer in all_layers().values()
            for module in layer.modules
            if module.package == self.package
        )
        orders = PlayerOrders(
            url=f"{server}/{_PAGE}",
            script=module.guest_file,
            mpd=f"{server}/{_source_path(video)}{content.place}/{content.manifest}",
            rungs=content.names,
            settings=self._settings(flow, video),
            watch_s=video.leaves.s,
            limit_s=flow.limit.s,
            behind_s=None if source_s is None else -source_s,
        )
        # The page comes from no address. Without TLS it may not ask a private one, such as the lab's have.
        may_ask = () if flow.tls else ("--disable-features=LocalNetworkAccessChecks",)
        configuration = Configuration(argv=may_ask, trusted_key=KEY_PIN_FILE, player=orders)
        return self.driven(flow, (SERVER_NAME,), configuration)

    @override
    def measure(self, flow: Flow, directory: Path, ended: Ended) -> Measurement:
        return played_session(self.name, flow, directory)

    def _settings(self, flow: Flow, video: Video) -> dict[str, Any]:
        """What of dash.js' settings is not as it ships."""
        cold = {"enabled": False}
        buffer: dict[str, Any] = {}
        if self.knob("buffers", flow.host) == "workload":
            buffer |= dict.fromkeys(self.buffer_keys, video.buffer.s)
        if video.start is not None:
            buffer["initialBufferLevel"] = video.start.s
        streaming: dict[str, Any] = {
            "lastBitrateCachingInfo": cold,
            "lastMediaSettingsCachingInfo": cold,
        }
        if video.rule is not QualityRule.DYNAMIC:
            buffer["fastSwitchEnabled"] = False
            streaming["abr"] = self.rule_settings(video)
        elif (rule := self.knob("without", flow.host)) != "none":
            streaming["abr"] = self.without_rule(rule)
        if video.live is not None:
            streaming |= self._live_settings(video.live, video.rule)
        if video.cmcd:
            streaming["cmcd"] = {"enabled": True, "mode": self.cmcd_mode, "sid": session_name(flow)}
        return {"debug": {"logLevel": 0}, "streaming": streaming | {"buffer": buffer}}

    def _live_settings(self, live: Live, rule: QualityRule) -> dict[str, Any]:
        # LoL+ has a way of catching up of its own.
        mode = "liveCatchupModeLoLP" if rule is QualityRule.LOLP else "liveCatchupModeDefault"
        most = float(live.catch_up)
        rates = self.catch_up_rates(most)
        return {
            "delay": {"liveDelay": live.latency.s},
            "liveCatchup": {"enabled": most > 0, "playbackRate": rates, "mode": mode},
            # Client and source are on one clock, so it need not ask for the time.
            "utcSynchronization": {"enabled": False},
        }

    def catch_up_rates(self, most: float) -> object:
        """How the settings say by how much the rate of playback may differ from 1."""
        return {"min": -most, "max": most}

    def without_rule(self, rule: str) -> dict[str, Any]:
        """Settings of adaptation, with all rules but one."""
        return {"rules": {rule: {"active": False}}}

    def rule_settings(self, video: Video) -> dict[str, Any]:
        """Of adaptation, with one rule alone."""
        active = {
            QualityRule.THROUGHPUT: "throughputRule",
            QualityRule.BOLA: "bolaRule",
            QualityRule.LOLP: "loLPRule",
            QualityRule.L2A: "l2ARule",
        }
        others = ("insufficientBufferRule", "switchHistoryRule", "abandonRequestsRule")
        names = (*active.values(), *others)
        rules = {name: {"active": name == active.get(video.rule)} for name in names}
        return {"rules": rules, **fixed_rate(video)}


class DashJs4(DashJs):
    """dash.js 4.2.1, which Perna and others measured."""

    name = "dash.js-4.2.1"
    package = "dashjs@4.2.1"
    adjustments = tuple(adjustment.of("dash.js-4.2.1") for adjustment in DashJs.adjustments)
    buffer_keys = ("stableBufferTime", "bufferTimeAtTopQuality", "bufferTimeAtTopQualityLongForm")
    cmcd_mode = "header"

    @override
    def catch_up_rates(self, most: float) -> object:
        """One number; 0 is off, which `enabled` is not: it catches up whenever latency is low."""
        return most

    @override
    def without_rule(self, rule: str) -> dict[str, Any]:
        return {"additionalAbrRules": {rule: False}}

    @override
    def rule_settings(self, video: Video) -> dict[str, Any]:
        strategies = {
            QualityRule.THROUGHPUT: "abrThroughput",
            QualityRule.BOLA: "abrBola",
            QualityRule.LOLP: "abrLoLP",
            QualityRule.L2A: "abrL2A",
        }
        others = ("insufficientBufferRule", "switchHistoryRule", "droppedFramesRule")
        off = dict.fromkeys((*others, "abandonRequestsRule"), False)
        strategy = strategies.get(video.rule)
        named = {"ABRStrategy": strategy} if strategy else {}
        return {**named, "additionalAbrRules": off, **fixed_rate(video)}


def fixed_rate(video: Video) -> dict[str, Any]:
    """Settings for one quality only, if the rule asks for that."""
    ends = {QualityRule.LOWEST: video.ladder[0], QualityRule.HIGHEST: video.ladder[-1]}
    if (rate := ends.get(video.rule)) is None:
        return {}
    kbit_s = -(-int(rate) // 1000)
    return {"autoSwitchBitrate": {"video": False}, "initialBitrate": {"video": kbit_s}}


def _check_film(film: Film) -> None:
    """Refuse what Chromium's headless shell of Debian does not decode, as far as the MPD tells.

    Raises:
        WrongInputError: there is such a thing.
    """
    for track in (*film.rungs, *film.sounds):
        kind = track.mime.partition("/")[0]
        if track.mime and track.mime not in _CONTAINERS:
            wrong = f"files of {track.name!r} are {track.mime}; Chromium plays {_MIMES}"
            raise WrongInputError(f"{film.file}: {wrong}", where="workload.mpd")
        known = _DECODED.get(kind, ())
        for codec in filter(None, track.codecs.split(",")):
            if codec.strip().partition(".")[0].lower() not in known:
                wrong = f"{track.name!r} is {codec.strip()}, which Chromium's headless shell does not decode"
                raise WrongInputError(
                    f"{film.file}: {wrong}; it has {', '.join(known)}", where="workload.mpd"
                )


def _source_path(video: Video) -> str:
    """Where a server has the files of live video, each segment as its source makes it (docs/native-server.md)."""
    if (live := video.live) is None:
        return ""
    return f"live/begins=BEGINS&segment={video.segment.s:.9f}&chunk={live.chunk.s:.9f}/"


def _video(flow: Flow) -> Video:
    assert isinstance(flow.workload, Video)
    return flow.workload
