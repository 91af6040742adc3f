/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Writes a trace as an HTML page: data, script, and a table of the longest waits. */
#include "tracefile/tracefile.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "present/trace.h"
#include "view/html/html.h"
#include "view/utf8.h"
#include "view/view.h"

/* CSS classes and names of the parts of a CPU's time, in the order of the legend. */
static const char *const legend[][2] = {
	{"ctx-task", "tasks"},
	{"ctx-hardirq", "interrupts"},
	{"ctx-softirq_on_idle", "softirq on idle"},
	{"ctx-softirq_on_task", "softirq on tasks"},
	{"ctx-ksoftirqd", "ksoftirqd"},
	{"ctx-idle_loop", "idle loop"},
	{"ctx-poll_idle", "polling idle"},
	{"ctx-unknown", "unknown"},
	{"idle", "halted"},
	{"stat-off", "wait"},
	{"held", "of it held by CPU quota"},
};

struct page {
	const struct tracefile *file;
	const struct trace_window *window;
	struct tracefile_picture picture;
	uint64_t lost; /* number of events that were lost during the recording */
	/* sentences about the recording */
	char *ended, *about, *left_out, *waits;
};

/* Table of strings in the JSON data of a trace page. Slices refer to a string by its index. */
struct words {
	const char **list;
	size_t nr;
	bool failed;
};

/* Returns the index of @text, and adds @text if missing. A trace has only tens of strings. */
static size_t word(struct words *words, const char *text)
{
	size_t at = 0;

	while (at < words->nr && strcmp(words->list[at], text))
		at++;
	if (at == words->nr && array_push(words->list, words->nr, text))
		words->failed = true;
	return at;
}

static void put_words(FILE *out, const char *key, const struct words *words)
{
	fprintf(out, ",\n\"%s\":[", key);
	array_for_each(text, words->list, words->nr) {
		fputs(text > words->list ? "," : "", out);
		html_json_text(out, *text);
	}
	putc(']', out);
}

static void put_slices(FILE *out, const struct page *page, struct words *parts, struct words *names)
{
	const struct tracefile_picture *picture = &page->picture;
	const char *comma = "";

	fputs(",\n\"cpus\":[", out);
	array_for_each(cpu, page->window->cpu, page->window->nr_cpus) {
		size_t first = trace_slice_at(cpu, picture->from_ns), at = first;

		for (; at < cpu->nr_slices && cpu->slices[at].from_ns < picture->to_ns; at++) {
			const struct trace_slice *s = &cpu->slices[at];
			const char *name = trace_slice_name(page->window, s);
			size_t what = 0;

			if (s->part == LOAD_PART_TASK || s->part == LOAD_PART_KSOFTIRQD)
				what = s->pid;
			else if (s->part == LOAD_PART_IDLE || s->part == LOAD_PART_POLL_IDLE)
				what = s->what;
			if (at == first)
				fprintf(out, "%s\n{\"cpu\":%td,\"at\":%" PRIu64 ",\"slices\":[",
					comma, cpu - page->window->cpu, s->from_ns);
			fprintf(out, "%s%" PRIu64 ",%zu,%zu", at > first ? "," : "",
				s->to_ns - s->from_ns, word(parts, load_part_name(s->part)),
				name ? word(names, name) : what);
		}
		if (at > first) {
			fputs("]}", out);
			comma = ",";
		}
	}
	putc(']', out);
}

static void put_waits(FILE *out, const struct page *page)
{
	fputs(",\n\"waits\":[", out);
	array_for_each(w, page->picture.waits, page->picture.nr_waits) {
		const char *irq = trace_waker_irq(page->window, w);
		struct trace_chain chain;

		trace_wait_chain(page->window, w, &chain);
		fprintf(out,
			"%s\n{\"from\":%" PRIu64 ",\"to\":%" PRIu64 ",\"cpu\":%" PRIu32
			",\"pid\":%" PRIu32 ",\"woken\":%s,\"held\":%s,\"hold\":%" PRIu64
			",\"waking\":%" PRIu64 ",\"waker\":%" PRIu32 ",\"waker_cpu\":%" PRIu32
			",\"irq\":%" PRIu64 ",\"softirq\":%" PRIu64 ",\"idle\":%" PRIu64,
			w > page->picture.waits ? "," : "", w->from_ns, w->to_ns, w->cpu, w->pid,
			w->woken ? "true" : "false", w->throttled ? "true" : "false",
			w->throttled_ns, w->waking_ns, w->waker, w->waker_cpu, chain.irq_ns,
			chain.softirq_ns, chain.idle_ns);
		if (irq) {
			fputs(",\"by\":", out);
			html_json_text(out, irq);
		}
		if (chain.culprit != UINT32_MAX)
			fprintf(out, ",\"culprit\":%" PRIu32 ",\"of_it\":%" PRIu64, chain.culprit,
				chain.culprit_ns);
		if (w->avoidable.ns)
			fprintf(out,
				",\"avoidable\":%" PRIu64 ",\"idle_cpu\":%" PRIu32
				",\"idle_cpu_ns\":%" PRIu64,
				w->avoidable.ns, w->avoidable.cpu, w->avoidable.cpu_ns);
		putc('}', out);
	}
	putc(']', out);
}

/* Writes the ticks of each CPU, each as the difference from the previous tick. */
static void put_ticks(FILE *out, const struct page *page)
{
	const char *comma = "";

	fputs(",\n\"ticks\":[", out);
	array_for_each(cpu, page->window->cpu, page->window->nr_cpus) {
		uint64_t last_ns = 0, nr = 0;

		array_for_each(edge, cpu->core.edges, cpu->core.nr_edges) {
			uint64_t ns = trace_edge_ns(edge);

			if (trace_edge_kind(edge) != TRACE_TICK || ns < page->picture.from_ns ||
			    ns >= page->picture.to_ns)
				continue;
			if (nr++)
				putc(',', out);
			else
				fprintf(out, "%s\n{\"cpu\":%td,\"at\":[", comma,
					cpu - page->window->cpu);
			fprintf(out, "%" PRIu64, ns - last_ns);
			last_ns = ns;
		}
		if (nr) {
			fputs("]}", out);
			comma = ",";
		}
	}
	putc(']', out);
}

static bool is_whole(const struct page *page)
{
	return page->picture.nr_slices == page->picture.all_slices && !page->lost;
}

static int make_sentences(struct page *page)
{
	const struct tracefile_picture *picture = &page->picture;
	const struct trace_window *w = page->window;
	char length[32], shown[32], when[40] = "", lost[160] = "", cut[200] = "", unknown[120] = "";
	const char *machine = page->file->machine;
	time_t seconds = w->time_unix_ns / 1000000000;
	struct tm tm;

	page->ended = trace_ended(w);
	if (w->event && !page->ended)
		return -ENOMEM;
	if (gmtime_r(&seconds, &tm))
		strftime(when, sizeof(when), "%F %T UTC", &tm);
	html_ns((double)w->to_ns, length, sizeof(length));
	if (page->lost)
		snprintf(lost, sizeof(lost),
			 "%" PRIu64 " edges were overwritten, not kept or not passed to the "
			 "programs; what a core did in a gap is unknown. ",
			 page->lost);
	if (picture->nr_slices < picture->all_slices)
		snprintf(cut, sizeof(cut),
			 "The picture has %zu of %zu slices: %s of %s, around the event or the "
			 "longest wait. A .pftrace or .jsonl file has all.",
			 picture->nr_slices, picture->all_slices,
			 html_ns((double)(picture->to_ns - picture->from_ns), shown, sizeof(shown)),
			 length);
	if (w->losses.unknown_start)
		snprintf(unknown, sizeof(unknown),
			 "%" PRIu64 " more waits began before the recording or in a gap: their "
			 "length is unknown. ",
			 w->losses.unknown_start);
	if (asprintf(&page->about, "%s%s%s: %s of every context change%s%s.", machine ?: "",
		     machine ? ", " : "", when, length, page->ended ? ", " : "",
		     page->ended ?: "") < 0 ||
	    asprintf(&page->left_out, "%s%s%s",
		     is_whole(page) ? "Nothing was lost, and nothing is left out." : "", lost,
		     cut) < 0 ||
	    asprintf(&page->waits, "%zu of %zu waits. %s", picture->nr_waits, w->waits.nr,
		     unknown) < 0)
		return -ENOMEM;
	return 0;
}

static int put_data(FILE *out, const struct page *page)
{
	struct words parts = {0}, names = {0};
	bool failed;

	fputs("<script type=\"application/json\" id=\"data\">", out);
	fprintf(out, "{\"from\":%" PRIu64 ",\"to\":%" PRIu64, page->picture.from_ns,
		page->picture.to_ns);
	put_slices(out, page, &parts, &names);
	put_waits(out, page);
	put_ticks(out, page);
	fputs(",\n\"tasks\":[", out);
	array_for_each(task, page->window->names, page->window->nr_names) {
		fprintf(out, "%s[%" PRIu32 ",", task > page->window->names ? "," : "", task->pid);
		html_json_text(out, task->comm);
		putc(']', out);
	}
	fputs("],\n\"about\":", out);
	html_json_text(out, page->about);
	fputs(",\n\"left_out\":", out);
	html_json_text(out, page->left_out);
	fputs(",\n\"waits_about\":", out);
	html_json_text(out, page->waits);
	put_words(out, "parts", &parts);
	put_words(out, "names", &names);
	fputs("}\n</script>\n", out);
	failed = parts.failed || names.failed;
	free(parts.list);
	free(names.list);
	return failed ? -ENOMEM : 0;
}

static void put_ns(FILE *out, uint64_t ns)
{
	char text[32];

	fprintf(out, "<td class=\"number\">%s</td>",
		ns ? html_ns((double)ns, text, sizeof(text)) : "-");
}

static void put_task(FILE *out, const struct trace_window *w, uint32_t pid)
{
	fputs("<td>", out);
	utf8_print_markup(out, trace_comm(w, pid), 0, true);
	if (pid)
		fprintf(out, " (%" PRIu32 ")", pid);
	fputs("</td>", out);
}

static void put_wait(FILE *out, const struct page *page, const struct trace_wait *wait)
{
	const struct trace_window *w = page->window;
	const char *irq = trace_waker_irq(w, wait);
	struct trace_chain chain;

	trace_wait_chain(w, wait, &chain);
	fprintf(out, "<tr><td class=\"number\" data-wait=\"%td\">%.6f ms</td>",
		wait - page->picture.waits, (double)wait->to_ns / 1e6);
	put_ns(out, wait->to_ns - wait->from_ns);
	put_task(out, w, wait->pid);
	fprintf(out, "<td class=\"number\">%" PRIu32 "</td>", wait->cpu);
	if (wait->woken) {
		if (irq)
			html_element(out, "td", irq);
		else
			put_task(out, w, wait->waker);
		fprintf(out, "<td class=\"number\">%" PRIu32 "</td>", wait->waker_cpu);
	} else {
		fprintf(out, "<td>lost its core%s</td><td class=\"number\">-</td>",
			wait->throttled ? " to its CPU quota" : "");
	}
	if (chain.culprit == UINT32_MAX)
		fputs("<td class=\"\">-</td>", out);
	else
		put_task(out, w, chain.culprit);
	put_ns(out, chain.culprit_ns);
	put_ns(out, wait->throttled_ns);
	put_ns(out, chain.irq_ns);
	put_ns(out, chain.softirq_ns);
	put_ns(out, chain.idle_ns);
	fputs("</tr>\n", out);
}

static void put_table(FILE *out, const struct page *page)
{
	fputs("<h2>The longest waits for a core</h2>\n<p class=\"muted\">", out);
	utf8_print_markup(out, page->waits, 0, true);
	fputs("<em>Behind whom</em> had most of the wait on the core that the task got; in "
	      "<em>quota</em> the CPU quota of its cgroup held the task, whatever that core did; "
	      "interrupts, softirqs "
	      "and idle are parts of the wait as well.</p>\n<div "
	      "class=\"scroll\"><table><thead><tr>"
	      "<th>ended at</th><th class=\"number\">wait</th><th>task</th><th "
	      "class=\"number\">CPU</th><th>woken by</th>"
	      "<th class=\"number\">on CPU</th><th>behind whom</th><th class=\"number\">of "
	      "it</th><th "
	      "class=\"number\">quota</th><th class=\"number\">irq</th>"
	      "<th class=\"number\">softirq</th><th "
	      "class=\"number\">idle</th></tr></thead><tbody>\n",
	      out);
	array_for_each(wait, page->picture.waits, page->picture.nr_waits)
		put_wait(out, page, wait);
	fputs("</tbody></table></div>\n", out);
}

static void put_head(FILE *out, const struct page *page)
{
	fprintf(out,
		"<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
		"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
		"script-src '%s'; "
		"style-src '%s'; base-uri 'none'; form-action 'none'\">\n"
		"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
		"<meta name=\"color-scheme\" content=\"light dark\">\n"
		"<title>subtick trace</title>\n<style>%s</style>",
		web_timeline_hash, web_style_hash, web_style);
	fputs("</head><body class=\"trace\">\n<header><h1>subtick trace</h1>\n", out);
	html_element(out, "p class=\"muted\"", page->about);
	fputs("</header>\n<main>\n", out);
	html_element(out, is_whole(page) ? "p class=\"status good\"" : "p class=\"status bad\"",
		     page->left_out);
	fputs("\n<p><button data-do=\"in\">+</button>"
	      "<button data-do=\"out\">\342\210\222</button>"
	      "<button data-do=\"left\">\342\206\220</button>"
	      "<button data-do=\"right\">\342\206\222</button>"
	      "<button data-do=\"all\">all</button><button id=\"link\">link to this</button> "
	      "<output id=\"view\"></output></p>\n"
	      "<canvas id=\"rows\" tabindex=\"0\" role=\"img\" aria-label=\"what each CPU did over "
	      "time; the table below has the longest waits\"></canvas>\n"
	      "<p id=\"about\" class=\"muted about\"></p>\n"
	      "<ul class=\"legend\" aria-label=\"Colours\">",
	      out);
	array_for_each(part, legend, ARRAY_SIZE(legend))
		fprintf(out, "<li><span class=\"swatch %s\"></span>%s</li>", (*part)[0],
			(*part)[1]);
	fputs("</ul>\n<p class=\"muted\">Zoom: Ctrl and wheel, two fingers, double click, or + and "
	      "- "
	      "keys. Move: drag, or arrow keys.</p><noscript><p class=\"status bad\">The picture "
	      "needs JavaScript; the table does not.</p></noscript>\n"
	      "<section id=\"chained\" hidden><h2>The chain of this wait</h2>"
	      "<ol id=\"chain\"></ol></section>\n",
	      out);
}

int tracefile_html(FILE *out, const struct tracefile *file)
{
	const struct trace_window *w = file->window;
	struct page page = {
		.file = file, .window = w, .lost = w->losses.edges + w->losses.recursion_misses};
	int rc = tracefile_picture(file, &page.picture) ?: make_sentences(&page);

	if (!rc) {
		put_head(out, &page);
		put_table(out, &page);
		fputs("</main>\n", out);
		rc = put_data(out, &page);
		fprintf(out, "<script>%s</script>\n</body></html>\n", web_timeline_script);
	}
	free(page.picture.waits);
	free(page.ended);
	free(page.about);
	free(page.left_out);
	free(page.waits);
	return stream_end(out, rc);
}
