/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The public functions of noise. */
#include "subtick/noise.h"

#include <errno.h>
#include <math.h>

#include "api/api.h"
#include "measure/noise/noise.h"
#include "host/bpf.h"

_Static_assert((int)SUBTICK_NOISE_NMI == (int)NOISE_KIND_NMI &&
		       (int)SUBTICK_NOISE_SOFTIRQ == (int)NOISE_KIND_SOFTIRQ,
	       "the public kinds are the internal kinds");

#define LOAD_LOSS_ROW(member, key, ...) {#key "_total", offsetof(struct noise_window, losses.member)},
#define LOSS_ROW(member, key, ...) {#key "_total", offsetof(struct noise_window, noise_losses.member)},
static const struct loss_row losses[] = {LOAD_LOSSES(LOAD_LOSS_ROW) NOISE_LOSSES(LOSS_ROW)
						 NOISE_SENDER_LOSSES(LOSS_ROW)};
#define ONE(...) +1
#define NR_LOSSES (0 LOAD_LOSSES(ONE) NOISE_LOSSES(ONE)) /* losses without --senders */

static const void *window_of(const struct meter *meter)
{
	return noise_window(meter);
}

static size_t rows(const void *window, enum subtick_list list)
{
	const struct noise_window *w = window;

	switch (list) {
	case SUBTICK_WINDOW: return 1;
	case SUBTICK_LOSSES: return w->has_senders ? sizeof(losses) / sizeof(losses[0]) : NR_LOSSES;
	case SUBTICK_CPUS: return w->nr_cores;
	case SUBTICK_SOURCES: return w->nr_sources;
	case SUBTICK_VICTIMS: return w->nr_hits;
	case SUBTICK_DELAYS: return w->nr_delays;
	case SUBTICK_FUNCTIONS: return w->nr_functions;
	case SUBTICK_SENDERS: return w->senders.nr;
	case SUBTICK_CALLS: return w->calls.nr;
	default: return 0;
	}
}

static void get_window(const struct noise_window *w, enum subtick_key key, struct figure *ret)
{
	switch (key) {
	case SUBTICK_WINDOW_NS: return figure_u64(ret, w->window_ns);
	case SUBTICK_TIME_UNIX_NS: return figure_u64(ret, w->time_unix_ns);
	case SUBTICK_SOURCE: ret->text = "bpf"; return;
	case SUBTICK_HIERARCHY:
		ret->text = w->hierarchy;
		return figure_u64(ret, w->hierarchy[1] - '0');
	default: return;
	}
}

static void get_cpu(const struct noise_core *core, enum subtick_key key, struct figure *ret)
{
	bool figure = !(core->flags & LOAD_NO_FIGURE);

	switch (key) {
	case SUBTICK_CPU: return figure_u64(ret, core->cpu);
	case SUBTICK_FLAGS: return figure_u64(ret, core->flags);
	case SUBTICK_WINDOW_NS: return figure_u64(ret, figure ? core->window_ns : UINT64_MAX);
	case SUBTICK_HARDIRQ_NS:
	case SUBTICK_SOFTIRQ_NS:
	case SUBTICK_KTHREAD_NS:
		return figure_u64(ret, figure ? core->class_ns[key - SUBTICK_HARDIRQ_NS] : UINT64_MAX);
	case SUBTICK_TASK_NS: return figure_u64(ret, figure ? core->task_ns : UINT64_MAX);
	case SUBTICK_STEAL_NS: return figure_u64(ret, figure ? core->steal_ns : UINT64_MAX);
	case SUBTICK_COUNT: return figure_u64(ret, figure ? core->events : UINT64_MAX);
	case SUBTICK_MAX_NS: return figure_u64(ret, figure ? core->longest_ns : UINT64_MAX);
	case SUBTICK_CLOSURE_ERROR_RATIO:
		return figure_real(ret, figure ? core->closure_error_ratio : NAN);
	default: return;
	}
}

static void get_source(const struct noise_source *source, enum subtick_key key, struct figure *ret)
{
	switch (key) {
	case SUBTICK_CPU: return figure_u64(ret, source->cpu);
	case SUBTICK_KIND:
		ret->text = noise_kind_name(source->kind);
		return figure_u64(ret, source->kind);
	case SUBTICK_NAME: ret->text = source->name; return;
	case SUBTICK_IRQ:
		return figure_u64(ret, source->irq == UINT32_MAX ? UINT64_MAX : source->irq);
	case SUBTICK_KNOB: ret->text = source->knob; return;
	case SUBTICK_COUNT: return figure_u64(ret, source->count);
	case SUBTICK_SUM_NS: return figure_u64(ret, source->ns);
	case SUBTICK_MAX_NS: return figure_u64(ret, source->longest_ns);
	case SUBTICK_P99_NS: return figure_u64(ret, source->p99_ns);
	default: return;
	}
}

/* Maps an unknown longest time, stored as 0, to UINT64_MAX. */
static uint64_t longest(uint64_t ns)
{
	return ns ? ns : UINT64_MAX;
}

static void get_victim(const struct noise_hit *hit, enum subtick_key key, struct figure *ret)
{
	bool task = hit->key != NOISE_ON_IDLE && hit->longest_ns;
	uint64_t sum[2] = {0};

	for (int i = 0; i < NOISE_CLASSES; i++) {
		sum[0] += hit->count[i];
		sum[1] += hit->ns[i];
	}
	switch (key) {
	case SUBTICK_CGROUP: ret->text = hit->cgroup; return;
	case SUBTICK_COUNT: return figure_u64(ret, sum[0]);
	case SUBTICK_SUM_NS: return figure_u64(ret, sum[1]);
	case SUBTICK_CGROUP_ID:
		return figure_u64(ret, hit->key >= NOISE_ON_THREAD ? UINT64_MAX : hit->key);
	case SUBTICK_MAX_NS: return figure_u64(ret, longest(hit->longest_ns));
	case SUBTICK_HARDIRQ_NS:
	case SUBTICK_SOFTIRQ_NS:
	case SUBTICK_KTHREAD_NS: return figure_u64(ret, hit->ns[key - SUBTICK_HARDIRQ_NS]);
	case SUBTICK_PID: return figure_u64(ret, task ? hit->pid : UINT64_MAX);
	case SUBTICK_COMM: ret->text = task ? hit->comm : NULL; return;
	default: return;
	}
}

static void get_delay(const struct noise_delay *delay, enum subtick_key key, struct figure *ret)
{
	switch (key) {
	case SUBTICK_CPU: return figure_u64(ret, delay->cpu);
	case SUBTICK_NAME: ret->text = load_vec_name(delay->vec); return;
	case SUBTICK_COUNT: return figure_u64(ret, delay->times.count);
	case SUBTICK_SUM_NS: return figure_u64(ret, delay->times.ns);
	case SUBTICK_MAX_NS: return figure_u64(ret, longest(delay->times.longest_ns));
	case SUBTICK_P99_NS: return figure_u64(ret, delay->times.p99_ns);
	default: return;
	}
}

static void get_function(const struct noise_function *f, enum subtick_key key, struct figure *ret)
{
	switch (key) {
	case SUBTICK_CPU: return figure_u64(ret, f->cpu);
	case SUBTICK_NAME: ret->text = f->name; return;
	case SUBTICK_COUNT: return figure_u64(ret, f->executions);
	case SUBTICK_SUM_NS: return figure_u64(ret, f->ns);
	case SUBTICK_MAX_NS: return figure_u64(ret, longest(f->longest_ns));
	case SUBTICK_DELAY_COUNT: return figure_u64(ret, f->delay.count);
	case SUBTICK_DELAY_SUM_NS: return figure_u64(ret, f->delay.ns);
	case SUBTICK_DELAY_MAX_NS: return figure_u64(ret, longest(f->delay.longest_ns));
	default: return;
	}
}

static void get_sender(const struct noise_sender *sender, enum subtick_key key, struct figure *ret)
{
	bool process = sender->by_process && sender->pid != NOISE_BY_INTERRUPT;

	switch (key) {
	case SUBTICK_CPU: return figure_u64(ret, sender->cpu);
	case SUBTICK_FROM_CPU: return figure_u64(ret, sender->from_cpu);
	case SUBTICK_NAME: ret->text = sender->name; return;
	case SUBTICK_COUNT: return figure_u64(ret, sender->count);
	case SUBTICK_PID: return figure_u64(ret, process ? sender->pid : UINT64_MAX);
	case SUBTICK_COMM: ret->text = process ? sender->comm : NULL; return;
	default: return;
	}
}

static void get(const void *window, enum subtick_list list, size_t row, enum subtick_key key,
		struct figure *ret)
{
	const struct noise_window *w = window;

	switch (list) {
	case SUBTICK_WINDOW: return get_window(w, key, ret);
	case SUBTICK_LOSSES: return figure_loss(w, &losses[row], key, ret);
	case SUBTICK_CPUS: return get_cpu(&w->cores[row], key, ret);
	case SUBTICK_SOURCES: return get_source(&w->sources[row], key, ret);
	case SUBTICK_VICTIMS: return get_victim(&w->hits[row], key, ret);
	case SUBTICK_DELAYS: return get_delay(&w->delays[row], key, ret);
	case SUBTICK_FUNCTIONS: return get_function(&w->functions[row], key, ret);
	case SUBTICK_SENDERS: return get_sender(&w->senders.list[row], key, ret);
	case SUBTICK_CALLS: return get_sender(&w->calls.list[row], key, ret);
	default: return;
	}
}

static const struct api_view view = {window_of, rows, get};

int subtick_noise_open(struct subtick **ret, const struct subtick_noise_opts *opts)
{
	struct err *err = api_err();
	struct subtick_noise_opts own;
	struct noise_opts noise = {0};
	struct subtick *ctx;
	int rc;

	if (!ret)
		return err_set(err, -EINVAL, "a pointer is NULL");
	rc = api_copy_opts(&own, sizeof(own), opts, API_OPTS_LEAST(own, cpus), err);
	if (!rc)
		rc = api_cpus(own.cpus, &noise.cpus, err);
	if (rc)
		return rc;
	if (own.flags & ~(uint32_t)SUBTICK_NOISE_SENDERS)
		return err_set(err, -EINVAL, "unknown flags 0x%x", own.flags);
	noise.senders = own.flags & SUBTICK_NOISE_SENDERS;
	ctx = api_new(&view, err);
	if (!ctx)
		return -ENOMEM;
	sys_bpf_log_hold();
	rc = api_start(ctx, noise_open(&noise, &ctx->meter, err), ret, err);
	sys_bpf_log_release();
	return rc;
}
