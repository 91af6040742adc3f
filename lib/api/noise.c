/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implements the public functions of the noise measurement. */
#include "subtick/noise.h"

#include <errno.h>

#include "api/api.h"
#include "measure/noise/noise.h"

_Static_assert((int)SUBTICK_NOISE_NMI == (int)NOISE_KIND_NMI &&
		       (int)SUBTICK_NOISE_SOFTIRQ == (int)NOISE_KIND_SOFTIRQ,
	       "the public kinds are the internal kinds");

#define AT(member) offsetof(struct noise_window, member)
#define LOAD_ROW(member, key, ...) {#key "_total", AT(losses.member), 0},
#define NOISE_ROW(member, key, ...) {#key "_total", AT(noise_losses.member), 0},
#define SENDER_ROW(member, key, ...) \
	{#key "_total", AT(noise_losses.member), AT(has_senders)},
static const struct loss_row losses[] = {LOAD_LOSSES(LOAD_ROW) NOISE_LOSSES(NOISE_ROW)
						 NOISE_SENDER_LOSSES(SENDER_ROW)};

API_GET(get_window)
{
	if (key == SUBTICK_SOURCE)
		ret->text = "bpf";
	if (key == SUBTICK_HIERARCHY)
		figure_u64(ret, ret->text[1] - '0');
}

API_GET(get_cpu)
{
	if (((const struct noise_core *)row)->flags & LOAD_NO_FIGURE && key != SUBTICK_CPU &&
	    key != SUBTICK_FLAGS)
		figure_unavailable(ret);
}

API_GET(get_source)
{
	if (key == SUBTICK_KIND)
		ret->text = noise_kind_name(ret->u64);
}

API_GET(get_victim)
{
	const struct noise_hit *hit = row;
	uint64_t count = 0, ns = 0;

	for (int i = 0; i < NOISE_CLASSES; i++) {
		count += hit->count[i];
		ns += hit->ns[i];
	}
	if (key == SUBTICK_COUNT || key == SUBTICK_SUM_NS)
		figure_u64(ret, key == SUBTICK_COUNT ? count : ns);
	if ((key == SUBTICK_CGROUP_ID && hit->key >= NOISE_ON_THREAD) ||
	    ((key == SUBTICK_PID || key == SUBTICK_COMM) &&
	     (hit->key == NOISE_ON_IDLE || !hit->longest_ns)))
		figure_unavailable(ret);
}

API_GET(get_delay)
{
	if (key == SUBTICK_NAME)
		ret->text = load_vec_name(((const struct noise_delay *)row)->vec);
}

API_GET(get_sender)
{
	const struct noise_sender *sender = row;

	if ((key == SUBTICK_PID || key == SUBTICK_COMM) &&
	    (!sender->by_process || sender->pid == NOISE_BY_INTERRUPT))
		figure_unavailable(ret);
}

#define WINDOW(key, member)	   COLUMN(SUBTICK_WINDOW, struct noise_window, key, member)
#define CPU(key, member)	   COLUMN(SUBTICK_CPUS, struct noise_core, key, member)
#define SOURCE(key, member)	   COLUMN(SUBTICK_SOURCES, struct noise_source, key, member)
#define VICTIM(key, ...)	   COLUMN(SUBTICK_VICTIMS, struct noise_hit, key, __VA_ARGS__)
#define DELAY(key, ...)		   COLUMN(SUBTICK_DELAYS, struct noise_delay, key, __VA_ARGS__)
#define FUNCTION(key, ...)	   COLUMN(SUBTICK_FUNCTIONS, struct noise_function, key, __VA_ARGS__)
#define SENDER(list, key, member) COLUMN(list, struct noise_sender, key, member)
#define SENDER_COLUMNS(list)                                                                       \
	SENDER(list, SUBTICK_CPU, cpu), SENDER(list, SUBTICK_FROM_CPU, from_cpu),                  \
	SENDER(list, SUBTICK_NAME, name), SENDER(list, SUBTICK_COUNT, count),                      \
	SENDER(list, SUBTICK_PID, pid), SENDER(list, SUBTICK_COMM, comm)

static const struct api_column columns[] = {
	WINDOW(SUBTICK_WINDOW_NS, window_ns),
	WINDOW(SUBTICK_TIME_UNIX_NS, time_unix_ns),
	WINDOW(SUBTICK_HIERARCHY, hierarchy),
	CPU(SUBTICK_CPU, cpu),
	CPU(SUBTICK_FLAGS, flags),
	CPU(SUBTICK_WINDOW_NS, window_ns),
	CPU(SUBTICK_HARDIRQ_NS, class_ns[NOISE_HARDIRQ]),
	CPU(SUBTICK_SOFTIRQ_NS, class_ns[NOISE_SOFTIRQ]),
	CPU(SUBTICK_KTHREAD_NS, class_ns[NOISE_THREAD]),
	CPU(SUBTICK_TASK_NS, task_ns),
	CPU(SUBTICK_STEAL_NS, steal_ns),
	CPU(SUBTICK_COUNT, events),
	CPU(SUBTICK_MAX_NS, longest_ns),
	CPU(SUBTICK_CLOSURE_ERROR_RATIO, closure_error_ratio),
	SOURCE(SUBTICK_CPU, cpu),
	SOURCE(SUBTICK_KIND, kind),
	SOURCE(SUBTICK_NAME, name),
	SOURCE(SUBTICK_IRQ, irq),
	SOURCE(SUBTICK_ADVICE, knob),
	SOURCE(SUBTICK_COUNT, count),
	SOURCE(SUBTICK_SUM_NS, ns),
	SOURCE(SUBTICK_MAX_NS, longest_ns),
	SOURCE(SUBTICK_P99_NS, p99_ns),
	VICTIM(SUBTICK_CGROUP, cgroup),
	VICTIM(SUBTICK_CGROUP_ID, key),
	VICTIM(SUBTICK_MAX_NS, longest_ns, .zero_unknown = true),
	VICTIM(SUBTICK_HARDIRQ_NS, ns[NOISE_HARDIRQ]),
	VICTIM(SUBTICK_SOFTIRQ_NS, ns[NOISE_SOFTIRQ]),
	VICTIM(SUBTICK_KTHREAD_NS, ns[NOISE_THREAD]),
	VICTIM(SUBTICK_PID, pid),
	VICTIM(SUBTICK_COMM, comm),
	DELAY(SUBTICK_CPU, cpu),
	DELAY(SUBTICK_COUNT, times.count),
	DELAY(SUBTICK_SUM_NS, times.ns),
	DELAY(SUBTICK_MAX_NS, times.longest_ns, .zero_unknown = true),
	DELAY(SUBTICK_P99_NS, times.p99_ns),
	FUNCTION(SUBTICK_CPU, cpu),
	FUNCTION(SUBTICK_NAME, name),
	FUNCTION(SUBTICK_COUNT, executions),
	FUNCTION(SUBTICK_SUM_NS, ns),
	FUNCTION(SUBTICK_MAX_NS, longest_ns, .zero_unknown = true),
	FUNCTION(SUBTICK_DELAY_COUNT, delay.count),
	FUNCTION(SUBTICK_DELAY_SUM_NS, delay.ns),
	FUNCTION(SUBTICK_DELAY_MAX_NS, delay.longest_ns, .zero_unknown = true),
	SENDER_COLUMNS(SUBTICK_SENDERS),
	SENDER_COLUMNS(SUBTICK_CALLS),
};

#define LIST(...) API_LIST(struct noise_window, __VA_ARGS__)
static const struct api_list lists[] = {
	{SUBTICK_WINDOW, get_window, 0, 0, 0},
	LIST(SUBTICK_CPUS, cores, nr_cores, get_cpu),
	LIST(SUBTICK_SOURCES, sources, nr_sources, get_source),
	LIST(SUBTICK_VICTIMS, hits, nr_hits, get_victim),
	LIST(SUBTICK_DELAYS, delays, nr_delays, get_delay),
	LIST(SUBTICK_FUNCTIONS, functions, nr_functions, NULL),
	LIST(SUBTICK_SENDERS, senders.list, senders.nr, get_sender),
	LIST(SUBTICK_CALLS, calls.list, calls.nr, get_sender),
};

static int open_meter(const void *opts, struct meter **ret_meter, struct err *err)
{
	return noise_open(opts, ret_meter, err);
}

static const void *window_of(const struct meter *meter)
{
	return noise_window(meter);
}

static const struct api_view view = API_VIEW(open_meter, window_of);

int subtick_noise_open(struct subtick **ret, const struct subtick_noise_opts *opts)
{
	struct err *err = api_err();
	struct subtick_noise_opts own;
	struct noise_opts noise = {0};
	int rc = api_copy_opts(ret, &own, sizeof(own), opts, API_OPTS_LEAST(own, cpus), err);

	if (!rc)
		rc = api_cpus(own.cpus, &noise.cpus, err);
	if (rc)
		return rc;
	if (own.flags & ~(uint32_t)SUBTICK_NOISE_SENDERS)
		return err_set(err, -EINVAL, "unknown flags 0x%x", own.flags);
	noise.senders = own.flags & SUBTICK_NOISE_SENDERS;
	return api_open(api_new(&view, err), 0, &noise, ret, err);
}
