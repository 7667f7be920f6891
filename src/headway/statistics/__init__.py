"""Statistics of plain numbers: distributions and intervals; nothing here knows of runs or studies."""
