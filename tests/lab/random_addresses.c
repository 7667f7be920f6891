/*
 * To be preloaded into a lab's kernel: a host that does not let it have its addresses where they always are,
 * as containers of Docker do not.
 */
#include <errno.h>

int personality(unsigned long persona)
{
	(void)persona;
	errno = EPERM;
	return -1;
}
