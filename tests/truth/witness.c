/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Records tracepoints through perf_event_open(2), with one ring buffer per CPU that is read at the
 * end.
 */
#include "witness.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "live.h"

#define RING_PAGES 1024
#define EVENTS_AT  "/sys/kernel/tracing/events/"

static size_t page(void)
{
	return sysconf(_SC_PAGESIZE);
}

static FILE *event_file(const char *name, const char *file)
{
	char path[160];

	snprintf(path, sizeof(path), EVENTS_AT "%s/%s", name, file);
	return fopen(path, "re");
}

bool witness_has(const char *name)
{
	FILE *id = event_file(name, "id");

	if (id)
		fclose(id);
	return id;
}

static long long event_id(const char *name)
{
	FILE *file = event_file(name, "id");
	long long id = -1;

	if (!file || fscanf(file, "%lld", &id) != 1)
		live_fail_all("no tracepoint %s", name);
	fclose(file);
	return id;
}

/*
 * Opens a perf event. The perf events of a group are enabled together, so either all events or no
 * event of the group records a given tracepoint hit.
 */
static int event_open(const char *name, int cpu, int leader)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT,
		.size = sizeof(attr),
		.config = event_id(name),
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_TIME | PERF_SAMPLE_ID | PERF_SAMPLE_RAW,
		.disabled = leader < 0,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		/*
		 * The test reads the ring buffer at the end, so perf need not wake a reader during
		 * the recording.
		 */
		.watermark = 1,
		.wakeup_watermark = UINT32_MAX,
	};
	int fd = syscall(SYS_perf_event_open, &attr, -1, cpu, leader, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		live_fail_all("perf has no %s on CPU %d: %s", name, cpu, strerror(errno));
	return fd;
}

static void *ring_map(int fd)
{
	void *ring = mmap(NULL, (1 + RING_PAGES) * page(), PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_POPULATE, fd, 0);

	if (ring == MAP_FAILED)
		live_fail_all("no ring for perf: %s", strerror(errno));
	return ring;
}

void witness_begin(struct witness *w, const char *const *names)
{
	*w = (struct witness){.names = names, .nr_cpus = sysconf(_SC_NPROCESSORS_ONLN)};
	while (names[w->nr])
		w->nr++;
	if (w->nr > WITNESS_EVENTS || w->nr_cpus > WITNESS_CPUS)
		live_fail_all("more events or CPUs than there is room for");
	for (unsigned int cpu = 0; cpu < w->nr_cpus; cpu++) {
		for (unsigned int i = 0; i < w->nr; i++)
			w->fd[cpu][i] = event_open(names[i], cpu, i ? w->fd[cpu][0] : -1);
		w->ring[cpu] = ring_map(w->fd[cpu][0]);
		for (unsigned int i = 1; i < w->nr; i++)
			if (ioctl(w->fd[cpu][i], PERF_EVENT_IOC_SET_OUTPUT, w->fd[cpu][0]))
				live_fail_all("perf shares no ring: %s", strerror(errno));
		ioctl(w->fd[cpu][0], PERF_EVENT_IOC_ENABLE, 0);
	}
}

static unsigned int event_of(const struct witness *w, unsigned int cpu, uint64_t id)
{
	for (unsigned int i = 0; i < w->nr; i++) {
		uint64_t own = 0;

		if (!ioctl(w->fd[cpu][i], PERF_EVENT_IOC_ID, &own) && own == id)
			return i;
	}
	live_fail_all("a sample of no event of ours");
}

/*
 * Fields of a perf sample in the order of sample_type: id follows time, and the raw data begins
 * with its length.
 */
struct sample {
	struct perf_event_header header;
	uint64_t time_ns;
	uint64_t id;
	uint32_t length;
	unsigned char raw[];
} __attribute__((packed));

static void read_ring(struct witness *w, unsigned int cpu, size_t *room)
{
	const struct perf_event_mmap_page *head = w->ring[cpu];
	size_t size = RING_PAGES * page(), at = 0;
	uint64_t last_id = 0;
	unsigned int last = 0;

	if (head->data_head > size)
		live_fail_all("the witness has lost samples: %llu bytes",
			      (unsigned long long)head->data_head);
	w->copy[cpu] = malloc(size);
	if (!w->copy[cpu])
		abort();
	memcpy(w->copy[cpu], (char *)w->ring[cpu] + page(), head->data_head);
	while (at < head->data_head) {
		const struct sample *sample = (const void *)(w->copy[cpu] + at);

		at += sample->header.size;
		if (sample->header.type == PERF_RECORD_LOST)
			live_fail_all("the witness has lost samples");
		if (sample->header.type != PERF_RECORD_SAMPLE)
			continue;
		if (w->nr_hits == *room) {
			*room = *room ? 2 * *room : 1024;
			w->hits = realloc(w->hits, *room * sizeof(*w->hits));
			if (!w->hits)
				abort();
		}
		if (sample->id != last_id)
			last = event_of(w, cpu, sample->id);
		last_id = sample->id;
		w->hits[w->nr_hits++] = (struct witness_hit){.time_ns = sample->time_ns,
							     .event = last,
							     .cpu = cpu,
							     .length = sample->length,
							     .raw = sample->raw};
	}
}

static int by_time(const void *a, const void *b)
{
	const struct witness_hit *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	/* Events of one CPU with equal timestamps keep the order of the ring buffer. */
	return (x->raw > y->raw) - (x->raw < y->raw);
}

void witness_end(struct witness *w)
{
	size_t room = 0;

	for (unsigned int cpu = 0; cpu < w->nr_cpus; cpu++)
		ioctl(w->fd[cpu][0], PERF_EVENT_IOC_DISABLE, 0);
	for (unsigned int cpu = 0; cpu < w->nr_cpus; cpu++) {
		read_ring(w, cpu, &room);
		munmap(w->ring[cpu], (1 + RING_PAGES) * page());
		for (unsigned int i = 0; i < w->nr; i++)
			close(w->fd[cpu][i]);
	}
	if (w->nr_hits)
		qsort(w->hits, w->nr_hits, sizeof(*w->hits), by_time);
}

void witness_free(struct witness *w)
{
	for (unsigned int cpu = 0; cpu < w->nr_cpus; cpu++)
		free(w->copy[cpu]);
	free(w->hits);
}

/*
 * Finds a field in the event's format file, in a line such as "   field:pid_t prev_pid;
 * offset:24;      size:4; signed:1;".
 */
static bool field_place(const char *event, const char *field, unsigned int *offset,
			unsigned int *size, int *is_signed)
{
	FILE *file = event_file(event, "format");
	char line[512], wanted[64];
	bool found = false;

	snprintf(wanted, sizeof(wanted), " %s;", field);
	while (file && !found && fgets(line, sizeof(line), file)) {
		const char *at = strstr(line, wanted);

		found = at && sscanf(at + strlen(wanted), " offset:%u; size:%u; signed:%d", offset,
				     size, is_signed) == 3;
	}
	if (file)
		fclose(file);
	return found;
}

int64_t witness_field(const struct witness *w, const struct witness_hit *hit, const char *field)
{
	static struct {
		const char *event, *field;
		unsigned int offset, size;
		int is_signed;
	} known[32];
	static unsigned int nr;
	unsigned int i = 0;
	int64_t value = 0;

	while (i < nr && (known[i].event != w->names[hit->event] || strcmp(known[i].field, field)))
		i++;
	if (i == nr) {
		known[i].event = w->names[hit->event];
		known[i].field = field;
		if (nr == 31 || !field_place(known[i].event, field, &known[i].offset,
					     &known[i].size, &known[i].is_signed))
			live_fail_all("%s has no field %s", known[i].event, field);
		nr++;
	}
	if (known[i].size > sizeof(value) || known[i].offset + known[i].size > hit->length)
		live_fail_all("%s: field %s does not fit", known[i].event, field);
	/*
	 * Copying the field to the start of `value` is correct, because both supported
	 * architectures are little-endian.
	 */
	memcpy(&value, hit->raw + known[i].offset, known[i].size);
	if (known[i].is_signed && known[i].size < sizeof(value)) {
		unsigned int shift = 64 - 8 * known[i].size;

		value = (int64_t)((uint64_t)value << shift) >> shift;
	}
	return value;
}
