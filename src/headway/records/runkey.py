"""Keys of runs: two that are the same have one, wherever in a grid they stand."""

from __future__ import annotations

import json

from headway.cache import digest
from headway.planning.runs import Run
from headway.sites.finding import find_site, is_archive
from headway.sites.replay import site_key
from headway.study.mpd import film_at
from headway.study.setting import Setting


def run_key(run: Run) -> str:
    """That of its setting and its seed."""
    return setting_key(run.setting, run.seed)


def setting_key(setting: Setting, seed: int) -> str:
    """Digest of a resolved setting and a seed; an archive counts by what is replayed of it, a film by its files.

    Sites of the corpus count by their names, since they come with Headway, whose version is in the
    manifest, as those of the lab image are.
    """
    return digest(_resolved(setting), str(seed))


def _resolved(setting: Setting) -> str:
    values = setting.model_dump(mode="json", exclude=None if setting.programs else {"programs"})
    for value in (values, *values["flows"].values()):
        if is_archive(site := value["workload"].get("site", "")):
            value["workload"]["site"] = site_key(find_site(site))
        if mpd := value["workload"].get("mpd"):
            value["workload"]["mpd"] = film_at(mpd).key
    # Not sorted: the order of hops is a condition.
    return json.dumps(values)
