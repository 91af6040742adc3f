/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Loads that cause work in the kernel: interrupts, softirqs, kworkers, stalls. */
#include "incidents.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "cgroups.h"
#include "live.h"
#include "truth.h"

#define DISK_BYTES (2 << 20)
#define BATCH	   6 /* number of packets that CPU 0 sends before QEMU runs CPU 1 */
#define TICK_NS	   (4 * NSEC_PER_MSEC)
#ifdef __aarch64__
#define LOOP_NS (20 * NSEC_PER_MSEC)
#else
#define LOOP_NS (6 * NSEC_PER_MSEC)
#endif

static void must_write(const char *path, const char *text)
{
	if (!live_write(path, text))
		live_fail_all("cannot write %s to %s: %s", text, path, strerror(errno));
}

static void must_run(const char *command)
{
	if (system(command))
		live_fail_all("%s failed", command);
}

/* Computes in short steps, because an IPI is delivered only after QEMU has switched to its CPU. */
static void __attribute__((noreturn)) serve_shortly(void)
{
	for (;;) {
		for (int i = 0; i < 1000; i++)
			truth_burn_in_turns(5 * NSEC_PER_USEC);
		truth_sleep_until(clock_mono_ns() + NSEC_PER_MSEC);
	}
}

/*
 * Runs a service that is registered for membarrier(2), as runtimes with a just-in-time compiler
 * are.
 */
void incident_registered(void)
{
	syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0);
	serve_shortly();
}

/*
 * Calls membarrier(2) in a loop. Each call of membarrier(2) sends an IPI to every CPU that runs a
 * registered process.
 */
void incident_membarrier(void)
{
	for (;;) {
		syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0);
		truth_burn_in_turns(20 * NSEC_PER_USEC);
	}
}

/*
 * Sends packets to a socket that no process reads. The kernel queues and drops the packets in
 * softirq NET_RX.
 */
void incident_packets(void)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_port = htons(9),
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int receiver = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int sender = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	char packet[64] = {0};

	if (bind(receiver, (struct sockaddr *)&address, sizeof(address)))
		_exit(1);
	for (;;) {
		for (int i = 0; i < BATCH; i++)
			sendto(sender, packet, sizeof(packet), 0, (struct sockaddr *)&address,
			       sizeof(address));
		truth_burn_in_turns(20 * NSEC_PER_USEC);
	}
}

/*
 * Configures receive packet steering (RPS), so that CPU 1 processes the packets that CPU 0 sends.
 */
void incident_rps_begin(void)
{
	must_write("/sys/class/net/lo/queues/rx-0/rps_cpus", "2");
}

void incident_rps_end(void)
{
	must_write("/sys/class/net/lo/queues/rx-0/rps_cpus", "0");
}

static void *protect_forever(void *unused)
{
	cpu_set_t first;
	char *page;

	CPU_ZERO(&first);
	CPU_SET(0, &first);
	sched_setaffinity(0, sizeof(first), &first);
	prctl(PR_SET_NAME, "jit");
	page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	*page = 1;
	for (;;) {
		mprotect(page, 4096, PROT_READ);
		mprotect(page, 4096, PROT_READ | PROT_WRITE);
	}
	return unused;
}

/*
 * A thread changes the protection of a page, as a just-in-time compiler does. On x86 each change
 * sends an IPI that flushes the TLB of the CPU that runs the other thread.
 */
void incident_protect(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, protect_forever, NULL))
		_exit(1);
	serve_shortly();
}

const char *incident_no_tlb_ipis(void)
{
#ifdef __x86_64__
	return NULL;
#else
	return "only x86 flushes TLBs of other CPUs by IPI";
#endif
}

const char *incident_no_nmi(void)
{
#ifdef __x86_64__
	return NULL;
#else
	return "the module takes the core by NMI, which only x86 has";
#endif
}

const char *incident_no_cpuset(void)
{
	if (cgroups_v2() || !access("/sys/fs/cgroup/cpuset", F_OK))
		return NULL;
	return "this kernel has no controller cpuset for cgroup v1";
}

const char *incident_needs_v1(void)
{
	return cgroups_v2() ? "in cgroup v2 a cgroup with tasks has no children with controllers"
			    : NULL;
}

void incident_loop_begin(void)
{
	must_run("modprobe loop max_loop=1 && dd if=/dev/zero of=/tmp/disk bs=1M count=2 "
		 "2>/dev/null && "
		 "losetup /dev/loop0 /tmp/disk");
}

/*
 * Writes to a loop device without the page cache (O_DIRECT), so the kworker of the loop device
 * executes each write. On x86 a write takes less time than on arm64, because QEMU executes the copy
 * of a page as one instruction on x86. Therefore LOOP_NS, the sleep after a write, is shorter on
 * x86.
 */
void incident_loop_write(void)
{
	static char blocks[DISK_BYTES] __attribute__((aligned(4096)));
	int fd = open("/dev/loop0", O_WRONLY | O_CLOEXEC | O_DIRECT);

	while (fd >= 0 && pwrite(fd, blocks, sizeof(blocks), 0) > 0)
		truth_sleep_until(clock_mono_ns() + LOOP_NS);
	_exit(1);
}

void incident_loop_end(void)
{
	must_run("losetup -d /dev/loop0 && rm /tmp/disk && rmmod loop");
}

void incident_ramdisk_begin(void)
{
	must_run("modprobe brd rd_nr=1 rd_size=2048");
	must_write("/proc/sys/vm/dirty_writeback_centisecs", "1");
	must_write("/proc/sys/vm/dirty_expire_centisecs", "1");
	must_write("/proc/sys/vm/dirty_background_bytes", "65536");
}

/*
 * Dirties each page of a RAM disk by changing one byte. For each changed byte, a kworker writes a
 * whole page.
 */
void incident_ramdisk_write(void)
{
	int fd = open("/dev/ram0", O_RDWR | O_CLOEXEC);
	char *disk = mmap(NULL, DISK_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	while (disk != MAP_FAILED) {
		for (size_t at = 0; at < DISK_BYTES; at += 4096)
			disk[at]++;
		truth_sleep_until(clock_mono_ns() + 20 * NSEC_PER_MSEC);
	}
	_exit(1);
}

void incident_ramdisk_end(void)
{
	must_write("/proc/sys/vm/dirty_background_ratio", "10");
	must_write("/proc/sys/vm/dirty_expire_centisecs", "3000");
	must_write("/proc/sys/vm/dirty_writeback_centisecs", "500");
	must_run("rmmod brd");
}

/*
 * Writes @us to a parameter file of the test module "trouble", which makes the module keep the CPU
 * busy for @us microseconds.
 */
static void __attribute__((noreturn)) trouble(const char *path, const char *us)
{
	for (;;) {
		if (!live_write(path, us))
			_exit(1);
		truth_sleep_until(clock_mono_ns() + 20 * NSEC_PER_MSEC);
	}
}

void incident_stall(void)
{
	trouble("/sys/module/trouble/parameters/stall_us", "15000");
}

void incident_stop_machine(void)
{
	trouble("/sys/module/trouble/parameters/stop_us", "15000");
}

/*
 * Computes between two ticks, in every fourth tick period: from 0.4 ms after a tick to 0.8 ms
 * before the next tick. A task waits up to 90 us in the guest until an idle core is awake. If the
 * task woke up in every second tick period, subtick would report these waits as a finding.
 */
void incident_hide(void)
{
	for (;;) {
		uint64_t tick_ns = (clock_mono_ns() / (4 * TICK_NS) + 1) * 4 * TICK_NS;

		truth_sleep_until(tick_ns + 400 * NSEC_PER_USEC);
		while (clock_mono_ns() < tick_ns + TICK_NS - 800 * NSEC_PER_USEC)
			truth_burn_in_turns(50 * NSEC_PER_USEC);
	}
}

/*
 * Runs a producer process and a consumer process that a pipe connects. For each item, the producer
 * computes for 3 ms and the consumer computes for 4 ms.
 */
void incident_pipeline(void)
{
	int items[2];
	char item = 0;

	if (pipe2(items, O_CLOEXEC))
		_exit(1);
	if (!fork()) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		prctl(PR_SET_NAME, "consumer");
		while (read(items[0], &item, 1) == 1)
			truth_burn_in_turns(4 * NSEC_PER_MSEC);
		_exit(1);
	}
	for (;;) {
		truth_burn_in_turns(3 * NSEC_PER_MSEC);
		if (write(items[1], &item, 1) != 1)
			_exit(1);
		truth_sleep_until(clock_mono_ns() + 6 * NSEC_PER_MSEC);
	}
}

static void *spin(void *comm)
{
	prctl(PR_SET_NAME, comm);
	for (;;)
		truth_burn_in_turns(NSEC_PER_MSEC);
	return comm;
}

/* One thread serves requests, and @nr threads named @comm never sleep. */
static void __attribute__((noreturn)) serve_beside(int nr, const char *comm)
{
	pthread_t thread;

	while (nr--)
		if (pthread_create(&thread, NULL, spin, (void *)comm))
			_exit(1);
	for (;;) {
		truth_burn_in_turns(4 * NSEC_PER_MSEC);
		truth_sleep_until(clock_mono_ns() + 12 * NSEC_PER_MSEC);
	}
}

void incident_collector(void)
{
	serve_beside(2, "gc");
}

void incident_spinners(void)
{
	serve_beside(3, "service");
}

/*
 * A shell that starts two processes "gzip" and exits, so the parent of the processes is then PID 1.
 */
static void cron_shell(const void *unused)
{
	prctl(PR_SET_NAME, "gzip");
	if (!fork() || !fork())
		truth_burn_in_turns(60 * NSEC_PER_MSEC);
}

void incident_cron(void)
{
	incident_fork_every(160 * NSEC_PER_MSEC, cron_shell, NULL);
}

/* A shell that starts a compiler, and exits after the compiler. */
static void build_shell(const void *unused)
{
	prctl(PR_SET_NAME, "sh");
	if (!fork()) {
		prctl(PR_SET_NAME, "cc1");
		truth_burn_in_turns(12 * NSEC_PER_MSEC);
		_exit(0);
	}
	wait(NULL);
}

void incident_build(void)
{
	incident_fork_every(50 * NSEC_PER_MSEC, build_shell, NULL);
}

/*
 * A shell that starts a process "gzip" every 40 ms and exits before the last one, so the parent of
 * the last process is then PID 1.
 */
static void backup_shell(const void *unused)
{
	prctl(PR_SET_NAME, "sh");
	for (int i = 0; i < 4; i++) {
		if (i)
			truth_sleep_until(clock_mono_ns() + 40 * NSEC_PER_MSEC);
		if (fork())
			continue;
		prctl(PR_SET_NAME, "gzip");
		truth_burn_in_turns(12 * NSEC_PER_MSEC);
		_exit(0);
	}
}

void incident_backup(void)
{
	incident_fork_every(200 * NSEC_PER_MSEC, backup_shell, NULL);
}

static void *answer(void *unused)
{
	truth_burn_in_turns(12 * NSEC_PER_MSEC);
	return unused;
}

/* Starts a thread for each request, 20 times per second. */
void incident_thread_starter(void)
{
	uint64_t next = clock_mono_ns();
	pthread_t thread;

	while (!pthread_create(&thread, NULL, answer, NULL)) {
		pthread_detach(thread);
		next += 50 * NSEC_PER_MSEC;
		truth_sleep_until(next);
	}
	_exit(1);
}

static void *serve(void *unused)
{
	for (;;) {
		truth_burn_in_turns(NSEC_PER_MSEC);
		truth_sleep_until(clock_mono_ns() + 60 * NSEC_PER_MSEC);
	}
	return unused;
}

/* One process with 40 threads that serve requests. */
void incident_threads(void)
{
	pthread_t thread;

	for (int i = 1; i < 40; i++)
		if (pthread_create(&thread, NULL, serve, NULL))
			_exit(1);
	serve(NULL);
}

#define JOBS_KEPT 40 /* number of cgroups to keep; cgroups of older jobs are removed */
#define JOBS_MAX  4096

static bool remove_job(unsigned int nr)
{
	char path[32];

	snprintf(path, sizeof(path), "/job%u", nr);
	return cgroups_remove(path);
}

static void __attribute__((noreturn)) run_job(unsigned int nr)
{
	char path[32];

	snprintf(path, sizeof(path), "/job%u", nr);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, "job");
	if (!cgroups_mkdir(path) || !cgroups_enter(path, 0))
		_exit(1);
	truth_burn_in_turns(120 * NSEC_PER_MSEC);
	_exit(0);
}

/* Starts a job process every 150 ms, each in a separate cgroup. */
void incident_containers(void)
{
	uint64_t next = clock_mono_ns();

	for (unsigned int nr = 0; nr < JOBS_MAX; nr++) {
		if (!fork())
			run_job(nr);
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
		if (nr >= JOBS_KEPT)
			remove_job(nr - JOBS_KEPT);
		next += 150 * NSEC_PER_MSEC;
		truth_sleep_until(next);
	}
	_exit(1);
}

void incident_containers_end(void)
{
	for (unsigned int nr = 0; nr < JOBS_MAX; nr++)
		remove_job(nr);
}

static int timer_fd = -1;

/* Starts a perf sampling timer, as profilers do, that interrupts CPU 1 every 100 us. */
void incident_timers_begin(void)
{
	must_write("/proc/sys/kernel/perf_cpu_time_max_percent", "0");
	timer_fd = truth_clock_start(1, 100 * NSEC_PER_USEC);
}

void incident_timers_end(void)
{
	close(timer_fd);
}

static int crowd(void)
{
	return incidents_full() ? 5000 : 500;
}

void incident_crowd_begin(void)
{
	char path[32];

	live_note("%d cgroups beside it", crowd());
	for (int i = 0; i < crowd(); i++) {
		snprintf(path, sizeof(path), "/crowd%d", i);
		if (!cgroups_mkdir(path))
			live_fail_all("cannot make cgroup %s: %s", path, strerror(errno));
	}
	/* Waits until subtick has read the names of all cgroups. */
	live_sleep_ms(3000);
}

void incident_crowd_end(void)
{
	char path[32];

	for (int i = 0; i < crowd(); i++) {
		snprintf(path, sizeof(path), "/crowd%d", i);
		cgroups_remove(path);
	}
}

static int exit_at_once(void *unused)
{
	(void)unused;
	return 0;
}

/*
 * Starts 2,000 processes per second, 10 processes in a row. A process shares the memory of its
 * parent, as after vfork(), and takes 0.38 ms of virtual time. After fork() it takes 1.2 ms.
 */
void incident_fork_bomb(void)
{
	static char stack[16384];
	uint64_t next = clock_mono_ns();

	signal(SIGCHLD, SIG_IGN);
	for (unsigned int nr = 1;; nr++) {
		clone(exit_at_once, stack + sizeof(stack),
		      CLONE_VM | CLONE_VFORK | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | SIGCHLD,
		      NULL);
		if (nr % 10 == 0)
			truth_sleep_until(next += 5 * NSEC_PER_MSEC);
	}
}
