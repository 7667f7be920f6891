/*
 * What a program may do with code that makes calls: its own, and, where it is dynamic, the C library's.
 * Each case is a child's, after the call was made often enough to be replaced.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE 4096UL
#define SIZE 7 /* of the two instructions that make a call */

typedef long (*call)(void);

asm(".text\n.balign 4096\n.globl own\nown: mov $39, %eax\nsyscall\nret\n.balign 4096\n");
extern unsigned char own[];
static const unsigned char getpid_code[] = {0xb8, 39, 0, 0, 0, 0x0f, 0x05, 0xc3};

static void *fresh_page(void)
{
	return mmap(NULL, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static int copied_and_gone(void)
{
	unsigned char *copy = fresh_page();
	memcpy(copy, own, sizeof getpid_code);
	munmap(own, PAGE);
	return ((call)copy)() == getpid();
}

static int copied_before_other_code(void)
{
	unsigned char *copy = fresh_page();
	memcpy(copy, own, SIZE);
	memcpy(copy + SIZE, "\x83\xc0\x01\xc3", 4); /* add $1, %eax; ret */
	return ((call)copy)() == getpid() + 1;
}

static int changed(void)
{
	mprotect(own, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC);
	own[1] = 110;
	return ((call)own)() == getppid();
}

static int compared(void)
{
	return !memcmp(own, getpid_code, sizeof getpid_code);
}

/* As compilers at run time do that have no memory which is both writable and executable */
static int of_two_views(void)
{
	int file = memfd_create("code", 0), right = ftruncate(file, PAGE) == 0;
	unsigned char *written = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	call run[] = {
		(call)mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0),
		(call)mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_SHARED, file, 0),
	};
	memcpy(written, getpid_code, sizeof getpid_code);
	for (int turn = 0; turn < 1000; turn++) {
		written[1] = turn / 3 % 2 ? 39 : 110;
		right &= run[turn % 2]() == (turn / 3 % 2 ? getpid() : getppid());
	}
	return right;
}

/* Where the C library, or this program, makes the call of getppid() */
static unsigned char *site(void)
{
	unsigned char *at = (unsigned char *)getppid;
	while (memcmp(at, "\xb8\x6e\0\0\0\x0f\x05", SIZE))
		at++;
	return at;
}

static unsigned char *library_site;
static const unsigned char getppid_code[] = {0xb8, 110, 0, 0, 0, 0x0f, 0x05};

static int right_code(const void *code)
{
	return !memcmp(code, getppid_code, SIZE);
}

static int read_by_a_call(void)
{
	unsigned char code[SIZE];
	int ends[2];
	return !pipe(ends) && write(ends[1], library_site, SIZE) == SIZE &&
	       read(ends[0], code, SIZE) == SIZE && right_code(code);
}

static int read_as_memory(void)
{
	unsigned char code[SIZE];
	int memory = open("/proc/self/mem", O_RDONLY);
	return pread(memory, code, SIZE, (long)library_site) == SIZE && right_code(code);
}

static int read_by_the_parent(pid_t child)
{
	unsigned char code[SIZE];
	char name[64];
	snprintf(name, sizeof name, "/proc/%d/mem", child);
	int memory = open(name, O_RDONLY);
	return pread(memory, code, SIZE, (long)library_site) == SIZE && right_code(code);
}

/* The file of the code, found as programs find it */
static int compared_with_the_file(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[512], name[256];
	unsigned long start, end, offset;
	while (fgets(line, sizeof line, maps)) {
		if (sscanf(line, "%lx-%lx %*s %lx %*s %*s %255s", &start, &end, &offset, name) == 4 &&
		    start <= (unsigned long)library_site && (unsigned long)library_site < end) {
			unsigned char *content = malloc(end - start);
			int file = open(name, O_RDONLY);
			long size = pread(file, content, end - start, offset);
			return size > 0 && !memcmp(content, (void *)start, size);
		}
	}
	return 0;
}

static int library_changed(void)
{
	void *page = (void *)((unsigned long)library_site & -PAGE);
	if (mprotect(page, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC))
		return 0;
	library_site[1] = 39;
	return getppid() == getpid();
}

/* A debugger that comes later, with a breakpoint at the second instruction */
static int stopped_at_a_breakpoint(pid_t child)
{
	int status;
	struct user_regs_struct registers;
	unsigned char *second = library_site + 5;
	if (ptrace(PTRACE_ATTACH, child, 0, 0) || waitpid(child, &status, 0) != child)
		return 0;
	long code = ptrace(PTRACE_PEEKTEXT, child, second, 0);
	ptrace(PTRACE_POKETEXT, child, second, (code & ~0xffL) | 0xcc);
	ptrace(PTRACE_CONT, child, 0, 0);
	waitpid(child, &status, 0);
	ptrace(PTRACE_GETREGS, child, 0, &registers);
	return (code & 0xffff) == 0x050f && WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP &&
	       registers.rip == (unsigned long)second + 1 && registers.rax == 110;
}

static const struct {
	const char *name;
	int (*is_right)(void);
	int (*is_right_of_child)(pid_t child);
	int is_of_library;
} cases[] = {
	{"copied and gone", copied_and_gone, NULL, 0},
	{"copied before other code", copied_before_other_code, NULL, 0},
	{"changed", changed, NULL, 0},
	{"compared", compared, NULL, 0},
	{"of two views", of_two_views, NULL, 0},
	{"read by a call", read_by_a_call, NULL, 1},
	{"read as memory", read_as_memory, NULL, 1},
	{"read by the parent", NULL, read_by_the_parent, 1},
	{"compared with the file", compared_with_the_file, NULL, 1},
	{"library changed", library_changed, NULL, 1},
	{"stopped at a breakpoint", NULL, stopped_at_a_breakpoint, 1},
};

static void call_often(void)
{
	for (int turn = 0; turn < 20; turn++) {
		((call)own)();
		getppid();
	}
}

int main(int count, char **words)
{
	int of_library = count > 1 && !strcmp(words[1], "library");
	library_site = site();
	for (size_t at = 0; at < sizeof cases / sizeof *cases; at++) {
		int ready[2], status, right = 0;
		char byte = 0;
		if (cases[at].is_of_library && !of_library)
			continue;
		if (pipe(ready))
			abort();
		pid_t child = fork();
		if (child == 0) {
			call_often();
			/* Whether the C library's code is another one, as this load says and no call sees */
			byte = right_code(library_site) ? 'a' : 'b';
			if (write(ready[1], &byte, 1) != 1)
				abort();
			if (cases[at].is_right)
				_exit(!cases[at].is_right());
			for (;;)
				getppid();
		}
		if (read(ready[0], &byte, 1) != 1)
			abort();
		if (cases[at].is_right_of_child) {
			right = cases[at].is_right_of_child(child);
			kill(child, SIGKILL);
		}
		waitpid(child, &status, 0);
		right |= WIFEXITED(status) && !WEXITSTATUS(status);
		printf("%s: %s%s\n", cases[at].name, right ? "right" : "wrong",
		       byte == 'b' ? ", replaced" : "");
		fflush(stdout);
	}
	return 0;
}
