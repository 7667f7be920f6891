"""Container images: read and unpacked without a container engine and without root."""
