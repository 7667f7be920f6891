/*
 * What the lab kernel's patches do for programs, each told by itself. Arguments: names of trials.
 */
#define _GNU_SOURCE
#include <fcntl.h>
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
	int before, written[] = {8, 60, 7};
	for (int page = 0; page < PAGES; page++)
		(void)mapped[page * PAGE];
	own_pages();
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

static const struct {
	const char *name;
	void (*carry_out)(void);
} trials[] = {
	{"tick", tick}, {"reading", reading}, {"steps", steps},
	{"kept", kept}, {"dropped", dropped}, {"counter", counter},
	{"ahead", ahead}, {"copied", copied}, {"calls", calls},
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
