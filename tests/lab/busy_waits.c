/*
 * Waits without sleeping, in as many ways as programs do: each prints when it ended, on the
 * monotonic clock since it began. Arguments: names of waits, carried out one after the other, with a
 * sleep in between.
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/times.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t rings;
static atomic_int told;

static void on_alarm(int number) { rings += number == SIGALRM; }

static long long now_ns(clockid_t clock)
{
	struct timespec time;
	clock_gettime(clock, &time);
	return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static void alarm_in_a_second(void)
{
	rings = 0;
	signal(SIGALRM, on_alarm);
	alarm(1);
}

static void until_process_times_change(void)
{
	for (clock_t before = times(NULL); times(NULL) == before;)
		;
}

static void until_a_clock_changes(clockid_t clock, long long by_ns)
{
	for (long long before = now_ns(clock); now_ns(clock) < before + by_ns;)
		;
}

static void until_the_coarse_clock_changes(void) { until_a_clock_changes(CLOCK_MONOTONIC_COARSE, 1); }

/* The same without the vDSO: the kernel counts as it does. */
static void until_the_kernels_coarse_clock_changes(void)
{
	struct timespec before, now;
	syscall(SYS_clock_gettime, CLOCK_MONOTONIC_COARSE, &before);
	do
		syscall(SYS_clock_gettime, CLOCK_MONOTONIC_COARSE, &now);
	while (now.tv_nsec == before.tv_nsec);
}

static void until_seconds_change(void)
{
	for (time_t before = time(NULL); time(NULL) == before;)
		;
}

static void until_the_clock_changes(void) { until_a_clock_changes(CLOCK_MONOTONIC, 10000000); }

static void until_two_ms_were_used(void)
{
	struct rusage used;
	do
		getrusage(RUSAGE_SELF, &used);
	while (used.ru_utime.tv_usec + used.ru_stime.tv_usec < 2000);
}

static void calling_until_an_alarm(void)
{
	for (alarm_in_a_second(); !rings;)
		getppid();
}

static void yielding_until_an_alarm(void)
{
	for (alarm_in_a_second(); !rings;)
		sched_yield();
}

static void computing_until_an_alarm(void)
{
	for (alarm_in_a_second(); !rings;)
		;
}

/* A call every few milliseconds of the host's processor, which fails, and so takes a microsecond. */
static void computing_with_failures_until_an_alarm(void)
{
	for (alarm_in_a_second(); !rings; close(-1))
		for (volatile int count = 0; count < 5000000; count++)
			;
}

/* Each alarm is a call, after which the computing goes on. */
static void computing_until_a_hundred_alarms(void)
{
	struct itimerval every = {{0, 5000}, {0, 5000}}, never = {{0, 0}, {0, 0}};
	rings = 0;
	signal(SIGALRM, on_alarm);
	for (setitimer(ITIMER_REAL, &every, NULL); rings < 100;)
		;
	setitimer(ITIMER_REAL, &never, NULL);
}

static void *tell(void *unused)
{
	atomic_store(&told, 1);
	return unused;
}

static void for_a_thread(void)
{
	pthread_t thread;
	atomic_store(&told, 0);
	pthread_create(&thread, NULL, tell, NULL);
	while (!atomic_load(&told))
		;
	pthread_join(thread, NULL);
}

static void for_ever_computing(void)
{
	for (;;)
		;
}

static void for_ever_calling(void)
{
	for (;;)
		getppid();
}

static void for_ever_handing_on(void)
{
	int there[2], back[2];
	char byte = 0;
	if (pipe(there) || pipe(back))
		return;
	if (fork() == 0)
		while (read(there[0], &byte, 1) == 1 && write(back[1], &byte, 1) == 1)
			;
	while (write(there[1], &byte, 1) == 1 && read(back[0], &byte, 1) == 1)
		;
}

/* As many calls as may be made for nothing, twice, with a wait in between. */
static void never(void)
{
	struct timespec short_time = {0, 1000000};
	for (int round = 0; round < 2; round++) {
		nanosleep(&short_time, NULL);
		for (int calls = 0; calls < 99000; calls++)
			getppid();
	}
}

static const struct {
	const char *name;
	void (*wait)(void);
} waits[] = {
	{"times", until_process_times_change},
	{"coarse", until_the_coarse_clock_changes},
	{"coarse-kernel", until_the_kernels_coarse_clock_changes},
	{"seconds", until_seconds_change},
	{"clock", until_the_clock_changes},
	{"rusage", until_two_ms_were_used},
	{"call-alarm", calling_until_an_alarm},
	{"yield-alarm", yielding_until_an_alarm},
	{"compute-alarm", computing_until_an_alarm},
	{"compute-alarms", computing_until_a_hundred_alarms},
	{"compute-fail-alarm", computing_with_failures_until_an_alarm},
	{"thread", for_a_thread},
	{"for-ever-computing", for_ever_computing},
	{"for-ever-calling", for_ever_calling},
	{"for-ever-handing-on", for_ever_handing_on},
	{"never", never},
};

int main(int count, char **names)
{
	for (int word = 1; word < count; word++)
		for (size_t i = 0; i < sizeof waits / sizeof *waits; i++)
			if (!strcmp(names[word], waits[i].name)) {
				usleep(1000);
				long long began = now_ns(CLOCK_MONOTONIC);
				waits[i].wait();
				printf("%s %lld\n", waits[i].name, now_ns(CLOCK_MONOTONIC) - began);
				fflush(stdout);
			}
	return 0;
}
