"""Why two contenders differ: what they differ in is switched one thing at a time, at Headway's own endpoints."""
