/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Runs the exporter for a long time, while short-lived cgroups, tasks and clients are created. In a
 * guest, the test takes CPU 1 offline and sets the wall clock. The exporter's counters, and the sum
 * of each counter over all series, must not decrease. The exporter's memory and number of
 * descriptors must not grow. Every dispatch that the exporter missed must be counted as lost.
 */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "cgroups.h"
#include "churn.h"
#include "live.h"
#include "page.h"
#include "runq_window.h"
#include "scrape.h"

#define PORT		17828
#define PORT_TEXT	"127.0.0.1:17828"
#define DEFAULT_SECONDS 1200
/*
 * Time in seconds until the exporter has its maximum number of series and every buffer has its
 * final size.
 */
#define WARM_SECONDS 30
/* Minimum duration of the test, because the comparison of memory needs two minutes. */
#define SHORTEST_SECONDS 130
/*
 * Allowed growth of the minimum resident memory from the first minute to the last minute. Without a
 * leak, rows of blame (up to the square of the cgroup limit) and fragments smaller than a page may
 * raise the minimum resident memory.
 */
#define GROWTH_BYTES (2 << 20)
/*
 * Allowed difference between the peak of resident memory and its minimum in the first minute. A
 * delayed window contains all cgroups that ended during the delay, and the exporter returns free
 * memory to the kernel only with every 16th window.
 */
#define PEAK_BYTES (4 << 20)
#define MINUTE_NS  (60 * NSEC_PER_SEC)
/* Maximum size of the windows that the exporter keeps, by subtick-serve(8): 1.5 MiB. */
#define HISTORY_BYTES (3 << 19)

/*
 * Limits in docs/threat-model.md: number of connections, the kernel's TCP memory per connection,
 * and memory of all responses.
 */
#define CONNECTIONS	 64
#define CONNECTION_BYTES ((32 + 128) << 10)
#define RESPONSES_BYTES	 (96 << 20)

/*
 * Maximum number of new cgroups that other programs may create during the test. If other programs
 * create more than OTHERS_MOST cgroups, the test cannot check the exporter's memory and number of
 * series.
 */
#define OTHERS_MOST 16
/*
 * Maximum number of cgroups of this test: cgroups of churn_cgroups(), removed cgroups that the
 * kernel has not freed yet, and the steady cgroup.
 */
#define OWN_CGROUPS 100

static const char *const serve_args[] = {"serve",  "--config",	     "/dev/null", "--listen",
					 PORT_TEXT, "--interval",     "0.5s",	  "--cgroup-limit",
					 "48",	   "--max-connections", "64",	  "--timeout",
					 "3s",	   NULL};

struct soak {
	pid_t serve, steady, churn[5];
	int serve_fd;
	const char *cgroup;
	struct churn_done *done;
	struct page first, last;
	struct page_faults faults;
	uint64_t begin_ns;
	uint64_t dispatches; /* the kernel's dispatch count of the steady task at the first scrape */
	double init;	     /* the kernel's dispatch count of init (PID 1) at the first scrape */
	unsigned int scrapes, unanswered, steps;
	/* resident memory: peak, and minimum in the first, the previous and the current minute */
	double rss_most, low_first, low_before, low;
	uint64_t minute;
	/*
	 * TCP memory of the machine at the start, maximum growth of this TCP memory, and maximum
	 * memory of unread responses, in bytes
	 */
	double tcp, tcp_most, responses_most;
	/*
	 * numbers of cgroups: cgroups of the machine at the start, and cgroups that other programs
	 * added
	 */
	double cgroups, others;
	size_t files;
	bool guest;
};

static size_t open_files(pid_t pid)
{
	char path[64];
	size_t nr = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	dir = opendir(path);
	while (dir && readdir(dir))
		nr++;
	if (dir)
		closedir(dir);
	return nr;
}

/* Sets the guest's clock back, ahead by more than an hour, and to the right time. */
static void step_clock(struct soak *s)
{
	static const int steps[] = {-3, 3700, -3697};
	struct timespec wall;

	clock_gettime(CLOCK_REALTIME, &wall);
	wall.tv_sec += steps[s->steps++ % 3];
	if (clock_settime(CLOCK_REALTIME, &wall))
		live_fail_all("cannot set the clock of the guest: %s", strerror(errno));
}

/* Prints why the exporter did not answer, with counters of the exporter. */
static void note_unanswered(struct soak *s, const struct page *now, const char *why)
{
	static const char *const series[] = {
		"subtick_http_connections", "subtick_http_cut_total{reason=\"slow\"}",
		"subtick_http_cut_total{reason=\"full\"}",
		"subtick_http_cut_total{reason=\"stalled\"}"};

	s->unanswered++;
	live_note("scrape %u: no answer: %s", s->scrapes, why);
	for (size_t i = 0; i < sizeof(series) / sizeof(series[0]); i++)
		live_note("  %s was %.0f, then %.0f", series[i], page_value(&s->last, series[i]),
			  page_value(now, series[i]));
}

/*
 * Returns the number of cgroups of the machine in the CPU hierarchy, or 0 if the number is unknown.
 */
static double machine_cgroups(void)
{
	double nr, found = 0;
	char line[128];
	FILE *file;

	if (cgroups_v2())
		return cgroups_stat("/", "cgroup.stat", "nr_descendants");
	file = fopen("/proc/cgroups", "re");
	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "cpu %*d %lf", &nr) == 1)
			found = nr;
	if (file)
		fclose(file);
	return found;
}

/* Updates the number of cgroups that other programs have created since the test started. */
static void watch_others(struct soak *s)
{
	double more = machine_cgroups() - s->cgroups - OWN_CGROUPS;

	if (more > s->others)
		s->others = more;
}

/*
 * Prints the result of a check that other programs' cgroups can disturb: memory, number of series,
 * or number of waits. A failed check counts as skipped if other programs created more than
 * OTHERS_MOST cgroups.
 */
static void judge_alone(const struct soak *s, bool right, const char *claim)
{
	if (!right && s->others > OTHERS_MOST)
		live_skip(claim, "not judged: other programs made %.0f cgroups meanwhile", s->others);
	else
		live_ok(right, "%s", claim);
}

static void note_resident(struct soak *s, double rss)
{
	uint64_t minute = (clock_mono_ns() - s->begin_ns) / MINUTE_NS;

	/*
	 * Ignore samples after the clients have stopped, because memory usage decreases without
	 * clients.
	 */
	if (!s->churn[0])
		return;
	if (minute != s->minute) {
		if (!s->minute)
			s->low_first = s->low;
		s->low_before = s->low;
		s->low = 0;
		s->minute = minute;
	}
	if (!s->low || rss < s->low)
		s->low = rss;
	if (rss > s->rss_most)
		s->rss_most = rss;
}

/* Returns the memory of all TCP sockets of the machine, in bytes. */
static double tcp_bytes(void)
{
	double pages = 0;
	char line[128];
	FILE *file = fopen("/proc/net/sockstat", "re");

	while (file && fgets(line, sizeof(line), file))
		sscanf(line, "TCP: inuse %*d orphan %*d tw %*d alloc %*d mem %lf", &pages);
	if (!file)
		live_fail_all("no /proc/net/sockstat");
	fclose(file);
	return pages * (double)getpagesize();
}

static void note_clients(struct soak *s, const struct page *now)
{
	double tcp = tcp_bytes() - s->tcp, responses = page_value(now, "subtick_http_response_bytes");

	if (tcp > s->tcp_most)
		s->tcp_most = tcp;
	if (responses > s->responses_most)
		s->responses_most = responses;
}

static void look(struct soak *s)
{
	char why[256], again[256], *text = scrape_try(PORT, "/metrics", why, sizeof(why));
	bool answered = text;
	int tries = 5;
	struct page now;
	double rss;

	while (!text && tries-- > 0)
		text = scrape_try(PORT, "/metrics", again, sizeof(again));
	if (!text)
		live_fail_all("six scrapes without an answer: %s; %s", why, again);
	page_read(&now, text);
	s->scrapes++;
	watch_others(s);
	if (!answered)
		note_unanswered(s, &now, why);
	/*
	 * Subtract the memory of kept windows and of unread responses, which may grow. The end of
	 * the test checks that the kept windows of the last ten minutes are at most HISTORY_BYTES.
	 * Memory of unread responses is freed after a timeout.
	 */
	rss = page_value(&now, "process_resident_memory_bytes") -
	      page_value(&now, "subtick_history_bytes") -
	      page_value(&now, "subtick_http_response_bytes");
	if (s->last.nr)
		page_compare(&s->last, &now, &s->faults);
	note_resident(s, rss);
	note_clients(s, &now);
	page_free(&s->last);
	s->last = now;
}

static double steady_count(const struct page *page, const char *cgroup)
{
	char series[128];

	snprintf(series, sizeof(series), "subtick_runqueue_latency_seconds_count{cgroup=\"%s\"}",
		 cgroup);
	return page_value(page, series);
}

static void stop_churn(struct soak *s)
{
	for (size_t i = 0; i < sizeof(s->churn) / sizeof(s->churn[0]); i++) {
		if (!s->churn[i])
			continue;
		churn_stop(s->churn[i]);
		if (!i)
			churn_clean(s->churn[0], s->done);
		s->churn[i] = 0;
	}
}

/* State for the exit handler end_all(), which ends all children. */
static struct soak *running;

static void end_all(void)
{
	int status;

	stop_churn(running);
	if (running->steady)
		churn_stop(running->steady);
	if (!running->serve)
		return;
	/* Print the state of the exporter, to explain a failure. */
	if (waitpid(running->serve, &status, WNOHANG) == running->serve)
		live_note("the exporter had ended: %s %d",
			  WIFSIGNALED(status) ? "signal" : "exit code",
			  WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
	else
		live_note("the exporter was still running");
	kill(running->serve, SIGKILL);
}

static void start(struct soak *s)
{
	struct churn_done *done = mmap(NULL, sizeof(*done), PROT_READ | PROT_WRITE,
				       MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (done == MAP_FAILED)
		live_fail_all("no memory");
	s->done = done;
	running = s;
	atexit(end_all);
	s->guest = getenv("SUBTICK_SOAK_GUEST");
	cgroups_open();
	s->cgroups = machine_cgroups();
	s->cgroup = cgroups_make("steady");
	s->serve = live_start(serve_args, &s->serve_fd);
	scrape_wait(PORT);
	s->steady = churn_steady(s->cgroup);
	/* Wait for several windows of 0.5 s, until the exporter has a series of the cgroup. */
	live_sleep_ms(2000);
	s->files = open_files(s->serve);
	s->tcp = tcp_bytes();
	s->churn[0] = churn_cgroups(done);
	s->churn[1] = churn_tasks(done);
	s->churn[2] = churn_clients(done, PORT);
	s->churn[3] = churn_readers(done, PORT);
	if (s->guest)
		s->churn[4] = churn_hotplug(done);
}

/*
 * Stops the steady task and returns the number of its dispatches. The task is stopped until
 * @ret_page is scraped, so the returned number and the page include the same dispatches.
 */
static uint64_t steady_stopped(struct soak *s, struct page *ret_page)
{
	struct live_schedstat stat;

	kill(s->steady, SIGSTOP);
	live_sleep_ms(1500);
	if (!live_schedstat(s->steady, &stat))
		live_fail_all("no schedstat of %d", s->steady);
	page_read(ret_page, scrape(PORT, "/metrics"));
	kill(s->steady, SIGCONT);
	return stat.dispatches;
}

static double lost(const struct page *page)
{
	return page_value(page, "subtick_losses_total{collector=\"runq\",kind=\"unknown_start\"}") +
	       page_value(page, "subtick_losses_total{collector=\"runq\",kind=\"negative\"}") +
	       page_value(page, "subtick_losses_total{collector=\"runq\",kind=\"table_full\"}") +
	       page_value(page, "subtick_losses_total{collector=\"runq\",kind=\"recursion_misses\"}");
}

/*
 * Compares the dispatches that the kernel and the exporter counted. The two counts may differ by
 * two, because the first and the last dispatch may be in only one of the counts.
 */
static void judge_counts(const struct soak *s, double ran, double counted, double losses)
{
	double least = ran - losses - 2, init = load_init_schedstat().count - s->init;
	char claim[256];

	snprintf(claim, sizeof(claim),
		 "a task got a core %.0f times; %.0f waits counted, %.0f lost of all tasks", ran,
		 counted, losses);
	if (counted < least && counted >= least - init)
		live_skip(claim,
			  "not judged: init ran %.0f times, and the kernel may not trace what comes "
			  "after it",
			  init);
	else
		judge_alone(s, counted >= least && counted <= ran + 2, claim);
}

static void judge(struct soak *s, const struct page *end, uint64_t dispatched)
{
	double counted = steady_count(end, s->cgroup) - steady_count(&s->first, s->cgroup);
	double ran = (double)(dispatched - s->dispatches);
	double maps = page_value(end, "subtick_bpf_map_bytes");
	double history = page_value(end, "subtick_history_bytes");
	size_t files = open_files(s->serve);
	char claim[256];
	double low;

	live_ok(!s->faults.fell && !s->faults.vanished,
		"%u scrapes: %zu counters fell, %zu of what does not end are gone", s->scrapes,
		s->faults.fell, s->faults.vanished);
	live_ok(!s->unanswered, "%u scrapes had no answer", s->unanswered);
	live_ok(!s->faults.sums, "sums over all series: %zu fell", s->faults.sums);
	/* Include the previous minute, because the current minute may have just begun. */
	low = s->low_before < s->low ? s->low_before : s->low;
	snprintf(claim, sizeof(claim),
		 "resident memory without kept windows and responses: at least %.1f MiB in the first "
		 "minute, %.1f in the last",
		 s->low_first / 1048576, low / 1048576);
	judge_alone(s, low - s->low_first < GROWTH_BYTES, claim);
	snprintf(claim, sizeof(claim), "and %.1f MiB at most", s->rss_most / 1048576);
	judge_alone(s, s->rss_most - s->low_first < PEAK_BYTES, claim);
	live_ok(s->tcp_most <= CONNECTIONS * CONNECTION_BYTES + (double)churn_socket_bytes(),
		"TCP memory of the kernel grew by %.1f MiB at most; %.1f for %d connections of the "
		"exporter and %.1f for the clients are the limit",
		s->tcp_most / 1048576, CONNECTIONS * CONNECTION_BYTES / 1048576.0, CONNECTIONS,
		(double)churn_socket_bytes() / 1048576);
	live_ok(s->responses_most <= RESPONSES_BYTES, "responses had %.2f MiB at most",
		s->responses_most / 1048576);
	live_ok(page_value(&s->last, "subtick_http_connections") == 1,
		"%.0f connections without clients but ours",
		page_value(&s->last, "subtick_http_connections"));
	live_ok(s->done->slow && s->done->half && s->done->vanished,
		"%" PRIu64 " requests of slow readers, %" PRIu64 " of half readers, %" PRIu64
		" of vanished peers",
		s->done->slow, s->done->half, s->done->vanished);
	live_ok(history > 0 && history <= HISTORY_BYTES, "kept windows have %.2f MiB",
		history / 1048576);
	live_ok(maps == page_value(&s->first, "subtick_bpf_map_bytes"),
		"BPF maps have %.1f MiB, as at the start", maps / 1048576);
	live_ok(files <= s->files + 2, "%zu descriptors without clients, %zu at the start", files,
		s->files);
	judge_counts(s, ran, counted, lost(end) - lost(&s->first));
	live_ok(page_sum(end, "subtick_runqueue_evicted_total") > 0,
		"%.0f cgroups gave way, %.0f have series",
		page_sum(end, "subtick_runqueue_evicted_total"),
		page_value(end, "subtick_runqueue_cgroups"));
}

/*
 * Prints the progress once per minute, because the VM suite considers a guest without regular
 * output hung.
 */
static void note(const struct soak *s)
{
	live_note("%.0f s: %" PRIu64 " cgroups, %" PRIu64 " tasks, %" PRIu64 " requests of which %" PRIu64
		  " streams, TCP %.1f MiB, CPU 1 offline %" PRIu64 " times, clock set %u times, %u scrapes, "
		  "resident %.1f MiB, kept windows %.2f, responses %.2f, %.0f cgroups of others came",
		  (double)(clock_mono_ns() - s->begin_ns) / 1e9, s->done->cgroups, s->done->tasks,
		  s->done->requests, s->done->streams, (tcp_bytes() - s->tcp) / 1048576, s->done->offline, s->steps, s->scrapes,
		  page_value(&s->last, "process_resident_memory_bytes") / 1048576,
		  page_value(&s->last, "subtick_history_bytes") / 1048576,
		  page_value(&s->last, "subtick_http_response_bytes") / 1048576, s->others);
}

int main(void)
{
	const char *text = getenv("SUBTICK_SOAK_SECONDS");
	unsigned int seconds = text ? (unsigned int)atoi(text) : DEFAULT_SECONDS;
	static struct soak s;
	struct page end;
	char output[8192];
	uint64_t count;

	if (seconds < SHORTEST_SECONDS)
		live_fail_all("SUBTICK_SOAK_SECONDS must be %d or more", SHORTEST_SECONDS);
	live_needs(ARGS("runq", "--json", "0.1", "1"));
	start(&s);
	/*
	 * Give real-time priority to the test process only. The child processes have normal
	 * priority.
	 */
	live_first();
	live_sleep_ms(WARM_SECONDS * 1000);
	s.init = load_init_schedstat().count;
	s.dispatches = steady_stopped(&s, &s.first);
	s.begin_ns = clock_mono_ns();
	look(&s);
	for (unsigned int i = 0; clock_mono_ns() - s.begin_ns < seconds * NSEC_PER_SEC; i++) {
		live_sleep_ms(1000);
		if (s.guest && i % 7 == 3)
			step_clock(&s);
		look(&s);
		if (i % 30 == 0)
			note(&s);
	}
	count = steady_stopped(&s, &end);
	stop_churn(&s);
	/* Wait until the exporter has closed the connections of the stopped clients. */
	live_sleep_ms(5000);
	look(&s);
	note(&s);
	judge(&s, &end, count);
	churn_stop(s.steady);
	s.steady = 0;
	live_ok(live_stop(s.serve, SIGTERM, s.serve_fd, output, sizeof(output)) == 0,
		"ends cleanly");
	s.serve = 0;
	return live_done();
}
