"""What Headway's labs boot, compiled: the kernel, Headway's own programs, and two files of the root tree."""
