/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Writes a timeline as an HTML page: data, script, and a table of the longest waits. */
#include "view/view.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "view/html/html.h"
#include "view/utf8.h"

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

static void put_slices(FILE *out, const struct timeline *t, struct words *parts,
		       struct words *names)
{
	uint32_t cpu = UINT32_MAX;

	fputs(",\n\"cpus\":[", out);
	array_for_each(s, t->slices, t->nr_slices) {
		bool task = !strcmp(s->part, "task") || !strcmp(s->part, "ksoftirqd");

		if (s->cpu != cpu)
			fprintf(out, "%s\n{\"cpu\":%" PRIu32 ",\"at\":%" PRIu64 ",\"slices\":[",
				s > t->slices ? "]}," : "", s->cpu, s->from_ns - t->start_ns);
		fprintf(out, "%s%" PRIu64 ",%zu,%zu", s->cpu == cpu ? "," : "",
			s->to_ns - s->from_ns, word(parts, s->part),
			task	  ? s->pid
			: s->name ? word(names, s->name)
				  : s->state);
		cpu = s->cpu;
	}
	fputs(t->nr_slices ? "]}]" : "]", out);
}

static void put_waits(FILE *out, const struct timeline *t)
{
	fputs(",\n\"waits\":[", out);
	array_for_each(w, t->waits, t->nr_waits) {
		fprintf(out,
			"%s\n{\"from\":%" PRIu64 ",\"to\":%" PRIu64 ",\"cpu\":%" PRIu32
			",\"pid\":%" PRIu32 ",\"woken\":%s,\"held\":%s,\"hold\":%" PRIu64
			",\"waking\":%" PRIu64 ",\"waker\":%" PRIu32 ",\"waker_cpu\":%" PRIu32
			",\"irq\":%" PRIu64 ",\"softirq\":%" PRIu64 ",\"idle\":%" PRIu64,
			w > t->waits ? "," : "", w->from_ns - t->start_ns, w->to_ns - t->start_ns,
			w->cpu, w->pid, w->woken ? "true" : "false", w->held ? "true" : "false",
			w->throttled_ns, w->waking_ns ? w->waking_ns - t->start_ns : 0, w->waker,
			w->waker_cpu, w->irq_ns, w->softirq_ns, w->idle_ns);
		if (w->waker_irq) {
			fputs(",\"by\":", out);
			html_json_text(out, w->waker_irq);
		}
		if (w->culprit != UINT32_MAX)
			fprintf(out, ",\"culprit\":%" PRIu32 ",\"of_it\":%" PRIu64, w->culprit,
				w->culprit_ns);
		if (w->avoidable_ns)
			fprintf(out,
				",\"avoidable\":%" PRIu64 ",\"idle_cpu\":%" PRIu32 ",\"idle_cpu_ns\":%" PRIu64,
				w->avoidable_ns, w->idle_cpu, w->idle_cpu_ns);
		putc('}', out);
	}
	putc(']', out);
}

/* Writes the ticks of each CPU, each as the difference from the previous tick. */
static void put_ticks(FILE *out, const struct timeline *t)
{
	uint32_t cpu = UINT32_MAX;
	uint64_t last_ns = 0;

	fputs(",\n\"ticks\":[", out);
	array_for_each(e, t->events, t->nr_events) {
		if (e->kind != TIMELINE_TICK || e->ns < t->from_ns || e->ns >= t->to_ns)
			continue;
		if (e->cpu != cpu) {
			fprintf(out, "%s\n{\"cpu\":%" PRIu32 ",\"at\":[", last_ns ? "]}," : "", e->cpu);
			cpu = e->cpu;
			last_ns = t->start_ns;
		} else {
			putc(',', out);
		}
		fprintf(out, "%" PRIu64, e->ns - last_ns);
		last_ns = e->ns;
	}
	fputs(last_ns ? "]}]" : "]", out);
}

/* Sentences about the recording, for the page and for its JSON data. */
struct sentences {
	char *about, *left_out, *waits;
};

static bool is_whole(const struct timeline *t)
{
	return t->nr_slices == t->all_slices && !t->lost;
}

static int make_sentences(const struct timeline *t, struct sentences *s)
{
	char length[32], shown[32], when[40] = "", lost[160] = "", cut[200] = "", unknown[120] = "";
	time_t seconds = t->unix_ns / 1000000000;
	struct tm tm;

	if (gmtime_r(&seconds, &tm))
		strftime(when, sizeof(when), "%F %T UTC", &tm);
	html_ns((double)(t->end_ns - t->start_ns), length, sizeof(length));
	if (t->lost)
		snprintf(lost, sizeof(lost),
			 "%" PRIu64 " edges were overwritten, not kept or not passed to the "
			 "programs; what a core did in a gap is unknown. ",
			 t->lost);
	if (t->nr_slices < t->all_slices)
		snprintf(cut, sizeof(cut),
			 "The picture has %zu of %zu slices: %s of %s, around the event or the "
			 "longest wait. A .pftrace or .jsonl file has all.",
			 t->nr_slices, t->all_slices,
			 html_ns((double)(t->to_ns - t->from_ns), shown, sizeof(shown)), length);
	if (t->unknown_starts)
		snprintf(unknown, sizeof(unknown),
			 "%" PRIu64 " more waits began before the recording or in a gap: their "
			 "length is unknown. ",
			 t->unknown_starts);
	if (asprintf(&s->about, "%s%s%s: %s of every context change%s%s.", t->machine ?: "",
		     t->machine ? ", " : "", when, length, t->ended ? ", " : "", t->ended ?: "") < 0 ||
	    asprintf(&s->left_out, "%s%s%s",
		     is_whole(t) ? "Nothing was lost, and nothing is left out." : "", lost,
		     cut) < 0 ||
	    asprintf(&s->waits, "%zu of %zu waits. %s", t->nr_waits, t->all_waits, unknown) < 0)
		return -ENOMEM;
	return 0;
}

static int put_data(FILE *out, const struct timeline *t, const struct sentences *s)
{
	struct words parts = {0}, names = {0};
	bool failed;

	fputs("<script type=\"application/json\" id=\"data\">", out);
	fprintf(out, "{\"from\":%" PRIu64 ",\"to\":%" PRIu64, t->from_ns - t->start_ns,
		t->to_ns - t->start_ns);
	put_slices(out, t, &parts, &names);
	put_waits(out, t);
	put_ticks(out, t);
	fputs(",\n\"tasks\":[", out);
	array_for_each(task, t->tasks, t->nr_tasks) {
		fprintf(out, "%s[%" PRIu32 ",", task > t->tasks ? "," : "", task->pid);
		html_json_text(out, task->comm);
		putc(']', out);
	}
	fputs("],\n\"about\":", out);
	html_json_text(out, s->about);
	fputs(",\n\"left_out\":", out);
	html_json_text(out, s->left_out);
	fputs(",\n\"waits_about\":", out);
	html_json_text(out, s->waits);
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

static void put_task(FILE *out, const struct timeline *t, uint32_t pid)
{
	fputs("<td>", out);
	utf8_print_markup(out, timeline_comm(t, pid), 0, true);
	if (pid)
		fprintf(out, " (%" PRIu32 ")", pid);
	fputs("</td>", out);
}

static void put_wait(FILE *out, const struct timeline *t, const struct timeline_wait *w)
{
	fprintf(out, "<tr><td class=\"number\" data-wait=\"%td\">%.6f ms</td>", w - t->waits,
		(double)(w->to_ns - t->start_ns) / 1e6);
	put_ns(out, w->to_ns - w->from_ns);
	put_task(out, t, w->pid);
	fprintf(out, "<td class=\"number\">%" PRIu32 "</td>", w->cpu);
	if (w->woken) {
		if (w->waker_irq)
			html_element(out, "td", w->waker_irq);
		else
			put_task(out, t, w->waker);
		fprintf(out, "<td class=\"number\">%" PRIu32 "</td>", w->waker_cpu);
	} else {
		fprintf(out, "<td>lost its core%s</td><td class=\"number\">-</td>",
			w->held ? " to its CPU quota" : "");
	}
	if (w->culprit == UINT32_MAX)
		fputs("<td class=\"\">-</td>", out);
	else
		put_task(out, t, w->culprit);
	put_ns(out, w->culprit_ns);
	put_ns(out, w->throttled_ns);
	put_ns(out, w->irq_ns);
	put_ns(out, w->softirq_ns);
	put_ns(out, w->idle_ns);
	fputs("</tr>\n", out);
}

static void put_table(FILE *out, const struct timeline *t, const struct sentences *s)
{
	fputs("<h2>The longest waits for a core</h2>\n<p class=\"muted\">", out);
	utf8_print_markup(out, s->waits, 0, true);
	fputs("<em>Behind whom</em> had most of the wait on the core that the task got; in "
	      "<em>quota</em> the CPU quota of its cgroup held the task, whatever that core did; "
	      "interrupts, softirqs "
	      "and idle are parts of the wait as well.</p>\n<div "
	      "class=\"scroll\"><table><thead><tr>"
	      "<th>ended at</th><th class=\"number\">wait</th><th>task</th><th "
	      "class=\"number\">CPU</th><th>woken by</th>"
	      "<th class=\"number\">on CPU</th><th>behind whom</th><th class=\"number\">of it</th><th "
	      "class=\"number\">quota</th><th class=\"number\">irq</th>"
	      "<th class=\"number\">softirq</th><th class=\"number\">idle</th></tr></thead><tbody>\n",
	      out);
	array_for_each(wait, t->waits, t->nr_waits)
		put_wait(out, t, wait);
	fputs("</tbody></table></div>\n", out);
}

static void put_head(FILE *out, const struct timeline *t, const struct sentences *s)
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
	html_element(out, "p class=\"muted\"", s->about);
	fputs("</header>\n<main>\n", out);
	html_element(out, is_whole(t) ? "p class=\"status good\"" : "p class=\"status bad\"",
		     s->left_out);
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
	fputs("</ul>\n<p class=\"muted\">Zoom: Ctrl and wheel, two fingers, double click, or + and - "
	      "keys. Move: drag, or arrow keys.</p><noscript><p class=\"status bad\">The picture "
	      "needs JavaScript; the table does not.</p></noscript>\n"
	      "<section id=\"chained\" hidden><h2>The chain of this wait</h2>"
	      "<ol id=\"chain\"></ol></section>\n",
	      out);
}

int timeline_html(FILE *out, const struct timeline *timeline)
{
	struct sentences sentences = {0};
	int rc = make_sentences(timeline, &sentences);

	if (!rc) {
		put_head(out, timeline, &sentences);
		put_table(out, timeline, &sentences);
		fputs("</main>\n", out);
		rc = put_data(out, timeline, &sentences);
		fprintf(out, "<script>%s</script>\n</body></html>\n", web_timeline_script);
	}
	free(sentences.about);
	free(sentences.left_out);
	free(sentences.waits);
	return stream_end(out, rc);
}
