/*
 * What it costs at least to hand a call of one process over to another one on the same core, and back: the
 * floor of a lab's system calls on this host if its kernel had a process of its own. Real time, in microseconds.
 *
 *     gcc -O2 -o /tmp/handover bench/handover.c && taskset -c 1 /tmp/handover
 */
#define _GNU_SOURCE
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

enum { TIMES = 200000 };

static double now_us(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1e6 + now.tv_nsec / 1e3;
}

static void tell(const char *what, double began_us)
{
	printf("%-60s %.2f us\n", what, (now_us() - began_us) / TIMES);
}

/* From now on, getppid() does what the filter says. */
static int filter_getppid(unsigned action, unsigned flags)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_getppid, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, action),
	};
	struct sock_fprog program = {.len = 4, .filter = filter};
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	return syscall(__NR_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
}

/* The other process answers each call: as labs do. */
static void notifications(void)
{
	int told[2], listener, pid;
	if (pipe(told))
		abort();
	if (!(pid = fork())) {
		listener = filter_getppid(SECCOMP_RET_USER_NOTIF, SECCOMP_FILTER_FLAG_NEW_LISTENER);
		if (write(told[1], &listener, sizeof listener) < 0)
			abort();
		for (int i = 0; i < TIMES; i++)
			syscall(__NR_getppid);
		_exit(0);
	}
	if (read(told[0], &listener, sizeof listener) < 0)
		abort();
	listener = syscall(__NR_pidfd_getfd, syscall(__NR_pidfd_open, pid, 0), listener, 0);
	if (listener < 0)
		abort();
#ifdef SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP
	ioctl(listener, SECCOMP_IOCTL_NOTIF_SET_FLAGS, SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP);
#endif
	double began_us = now_us();
	for (int i = 0; i < TIMES; i++) {
		struct seccomp_notif call = {0};
		if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &call))
			abort();
		struct seccomp_notif_resp answer = {.id = call.id, .val = 1};
		ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
	}
	tell("a seccomp notification, received and answered", began_us);
	wait(NULL);
}

static void take_turns(int *turn, int mine)
{
	for (int i = 0; i < TIMES; i++) {
		while (__atomic_load_n(turn, __ATOMIC_SEQ_CST) != mine)
			syscall(__NR_futex, turn, FUTEX_WAIT, !mine, NULL, NULL, 0);
		__atomic_store_n(turn, !mine, __ATOMIC_SEQ_CST);
		syscall(__NR_futex, turn, FUTEX_WAKE, 1, NULL, NULL, 0);
	}
}

static void futexes(void)
{
	int *turn = mmap(NULL, sizeof *turn, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (!fork()) {
		take_turns(turn, 1);
		_exit(0);
	}
	double began_us = now_us();
	take_turns(turn, 0);
	wait(NULL);
	tell("a futex there and one back", began_us);
}

static void returns_one(int signal, siginfo_t *info, void *context)
{
	(void)signal;
	(void)info;
	((ucontext_t *)context)->uc_mcontext.gregs[REG_RAX] = 1;
}

/* No other process: the least that a call costs which is answered where it is made. */
static void signals(void)
{
	struct sigaction action = {.sa_sigaction = returns_one, .sa_flags = SA_SIGINFO};
	sigaction(SIGSYS, &action, NULL);
	filter_getppid(SECCOMP_RET_TRAP, 0);
	double began_us = now_us();
	for (int i = 0; i < TIMES; i++)
		syscall(__NR_getppid);
	tell("a signal of a filter, in the same process", began_us);
}

int main(void)
{
	setbuf(stdout, NULL);
	double began_us = now_us();
	for (int i = 0; i < TIMES; i++)
		syscall(__NR_getppid);
	tell("a system call", began_us);
	notifications();
	futexes();
	signals();
	return 0;
}
