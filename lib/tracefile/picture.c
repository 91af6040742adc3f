/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Selects the slices and waits of a recording for its HTML page. */
#include "tracefile/tracefile.h"

#include "base/array.h"

/* Sets the time range to @reach_ns before and after @centre_ns, and counts the slices in it. */
static size_t set_range(const struct trace_window *w, uint64_t centre_ns, uint64_t reach_ns,
			struct tracefile_picture *picture)
{
	picture->from_ns = centre_ns > w->from_ns + reach_ns ? centre_ns - reach_ns : w->from_ns;
	picture->to_ns = w->to_ns > centre_ns + reach_ns ? centre_ns + reach_ns : w->to_ns;
	picture->nr_slices = 0;
	array_for_each(cpu, w->cpu, w->nr_cpus) {
		size_t end = trace_slice_at(cpu, picture->to_ns);

		/* Include a slice that begins inside the time range and ends after it. */
		end += end < cpu->nr_slices && cpu->slices[end].from_ns < picture->to_ns;
		picture->nr_slices += end - trace_slice_at(cpu, picture->from_ns);
	}
	return picture->nr_slices;
}

/* Sets the longest time range around @centre_ns that has at most @max slices. */
static void choose(const struct trace_window *w, uint64_t centre_ns, size_t max,
		   struct tracefile_picture *picture)
{
	uint64_t low = 0, high = w->to_ns - w->from_ns;

	if (set_range(w, centre_ns, high, picture) <= max)
		return;
	while (low + 1 < high) {
		uint64_t mid = low + (high - low) / 2;

		if (set_range(w, centre_ns, mid, picture) <= max)
			low = mid;
		else
			high = mid;
	}
	set_range(w, centre_ns, low, picture);
}

int tracefile_picture(const struct tracefile *file, struct tracefile_picture *ret_picture)
{
	const struct trace_window *w = file->window;
	struct tracefile_picture picture = {0};
	uint64_t centre_ns = w->event ? w->event_ns : w->to_ns;
	int rc = trace_longest_waits(w, file->max_waits, &picture.waits, &picture.nr_waits);

	if (rc)
		return rc;
	if (!w->event && picture.nr_waits)
		centre_ns = picture.waits[0].from_ns +
			    (picture.waits[0].to_ns - picture.waits[0].from_ns) / 2;
	choose(w, centre_ns, file->max_slices, &picture);
	array_for_each(cpu, w->cpu, w->nr_cpus)
		picture.all_slices += cpu->nr_slices;
	*ret_picture = picture;
	return 0;
}
