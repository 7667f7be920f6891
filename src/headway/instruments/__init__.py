"""Instruments: each is a package here, of which the rest of Headway imports nothing.

The core finds what an instrument has by its kind (`headway.modules.instrument_modules`): a module, or a package, named
``commands`` or after another kind of docs/architecture.md.
"""
