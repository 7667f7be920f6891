"""Adapters: one small module per real program, which `headway.programs.registry` finds."""
