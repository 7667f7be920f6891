"""Python inside a lab: the self-test's probes, and what drives a browser.

Everything here uses the standard library only, and is mounted into the guest from the host, so
of Headway it must not import anything but `headway.contract`.
"""
