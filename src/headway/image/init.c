/*
 * /lab/init, which the lab kernel starts: shows the host's directory of Headway's own programs, and
 * becomes the agent that is in it. The root tree thus stays as it is when the agent changes.
 *
 * The word of the command line that begins with DIRECTORY names the directory on the host.
 */

#define NULL ((void *)0)
#define SYS_WRITE 1
#define SYS_EXECVE 59
#define SYS_MOUNT 165
#define SYS_REBOOT 169
#define MS_RDONLY 1
#define REBOOT_MAGIC 0xfee1dead
#define REBOOT_MAGIC2 672274793
#define POWER_OFF 0x4321fedc

#define DIRECTORY "extras/headway="
#define SHOWN_AT "/lab/native"
#define AGENT SHOWN_AT "/headway-agent"
#define FAILURE "headway: " AGENT " cannot be started\n"

static long call(long number, const void *a, const void *b, const void *c, long d, const void *e)
{
	register long r10 __asm__("r10") = d;
	register const void *r8 __asm__("r8") = e;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "0"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8)
			 : "rcx", "r11", "memory");
	return result;
}

/* What follows in a word that begins so; none if it does not. */
static const char *after(const char *word, const char *beginning)
{
	for (; *beginning; word++, beginning++)
		if (*word != *beginning)
			return NULL;
	return word;
}

__attribute__((used, noreturn)) void begin(long *stack)
{
	char **argv = (char **)(stack + 1);
	char **environment = argv + stack[0] + 1;
	const char *directory = NULL;

	for (char **word = argv; *word && !directory; word++)
		directory = after(*word, DIRECTORY);
	call(SYS_MOUNT, "none", SHOWN_AT, "hostfs", MS_RDONLY, directory);
	call(SYS_EXECVE, AGENT, argv, environment, 0, NULL);
	call(SYS_WRITE, (void *)1, FAILURE, (void *)(sizeof(FAILURE) - 1), 0, NULL);
	for (;;)
		call(SYS_REBOOT, (void *)REBOOT_MAGIC, (void *)REBOOT_MAGIC2, (void *)POWER_OFF, 0, NULL);
}

__asm__(".globl _start\n_start: mov %rsp, %rdi\nand $-16, %rsp\ncall begin\n");
