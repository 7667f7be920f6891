"""A census of adoption: who announces and who uses which version of HTTP, by the HTTP Archive's crawl."""
