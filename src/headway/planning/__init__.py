"""From a study to its runs, each resolved: what runs where, over which links, and who asks whom."""
