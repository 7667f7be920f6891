/*
 * To be preloaded into a lab's kernel: counts calls by which it hands over to processes of the
 * guest, in the file that HOST_CALLS names, which has room for them.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static struct counts {
	long vain_wakes; /* futex calls that wake nobody */
	long waits;	      /* futex calls that wait for the kernel's turn */
	long messages;	      /* that carry descriptors */
	long reads;	      /* of pages of files */
} *counts, unused;

static long (*next_syscall)(long, ...);
static ssize_t (*next_pread64)(int, void *, size_t, off64_t);
static ssize_t (*next_preadv64)(int, const struct iovec *, int, off64_t);

__attribute__((constructor)) static void begin(void)
{
	int file = open(getenv("HOST_CALLS"), O_RDWR);
	void *mapped = mmap(NULL, sizeof *counts, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	counts = mapped == MAP_FAILED ? &unused : mapped;
	close(file);
	next_syscall = dlsym(RTLD_NEXT, "syscall");
	next_pread64 = dlsym(RTLD_NEXT, "pread64");
	next_preadv64 = dlsym(RTLD_NEXT, "preadv64");
}

long syscall(long number, ...)
{
	long words[6], result;
	va_list more;
	va_start(more, number);
	for (int i = 0; i < 6; i++)
		words[i] = va_arg(more, long);
	va_end(more);
	result = next_syscall(number, words[0], words[1], words[2], words[3], words[4], words[5]);
	if (number == SYS_futex && (words[1] & FUTEX_CMD_MASK) == FUTEX_WAKE && result == 0)
		counts->vain_wakes++;
	if (number == SYS_futex && (words[1] & FUTEX_CMD_MASK) == FUTEX_WAIT)
		counts->waits++;
	if (number == SYS_sendmsg)
		counts->messages++;
	return result;
}

ssize_t pread64(int file, void *bytes, size_t count, off64_t offset)
{
	counts->reads++;
	return next_pread64(file, bytes, count, offset);
}

ssize_t preadv64(int file, const struct iovec *parts, int count, off64_t offset)
{
	counts->reads++;
	return next_preadv64(file, parts, count, offset);
}
