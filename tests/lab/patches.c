/*
 * What the lab kernel's patches do for programs, each told by itself. Arguments: names of trials.
 */
#define _GNU_SOURCE
#include <asm/prctl.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

static long long now_ns(clockid_t clock)
{
	struct timespec time;
	clock_gettime(clock, &time);
	return time.tv_sec * 1000000000LL + time.tv_nsec;
}

/* A socket's time limit counts ticks, as TCP's timers do: how long one of 3 ms takes. */
static void tick(void)
{
	struct timeval limit = {0, 3000};
	int waiting = socket(AF_INET, SOCK_DGRAM, 0);
	char byte;
	setsockopt(waiting, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
	for (int turn = 0; turn < 5; turn++) {
		long long began = now_ns(CLOCK_MONOTONIC);
		if (recv(waiting, &byte, 1, 0) > 0)
			abort();
		printf("tick %lld\n", now_ns(CLOCK_MONOTONIC) - began);
	}
}

static void read_clocks(void)
{
	struct timeval time;
	for (int turn = 0; turn < 100; turn++) {
		now_ns(CLOCK_MONOTONIC);
		now_ns(CLOCK_REALTIME);
		now_ns(CLOCK_BOOTTIME);
		now_ns(CLOCK_MONOTONIC_RAW);
		now_ns(CLOCK_MONOTONIC_COARSE);
		gettimeofday(&time, NULL);
	}
}

/* How many system calls 600 readings of clocks are, as a tracer sees them. */
static void reading(void)
{
	struct user_regs_struct registers;
	int status, marks = 0, calls = 0;
	pid_t child = fork();
	if (child == 0) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		getppid();
		read_clocks();
		getppid();
		_exit(0);
	}
	waitpid(child, &status, 0);
	ptrace(PTRACE_SETOPTIONS, child, NULL, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL);
	for (;;) {
		ptrace(PTRACE_SYSCALL, child, NULL, NULL);
		waitpid(child, &status, 0);
		if (!WIFSTOPPED(status))
			break;
		ptrace(PTRACE_GETREGS, child, NULL, &registers);
		if (registers.orig_rax == SYS_getppid)
			marks++;
		else if (marks == 2)
			calls++;
	}
	printf("reading %d\n", calls / 2);
}

/* What a reading takes, by the vDSO and by a system call in turn. */
static void steps(void)
{
	struct timespec time;
	long long before = now_ns(CLOCK_MONOTONIC);
	for (int turn = 0; turn < 4; turn++) {
		syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &time);
		long long called = time.tv_sec * 1000000000LL + time.tv_nsec;
		long long read = now_ns(CLOCK_MONOTONIC);
		printf("steps %lld\nsteps %lld\n", called - before, read - called);
		before = read;
	}
}

/* How many pages of a file the kernel has, which this program has not read since it opened it. */
static int kept_pages(const char *name)
{
	int file = open(name, O_RDONLY), kept = 0;
	struct stat found;
	if (file < 0 || fstat(file, &found))
		abort();
	size_t pages = (found.st_size + 4095) / 4096;
	unsigned char *here = calloc(pages, 1);
	void *mapped = mmap(NULL, found.st_size, PROT_READ, MAP_SHARED, file, 0);
	if (mapped == MAP_FAILED || mincore(mapped, found.st_size, here))
		abort();
	for (size_t page = 0; page < pages; page++)
		kept += here[page] & 1;
	munmap(mapped, found.st_size);
	close(file);
	free(here);
	return kept;
}

static void read_whole(const char *name)
{
	static char buffer[65536];
	int file = open(name, O_RDONLY);
	while (read(file, buffer, sizeof buffer) > 0)
		;
	close(file);
}

/* Pages of a file in memory before it was ever read, and after it was closed again. */
static void kept(void)
{
	static const char name[] = "/lab/extras/patches/ballast";
	int before = kept_pages(name);
	read_whole(name);
	printf("kept %d\nkept %d\n", before, kept_pages(name));
}

/* Pages in memory of a large file that has been read from its begin to its end. */
static void dropped(void)
{
	static const char name[] = "/lab/extras/patches/large";
	read_whole(name);
	printf("dropped %d\n", kept_pages(name));
}

/* How far the processor's time stamp counter goes in 5 ms, and the monotonic clock around it. */
static void counter(void)
{
	long long began = now_ns(CLOCK_MONOTONIC);
	unsigned long long before = __rdtsc();
	usleep(5000);
	unsigned long long after = __rdtsc();
	printf("counter %lld\ncounter %lld\n", now_ns(CLOCK_MONOTONIC) - began, (long long)(after - before));
}

/* How many of 64 private pages are there after each of some is written to. */
static void ahead(void)
{
	enum { PAGE = 4096, PAGES = 64 };
	unsigned char here[PAGES];
	char *area = aligned_alloc(1 << 21, 1 << 21);
	char *mapped = mmap(area, PAGES * PAGE, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	mprotect(mapped + PAGES * PAGE, PAGE, PROT_NONE);
	static const int written[] = {8, 60, 7, 16};
	for (int i = 0; i < 4; i++) {
		int there = 0;
		mapped[written[i] * PAGE] = 1;
		if (mincore(mapped, PAGES * PAGE, here))
			abort();
		for (int page = 0; page < PAGES; page++)
			there += here[page] & 1;
		printf("ahead %d\n", there);
	}
}

/* Pages of its own that the process has, of files not counted: RssAnon of proc_pid_status(5). */
static int own_pages(void)
{
	static char status[4096];
	int file = open("/proc/self/status", O_RDONLY);
	status[read(file, status, sizeof status - 1)] = 0;
	close(file);
	return atoi(strstr(status, "RssAnon:") + strlen("RssAnon:")) / 4;
}

/* How many of a file's 64 private pages, all of them read before, are copied when one is written to. */
static void copied(void)
{
	enum { PAGE = 4096, PAGES = 64 };
	int file = open("/lab/extras/patches/ballast", O_RDONLY);
	volatile char *mapped = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0);
	int before = 0, written[] = {8, 60, 7};
	for (int page = 0; page < PAGES; page++)
		(void)mapped[page * PAGE];
	/* Until the calls of this itself change nothing more (0020) */
	for (int call = 0; call < 10; call++)
		before = own_pages();
	for (int i = 0; i < 3; i++) {
		mapped[written[i] * PAGE] = 1;
		printf("copied %d\n", own_pages() - before);
		fflush(stdout);
	}
}

/* Calls that the kernel answers at once. */
static void calls(void)
{
	for (int call = 0; call < 20000; call++)
		getppid();
}

/* A call as the C library makes it, at one place each: of the length that the kernel looks for. */
#define CALL(place, number)                                                                          \
	__attribute__((noinline)) static long place(long first, long second, long third)              \
	{                                                                                              \
		long result;                                                                           \
		asm volatile(".globl " #place "_site\n" #place "_site: movl %1, %%eax\n\tsyscall"         \
			     : "=a"(result)                                                            \
			     : "i"(number), "D"(first), "S"(second), "d"(third)                        \
			     : "rcx", "r11", "memory");                                                \
		return result;                                                                         \
	}                                                                                              \
	extern const unsigned char place##_site[];

CALL(asked, SYS_getppid)
CALL(received, SYS_read)

static int is_replaced(const unsigned char *site)
{
	return !(site[5] == 0x0f && site[6] == 0x05);
}

/* Whether the code of a call is another one before and after a hundred calls. */
static void replaced(void)
{
	printf("replaced %d\n", is_replaced(asked_site));
	for (int call = 0; call < 100; call++)
		if (asked(0, 0, 0) != getppid())
			abort();
	printf("replaced %d\n", is_replaced(asked_site));
}

static int pipe_ends[2];

static void write_byte(int sig)
{
	(void)sig;
	if (write(pipe_ends[1], "x", 1) != 1)
		abort();
}

/* What a call of which a signal's handler interrupts the waiting returns in the end: bytes. */
static void restarted(void)
{
	struct sigaction action = {.sa_handler = write_byte, .sa_flags = SA_RESTART};
	struct itimerval soon = {.it_value = {.tv_usec = 10000}};
	char byte;
	if (pipe(pipe_ends) || sigaction(SIGALRM, &action, NULL))
		abort();
	for (int turn = 0; turn < 10; turn++) {
		setitimer(ITIMER_REAL, &soon, NULL);
		printf("restarted %ld\n", received(pipe_ends[0], (long)&byte, 1));
	}
	if (!is_replaced(received_site))
		abort();
}

/* The registers that a call does not change, but those that the compiler wants for itself. */
struct registers {
	unsigned long general[6];
	unsigned char vectors[4][16]; /* of XMM0, 1, 7 and 15 */
};

/* Makes a call with these registers, and looks for what it has left there. */
__attribute__((noinline)) static long call_with(long number, long first, void *second, long third,
						const struct registers *set, struct registers *left)
{
	register long r10 asm("r10") = (long)set;
	register long r9 asm("r9") = (long)left;
	asm volatile("push %%rbx\n\tpush %%rbp\n\t"
		     "mov (%%r10), %%rbx\n\tmov 8(%%r10), %%rbp\n\tmov 16(%%r10), %%r12\n\t"
		     "mov 24(%%r10), %%r13\n\tmov 32(%%r10), %%r14\n\tmov 40(%%r10), %%r15\n\t"
		     "movups 48(%%r10), %%xmm0\n\tmovups 64(%%r10), %%xmm1\n\t"
		     "movups 80(%%r10), %%xmm7\n\tmovups 96(%%r10), %%xmm15\n\t"
		     "sub $8, %%rsp\n\tmov %%rax, (%%rsp)\n\t"
		     ".byte 0x48, 0x8b, 0x44, 0x24, 0x00\n\tsyscall\n\t"
		     "add $8, %%rsp\n\t"
		     "mov %%rbx, (%%r9)\n\tmov %%rbp, 8(%%r9)\n\tmov %%r12, 16(%%r9)\n\t"
		     "mov %%r13, 24(%%r9)\n\tmov %%r14, 32(%%r9)\n\tmov %%r15, 40(%%r9)\n\t"
		     "movups %%xmm0, 48(%%r9)\n\tmovups %%xmm1, 64(%%r9)\n\t"
		     "movups %%xmm7, 80(%%r9)\n\tmovups %%xmm15, 96(%%r9)\n\t"
		     "pop %%rbp\n\tpop %%rbx"
		     : "+a"(number)
		     : "D"(first), "S"(second), "d"(third), "r"(r10), "r"(r9)
		     : "rcx", "r11", "r12", "r13", "r14", "r15", "xmm0", "xmm1", "xmm7", "xmm15", "cc",
		       "memory");
	return number;
}

/* How often one of two processes that answer each other finds other registers after a call. */
static void registers(void)
{
	enum { TURNS = 200 };
	struct registers set, left;
	int there[2], back[2], wrong = 0, status;
	if (pipe(there) || pipe(back))
		abort();
	pid_t child = fork();
	memset(&set, child ? 0x5a : 0xc3, sizeof set);
	for (int turn = 0; turn < TURNS; turn++) {
		char byte = 'x';
		int in = child ? back[0] : there[0], out = child ? there[1] : back[1];
		set.general[turn % 6] += turn;
		set.vectors[turn % 4][turn % 16] ^= turn;
		for (int step = 0; step < 2; step++) {
			int writes = step == !child;
			left = (struct registers){0};
			if (call_with(writes ? SYS_write : SYS_read, writes ? out : in, &byte, 1, &set, &left) != 1)
				abort();
			wrong += !!memcmp(&set, &left, sizeof set);
		}
	}
	if (!child)
		_exit(wrong != 0);
	waitpid(child, &status, 0);
	printf("registers %d\n", wrong + !!status);
}

static void with_alignment_checks(void)
{
	for (int call = 0; call < 10; call++)
		asm volatile("pushfq\n\torq $0x40000, (%%rsp)\n\tpopfq\n\tmovl %0, %%eax\n\tsyscall\n\t"
			     "pushfq\n\tandq $~0x40000, (%%rsp)\n\tpopfq"
			     :
			     : "i"(SYS_getppid)
			     : "rax", "rcx", "r11", "cc", "memory");
	_exit(0);
}

static void with_a_base_that_cannot_be(void)
{
	syscall(SYS_arch_prctl, ARCH_SET_FS, 1UL << 47);
	_exit(0);
}

static void with_a_stack_that_cannot_be(void)
{
	asm volatile("movq $8, %rsp\n\tcall getppid");
}

/* How many processes have ended that did what the kernel could not bear if it did not take care. */
static void careless(void)
{
	static void (*const ways[])(void) = {with_alignment_checks, with_a_base_that_cannot_be,
					     with_a_stack_that_cannot_be};
	int ended = 0;
	for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
		pid_t child = fork();
		if (!child)
			ways[i]();
		ended += waitpid(child, NULL, 0) == child;
	}
	printf("careless %d\n", ended);
}

/* How many bytes of memory that nobody wrote to are not zero. */
static void zeros(void)
{
	enum { SIZE = 1 << 20 };
	const volatile char *mapped = mmap(NULL, SIZE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int others = 0;
	for (int at = 0; at < SIZE; at++)
		others += mapped[at] != 0;
	printf("zeros %d\n", others);
}

static siginfo_t fault;
static sigjmp_buf after_fault;

static void note_fault(int sig, siginfo_t *info, void *context)
{
	(void)sig, (void)context;
	fault = *info;
	siglongjmp(after_fault, 1);
}

/* Signal, code and address of faults: a 32-bit call, a privileged instruction, one that there is not. */
static void faults(void)
{
	struct sigaction action = {.sa_sigaction = note_fault, .sa_flags = SA_SIGINFO};
	sigaction(SIGSEGV, &action, NULL);
	sigaction(SIGILL, &action, NULL);
	if (!sigsetjmp(after_fault, 1))
		asm volatile("int $0x80" : : "a"(20) : "memory");
	printf("faults %d\nfaults %d\nfaults %d\n", fault.si_signo, fault.si_code, fault.si_addr == NULL);
	if (!sigsetjmp(after_fault, 1))
		asm volatile("hlt");
	printf("faults %d\nfaults %d\nfaults %d\n", fault.si_signo, fault.si_code, fault.si_addr == NULL);
	if (!sigsetjmp(after_fault, 1))
		asm volatile(".globl no_instruction\nno_instruction: ud2");
	extern char no_instruction[];
	printf("faults %d\nfaults %d\n", fault.si_signo, fault.si_addr == (void *)no_instruction);
}

static volatile sig_atomic_t expired;

static void expire(int sig)
{
	(void)sig;
	expired++;
}

/* Whether a timer of user time expires, within 5 s, for who reads a clock */
static void user(void)
{
	struct itimerval soon = {.it_value = {.tv_usec = 100000}};
	struct timespec first, now;
	signal(SIGVTALRM, expire);
	setitimer(ITIMER_VIRTUAL, &soon, NULL);
	clock_gettime(CLOCK_MONOTONIC, &first);
	do
		clock_gettime(CLOCK_MONOTONIC, &now);
	while (!expired && now.tv_sec - first.tv_sec < 5);
	printf("user %d\n", expired);
}

static const struct {
	const char *name;
	void (*carry_out)(void);
} trials[] = {
	{"tick", tick}, {"reading", reading}, {"steps", steps},
	{"kept", kept}, {"dropped", dropped}, {"counter", counter},
	{"ahead", ahead}, {"copied", copied}, {"calls", calls},
	{"replaced", replaced}, {"restarted", restarted}, {"registers", registers},
	{"careless", careless}, {"zeros", zeros}, {"faults", faults}, {"user", user},
};

int main(int count, char **names)
{
	for (int word = 1; word < count; word++)
		for (size_t i = 0; i < sizeof trials / sizeof *trials; i++)
			if (!strcmp(names[word], trials[i].name)) {
				trials[i].carry_out();
				fflush(stdout);
			}
	return 0;
}
