"""What runs inside a lab: PID 1, the network, programs, timed changes, samples.

Everything here uses the standard library only, and is mounted into the guest from the host, so
of Headway it must not import anything but `headway.contract`.
"""
