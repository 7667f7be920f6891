"""Sites without the Internet: made pages, the same bytes on every machine, and packages' pages."""
