/*
 * The first program of a kernel that has just been compiled: a second process sleeps, and its parent
 * waits for it. It says so and turns the machine off.
 */

#include <sys/reboot.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SLEEP_S 2
#define LEFT 7
#define WORKS "headway: the kernel works\n"

int main(void)
{
	struct timespec before, after, sleep = { .tv_sec = SLEEP_S };
	int status = 0;
	pid_t child;

	clock_gettime(CLOCK_MONOTONIC, &before);
	child = fork();
	if (child == 0) {
		nanosleep(&sleep, NULL);
		_exit(LEFT);
	}
	if (child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == LEFT &&
	    clock_gettime(CLOCK_MONOTONIC, &after) == 0 && after.tv_sec >= before.tv_sec + SLEEP_S)
		write(1, WORKS, sizeof(WORKS) - 1);
	reboot(RB_POWER_OFF);
	return 1;
}
