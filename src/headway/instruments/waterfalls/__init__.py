"""Page loads shown resource by resource: waterfalls, filmstrips, progress, and critical paths."""
