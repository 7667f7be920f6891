"""What a file holds, whoever made it: an account on one screen, for each kind that Headway reads."""
