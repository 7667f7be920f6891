"""Links by satellite: from what a satellite system is described by to rates, delays and outages.

``modcod`` knows what modems make of a signal and ``orbit`` where satellites are; ``carrier`` and
``steps`` are what a study file says of one direction, ``link`` of both, and what follows from it.
"""

from headway.study.satellite.link import CarrierCourse, Satellite

__all__ = ["CarrierCourse", "Satellite"]
