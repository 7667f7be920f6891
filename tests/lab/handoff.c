/*
 * Storms of what interrupts the hand-off of system calls between a process and the lab's kernel.
 * Arguments: names of storms. Prints what came of each, which is the same on every Linux.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t handled;
static char *self;
extern char **environ;

static void handle(int number) { handled += number != 0; }

static void handle_signal(int number, int flags)
{
	struct sigaction action = {.sa_handler = handle, .sa_flags = flags};
	handled = 0;
	sigaction(number, &action, NULL);
}

static void await(pid_t child)
{
	int status;
	if (waitpid(child, &status, 0) != child || status != 0)
		printf("a child ended with status %x\n", status);
}

/*
 * A million signals, each to oneself: none is lost, and registers are as they were. It sleeps now and
 * then, or in virtual time the lab would take it for a busy wait.
 */
static void signals(void)
{
	register unsigned long kept = 0x0123456789abcdef;
	handle_signal(SIGUSR1, 0);
	for (int sent = 0; sent < 1000000; sent++) {
		asm volatile("" : "+r"(kept));
		raise(SIGUSR1);
		if (sent % 10000 == 0)
			usleep(1);
	}
	printf("signals: %d, %lx\n", (int)handled, kept);
}

/* A timer interrupts reading: it is begun again, or fails, as asked. */
static void interrupt_reading(int flags)
{
	struct itimerval every = {{0, 1000}, {0, 1000}}, never = {{0, 0}, {0, 0}};
	int ends[2], failed = 0;
	char byte = 0;
	if (pipe(ends))
		return;
	pid_t child = fork();
	if (child == 0) {
		for (int written = 0; written < 100; written++) {
			usleep(5500);
			if (write(ends[1], &written, 1) != 1)
				_exit(1);
		}
		_exit(0);
	}
	handle_signal(SIGALRM, flags);
	setitimer(ITIMER_REAL, &every, NULL);
	for (int got = 0; got < 100;) {
		if (read(ends[0], &byte, 1) == 1)
			got += byte == got;
		else if (errno == EINTR)
			failed++;
		else
			break;
	}
	setitimer(ITIMER_REAL, &never, NULL);
	signal(SIGALRM, SIG_IGN);
	await(child);
	printf("reading: to byte %d, %s interrupted, %s\n", byte, handled > 100 ? "often" : "seldom",
	       failed > 100 ? "failed" : failed ? "failed at times" : "never failed");
	close(ends[0]);
	close(ends[1]);
}

static void restarts(void)
{
	interrupt_reading(SA_RESTART);
	interrupt_reading(0);
}

static __attribute__((noinline)) pid_t execute_by_vfork(char **words)
{
	pid_t child = vfork();
	if (child == 0) {
		execv(self, words);
		_exit(1);
	}
	return child;
}

/* Children by fork, vfork and posix_spawn, which execute this program, which does nothing. */
static void execs(void)
{
	char *words[] = {self, NULL};
	for (int round = 0; round < 100; round++) {
		pid_t child = fork();
		if (child == 0)
			_exit(execv(self, words));
		await(child);
		await(execute_by_vfork(words));
		if (posix_spawn(&child, self, NULL, NULL, words, environ) == 0)
			await(child);
	}
	printf("execs: done\n");
}

static atomic_int counted;
static pthread_barrier_t all_there;

static void *count(void *unused)
{
	pthread_barrier_wait(&all_there);
	for (int calls = 0; calls < 10; calls++)
		if (syscall(SYS_gettid) > 0)
			atomic_fetch_add(&counted, 1);
	return unused;
}

/* Ten thousand threads, five hundred at a time, which all call; another one is signalled. */
static void threads(void)
{
	enum { AT_A_TIME = 500 };
	static pthread_t made[AT_A_TIME];
	pthread_attr_t small;
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 65536);
	pthread_barrier_init(&all_there, NULL, AT_A_TIME);
	handle_signal(SIGUSR1, SA_RESTART);
	atomic_store(&counted, 0);
	for (int round = 0; round < 20; round++) {
		for (int i = 0; i < AT_A_TIME; i++)
			if (pthread_create(&made[i], &small, count, NULL))
				abort();
		raise(SIGUSR1);
		for (int i = 0; i < AT_A_TIME; i++)
			pthread_join(made[i], NULL);
	}
	printf("threads: %d calls, %d signals\n", atomic_load(&counted), (int)handled);
}

/* Ten thousand threads at once, each asleep in a call until all are there; then each calls again. */
static void crowd(void)
{
	enum { ALL = 10000 };
	static pthread_t made[ALL];
	pthread_attr_t small;
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 16384);
	pthread_barrier_init(&all_there, NULL, ALL);
	handle_signal(SIGUSR1, SA_RESTART);
	atomic_store(&counted, 0);
	for (int i = 0; i < ALL; i++) {
		if (pthread_create(&made[i], &small, count, NULL))
			abort();
		if (i % 100 == 0)
			raise(SIGUSR1);
	}
	for (int i = 0; i < ALL; i++)
		pthread_join(made[i], NULL);
	printf("crowd: %d calls, %d signals\n", atomic_load(&counted), (int)handled);
}

static __attribute__((noinline)) pid_t end_by_vfork(void)
{
	pid_t child = vfork();
	if (child == 0)
		_exit(7);
	return child;
}

/* Children by fork and vfork that end by themselves, or by a signal in the midst of calls. */
static void clones(void)
{
	int ended = 0, killed = 0, status;
	for (int round = 0; round < 500; round++) {
		pid_t calling = fork();
		if (calling == 0)
			for (;;)
				usleep(getppid() > 0);
		end_by_vfork();
		pid_t grandparent = fork();
		if (grandparent == 0) {
			pid_t child = fork();
			if (child == 0)
				_exit(getppid() > 0 ? 0 : 1);
			await(child);
			_exit(7);
		}
		kill(calling, round % 2 ? SIGKILL : SIGTERM);
		for (int child = 0; child < 3; child++) {
			wait(&status);
			ended += WIFEXITED(status) && WEXITSTATUS(status) == 7;
			killed += WIFSIGNALED(status);
		}
	}
	printf("clones: %d ended, %d killed\n", ended, killed);
}

enum { TURNS = 20000 };

static void answer(int number, siginfo_t *told, void *unused)
{
	union sigval next = {.sival_int = told->si_value.sival_int + (unused != NULL)};
	handled = next.sival_int;
	if (handled < TURNS)
		sigqueue(told->si_pid, number, next);
}

/* Two processes answer each other's signals, each in the midst of calls; the numbers arrive in order. */
static void signals_between(void)
{
	struct sigaction action = {.sa_sigaction = answer, .sa_flags = SA_SIGINFO};
	union sigval first = {.sival_int = 0};
	sigaction(SIGRTMIN, &action, NULL);
	handled = 0;
	pid_t child = fork();
	if (child == 0)
		for (;;)
			usleep(1);
	sigqueue(child, SIGRTMIN, first);
	while (handled < TURNS)
		usleep(1);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	signal(SIGRTMIN, SIG_IGN);
	printf("signals-between: %s\n", handled == TURNS ? "all answered" : "too many");
}

static void *run_self(void *words)
{
	pid_t child = execute_by_vfork(words);
	await(child);
	return NULL;
}

/* A tracer follows threads, forks and executions of another process, and sees each begin. */
static void following(void)
{
	static char *words[2];
	int status, seen[32] = {0};
	words[0] = self;
	pid_t child = fork(), one;
	if (child == 0) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		for (int round = 0; round < 50; round++) {
			pthread_t thread;
			pthread_create(&thread, NULL, run_self, words);
			pid_t forked = fork();
			if (forked == 0)
				_exit(0);
			pthread_join(thread, NULL);
			await(forked);
		}
		_exit(0);
	}
	waitpid(child, &status, 0);
	ptrace(PTRACE_SETOPTIONS, child, NULL, PTRACE_O_EXITKILL | PTRACE_O_TRACECLONE |
	       PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACEEXEC);
	ptrace(PTRACE_CONT, child, NULL, NULL);
	while ((one = waitpid(-1, &status, __WALL)) > 0) {
		int event = WIFSTOPPED(status) ? status >> 16 : 0, number = 0;
		if (!WIFSTOPPED(status))
			continue;
		seen[event & 31]++;
		if (event == 0 && WSTOPSIG(status) != SIGSTOP)
			number = WSTOPSIG(status);
		ptrace(PTRACE_CONT, one, NULL, number);
	}
	printf("following: %d threads, %d forks, %d vforks, %d executions\n", seen[PTRACE_EVENT_CLONE],
	       seen[PTRACE_EVENT_FORK], seen[PTRACE_EVENT_VFORK], seen[PTRACE_EVENT_EXEC]);
}

/* A tracer sees each call with its registers, changes results, and steps. */
static void tracing(void)
{
	struct user_regs_struct registers;
	int status, seen = 0, steps = 0;
	pid_t child = fork();
	if (child == 0) {
		long sum = 0;
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		for (int calls = 0; calls < 1000; calls++)
			sum += syscall(SYS_getppid, calls);
		_exit(sum == 2000 ? 0 : 1);
	}
	waitpid(child, &status, 0);
	ptrace(PTRACE_SETOPTIONS, child, NULL, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL);
	for (;;) {
		ptrace(PTRACE_SYSCALL, child, NULL, NULL);
		waitpid(child, &status, 0);
		if (!WIFSTOPPED(status))
			break;
		ptrace(PTRACE_GETREGS, child, NULL, &registers);
		if (registers.orig_rax != SYS_getppid || registers.rax == (unsigned long)-ENOSYS)
			continue;
		seen += registers.rdi == (unsigned long)seen;
		registers.rax = 2;
		ptrace(PTRACE_SETREGS, child, NULL, &registers);
		for (int i = 0; i < 2; i++, steps++) {
			ptrace(PTRACE_SINGLESTEP, child, NULL, NULL);
			waitpid(child, &status, 0);
		}
	}
	printf("tracing: %d calls, %d steps, exit status %d\n", seen, steps, WEXITSTATUS(status));
}

static const struct {
	const char *name;
	void (*carry_out)(void);
} storms[] = {
	{"signals", signals}, {"restarts", restarts}, {"execs", execs},
	{"threads", threads}, {"crowd", crowd}, {"clones", clones},
	{"signals-between", signals_between}, {"tracing", tracing}, {"following", following},
};

int main(int count, char **names)
{
	self = names[0];
	for (int word = 1; word < count; word++)
		for (size_t i = 0; i < sizeof storms / sizeof *storms; i++)
			if (!strcmp(names[word], storms[i].name)) {
				storms[i].carry_out();
				fflush(stdout);
			}
	return 0;
}
