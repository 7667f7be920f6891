"""The derivation of the table of 34 sites: ``python -m headway.instruments.corpus.derivation`` prints it.

The papers show sizes and counts in figures without numbers. What they span is kept: 0.1 to 10 MB
and 10 to 300 resources. Between these, sizes are evenly spaced on a logarithmic scale, and counts
follow them with scatter. What objects of a kind weigh is what HTTP Archive's median desktop page
has per request of the kind (Web Almanac 2024, chapter Page Weight).
"""

from __future__ import annotations

import math
import sys

from headway.instruments.corpus.keystream import Keystream

_SITES = 34
_LEAST_BYTES, _MOST_BYTES = 100_000, 10_000_000
_LEAST_RESOURCES, _MOST_RESOURCES = 10, 300
_COUNT_SIGMA = 0.45
# Bytes per object: 1054 kB of images in 18 requests and 613 kB of scripts in 24; of the 78 kB of
# stylesheets and 131 kB of fonts, 8 and 4 requests are assumed.
_KIND_BYTES = {"stylesheets": 10_000, "scripts": 25_000, "images": 58_000, "fonts": 33_000}
LEAST_KIND_BYTES = {"stylesheets": 2_500, "scripts": 1_500, "images": 400, "fonts": 14_000}
HTML_BYTES, HTML_BYTES_PER_RESOURCE = 4_500, 160


def rows() -> list[dict[str, str | int]]:
    """The sites, smallest first."""
    return [_site(number) for number in range(_SITES)]


def _site(number: int) -> dict[str, str | int]:
    stream = Keystream(f"site/{number}")
    place = number / (_SITES - 1)
    total = round(_LEAST_BYTES * (_MOST_BYTES / _LEAST_BYTES) ** place, -3)
    resources = _resources(place, stream)
    counts = counts_of(int(total), resources, stream)
    html = HTML_BYTES + HTML_BYTES_PER_RESOURCE * resources
    return {
        "name": f"sander-{number + 1:02}",
        "seed": number + 1,
        "html_bytes": html,
        **kinds_of(counts, int(total) - html, stream),
        **structure_of(counts, resources, stream),
    }


def _resources(place: float, stream: Keystream) -> int:
    """More on larger sites, by a power of the size, with scatter but at both ends."""
    scatter = float(stream.normal()) * _COUNT_SIGMA * min(1.0, 4 * place, 4 * (1 - place))
    trend: float = _LEAST_RESOURCES * (_MOST_RESOURCES / _LEAST_RESOURCES) ** place
    drawn = round(trend * math.exp(scatter))
    return min(_MOST_RESOURCES, max(_LEAST_RESOURCES, drawn))


def counts_of(total: int, resources: int, stream: Keystream) -> dict[str, int]:
    """Resources by kind: images 40 to 75 %, of the others a fifth stylesheets, at most 6 fonts."""
    rest = resources - 1
    images = rest * stream.between(40, 75) // 100
    stylesheets = max(1, (rest - images) // 5)
    # A font takes 33 kB on average, too much of a small site.
    fonts = min(stream.between(0, 6), (rest - images) // 6, total // 400_000)
    return {
        "stylesheets": stylesheets,
        "scripts": rest - images - stylesheets - fonts,
        "images": images,
        "fonts": fonts,
    }


def kinds_of(counts: dict[str, int], total: int, stream: Keystream) -> dict[str, int]:
    """Number and bytes of each kind: in proportion to its usual bytes, give or take a third."""
    floors = {kind: count * LEAST_KIND_BYTES[kind] for kind, count in counts.items()}
    weights = {
        kind: count * _KIND_BYTES[kind] * stream.between(67, 133) for kind, count in counts.items()
    }
    rest = total - sum(floors.values())
    sizes = {kind: floors[kind] + rest * weights[kind] // sum(weights.values()) for kind in counts}
    sizes["images"] += total - sum(sizes.values())
    columns: dict[str, int] = {}
    for kind, count in counts.items():
        columns |= {kind: count, f"{kind}_bytes": sizes[kind]}
    return columns


def structure_of(counts: dict[str, int], resources: int, stream: Keystream) -> dict[str, int]:
    """What depends on what, what is above the fold, and what comes from third parties."""
    scripts, images = counts["scripts"], counts["images"]
    blocking = min(scripts - 1, 1 + scripts * stream.between(10, 35) // 100)
    others = scripts - blocking
    inserted = others * stream.between(0, 50) // 100
    third_parties = resources * stream.between(0, 12) // 100
    outside = (resources - 1) * stream.between(10, 60) // 100
    return {
        "blocking_stylesheets": max(1, counts["stylesheets"] * stream.between(50, 100) // 100),
        "blocking_scripts": blocking,
        "inserted_scripts": inserted,
        "script_depth": 1 + min(inserted, stream.between(1, 3)),
        "background_images": images * stream.between(0, 25) // 100,
        "inserted_images": images * stream.between(0, 30) // 100,
        "above_fold_images": min(images, 36, 1 + images * stream.between(10, 50) // 100),
        "third_parties": third_parties,
        "third_party_objects": max(third_parties, outside) if third_parties else 0,
    }


def csv_text() -> str:
    """The table as its file has it."""
    table = rows()
    lines = [
        "# 34 sites that span what Sander et al. 2022, Figure 4, and Liu et al. 2024, Figure 2, show:",
        "# 0.1 to 10 MB and 10 to 300 resources. Made by headway.instruments.corpus.derivation; see there.",
        ",".join(table[0]),
        *(",".join(str(value) for value in row.values()) for row in table),
    ]
    return "".join(f"{line}\n" for line in lines)


if __name__ == "__main__":
    sys.stdout.write(csv_text())
