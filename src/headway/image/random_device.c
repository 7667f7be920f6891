/*
 * std::random_device of libstdc++ asks the processor (RDSEED, RDRAND) and has no switch for that.
 * Preloaded, this asks the kernel instead, whose random numbers follow from the run's seed.
 */

#define GETRANDOM 318

/* unsigned int std::random_device::_M_getval() */
unsigned int _ZNSt13random_device9_M_getvalEv(void *device)
{
	unsigned int value;
	long got;

	(void)device;
	do
		__asm__ volatile("syscall"
				 : "=a"(got)
				 : "0"((long)GETRANDOM), "D"(&value), "S"(sizeof(value)), "d"(0L)
				 : "rcx", "r11", "memory");
	while (got != sizeof(value));
	return value;
}
