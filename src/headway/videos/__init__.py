"""Videos as files: encoded, cut into segments of exact sizes, described by an MPD; and MPDs of others, read."""
