// SPDX-License-Identifier: LGPL-2.1-or-later
// View "noise": time taken from tasks per core and source, softirq delays, workqueue functions, and interrupted
// cgroups.
import {bar, count, el, known, legend, missing, named, notes, ns, origin, printable, row, setText, table} from "./dom.js";
import {trim} from "./past.js";
import {Plot} from "./plot.js";

// Parts of a core's noise: key, name on the page, CSS class of the colour.
const PARTS = [
	["hardirq_ratio", "interrupts", "ctx-hardirq"],
	["softirqs_ratio", "softirqs", "ctx-softirq_on_task"],
	["kthread_ratio", "kernel threads", "ctx-ksoftirqd"],
];
const PAGE = 50;
const HITS = 20;

// Shares of noise are often below 0.1 %, so they need more digits.
function share(value) {
	return known(value) ? (value * 100).toFixed(2) + " %" : "–";
}

function rate(value) {
	return known(value) ? count(Math.round(value)) : "–";
}

function mean(list) {
	return list.length ? list.reduce((a, b) => a + b, 0) / list.length : null;
}

function most(list) {
	return list.length ? Math.max(...list) : null;
}

function nameOf(source) {
	return known(source.irq) ? `${printable(source.name)} (line ${source.irq})` : printable(source.name);
}

function cells(heads, texts) {
	return texts.map((text, i) => el("td", {class: heads[i + 1][1]}, text));
}

// heads: [[column title, CSS class]]. Columns of class "roomy" are hidden on phones. line() returns the heading of a
// row and the texts of its cells.
function listTable(style, caption, heads, list, line) {
	return table(style, caption, heads, list.map((one) => {
		const [head, ...texts] = line(one);

		return row(head, ...cells(heads, texts));
	}));
}

export class Noise {
	constructor(place) {
		this.past = [];
		this.limit = PAGE;
		this.summary = el("p", {class: "summary"});
		this.cores = el("div");
		this.filter = el("input", {type: "search", id: "noise-filter", autocomplete: "off",
			oninput: () => { this.limit = PAGE; this.render(); }});
		this.sources = el("div");
		this.more = el("button", {type: "button", hidden: true,
			onclick: () => { this.limit += PAGE; this.render(); }}, `Show ${PAGE} more`);
		this.delays = el("div");
		this.functions = el("div");
		this.hits = el("div");
		this.origin = el("p", {class: "muted"});
		this.notes = el("ul", {class: "notes muted"});
		place.append(el("h2", {}, "What takes time from the tasks of each core"), this.summary,
			legend(PARTS.map(([, title, style]) => [style, title])), this.cores,
			el("h2", {}, "By source"),
			el("p", {class: "controls"}, el("label", {for: "noise-filter"}, "Filter"), this.filter),
			this.sources, this.more, el("h2", {}, "Whom it hit"), this.hits,
			el("h2", {}, "How long softirqs waited"), this.delays, el("h2", {}, "What kernel workers executed"), this.functions,
			el("h2", {class: "history"}, "History"));
		this.shares = new Plot(place, {label: "Noise, share of the core's time", format: share, height: 160,
			range: (low, high) => [0, Math.max(high ?? 0, 1e-5) * 1.05],
			series: [{label: "worst core", color: "--bad"}, {label: "mean of the cores", color: "--ctx-task"}]});
		this.longest = new Plot(place, {label: "Longest at once", format: ns, height: 160,
			range: (low, high) => [0, Math.max(high ?? 0, 1) * 1.05],
			series: [{label: "worst core", color: "--bad"}]});
		place.append(this.origin, this.notes);
	}

	restyle() {
		this.shares.restyle();
		this.longest.restyle();
	}

	refuse(why) {
		if (!this.report)
			setText(this.summary, missing("Noise is", why));
	}

	add(report) {
		if (this.report?.time_unix_ns === report.time_unix_ns)
			return;
		this.report = report;
		const shares = (report.cores ?? []).map((core) => core.noise_ratio).filter(known);

		this.past.push({time: report.time_unix_ns / 1e9, worst: most(shares), mean: mean(shares),
			longest: most((report.cores ?? []).map((core) => core.max_ns).filter(known))});
		trim(this.past);
	}

	render() {
		if (!this.report)
			return;
		const cores = [...this.report.cores ?? []].sort((a, b) => (b.noise_ratio ?? -1) - (a.noise_ratio ?? -1));

		this.renderSummary(cores[0]);
		this.renderCores(cores);
		this.renderSources();
		this.renderHits();
		this.renderDelays();
		this.renderFunctions();
		this.shares.draw([this.past.map((window) => window.time), this.past.map((window) => window.worst),
			this.past.map((window) => window.mean)]);
		this.longest.draw([this.past.map((window) => window.time), this.past.map((window) => window.longest)]);
		setText(this.origin, origin(this.report));
		notes(this.notes, this.report);
	}

	renderSummary(worst) {
		setText(this.summary, known(worst?.noise_ratio) ? `CPU ${worst.cpu} loses most: ` +
			`${share(worst.noise_ratio)} of its time, ${rate(worst.events_hz)} events per second, ` +
			`the longest ${ns(worst.max_ns)}.` : "No core has a figure for this window.");
	}

	// All bars are scaled to the core with most noise, because noise is a small part of a core's time.
	renderCores(cores) {
		const heads = [["core", ""], ["noise", "number"], ["events/s", "number roomy"], ["longest", "number"],
			["by kind", "wide"]];
		const scale = Math.max(...cores.map((core) => core.noise_ratio ?? 0), 1e-9);
		const shown = cores.slice(0, PAGE);

		this.cores.replaceChildren(listTable("bars noise-cores",
			`${count(shown.length)} of ${count(cores.length)} cores, most noise first; a full bar is ${share(scale)}`,
			heads, shown, (core) => [`CPU ${core.cpu}`, ...known(core.noise_ratio) ?
				[share(core.noise_ratio), rate(core.events_hz), ns(core.max_ns)] : ["–", "–", printable(core.flags)],
			bar(PARTS.map(([key, title, style]) => [(core[key] ?? 0) / scale, style, `${title}: ${share(core[key])}`]))]));
	}

	renderSources() {
		const heads = [["source", ""], ["core", "number"], ["times", "number roomy"], ["took", "number"],
			["p99", "number roomy"], ["longest", "number"], ["of core", "number roomy"], ["what would move it", "roomy"]];
		const all = this.report.sources ?? [], wanted = this.filter.value.toLowerCase();
		const found = all.filter((source) => `${nameOf(source)} ${source.kind} CPU ${source.cpu}`.toLowerCase()
			.includes(wanted)).sort((a, b) => b.sum_ns - a.sum_ns);
		const shown = found.slice(0, this.limit);

		this.sources.replaceChildren(listTable("noise-sources", `${count(shown.length)} of ${count(found.length)} sources` +
			(found.length < all.length ? ` that match, ${count(all.length)} in total` : "") + ", most time first",
		heads, shown, (source) => [named(source.kind, nameOf(source)), `CPU ${source.cpu}`, count(source.count),
			ns(source.sum_ns), ns(source.p99_ns), ns(source.max_ns), share(source.time_ratio),
			source.advice ? printable(source.advice) : ""]));
		this.more.hidden = found.length <= this.limit;
	}

	renderHits() {
		const heads = [["hit", ""], ["by interrupts", "number"], ["by softirqs", "number roomy"],
			["by kernel threads", "number"], ["longest", "number"], ["task", "roomy"]];
		const all = this.report.hits ?? [], shown = all.slice(0, HITS);

		this.hits.replaceChildren(listTable("noise-hits", `${count(shown.length)} of ${count(all.length)} rows: whose time it was`,
			heads, shown, (hit) => [named(hit.cgroup), ns(hit.hardirq_ns), ns(hit.softirqs_ns), ns(hit.kthread_ns),
				ns(hit.max_ns), hit.comm ? `${printable(hit.comm)}, PID ${hit.pid}` : "–"]));
	}

	renderDelays() {
		const heads = [["vector", ""], ["core", "number"], ["times", "number roomy"], ["waited", "number"], ["p99", "number"],
			["longest", "number"]];
		const all = [...this.report.softirq_delays ?? []].sort((a, b) => b.sum_ns - a.sum_ns);
		const shown = all.slice(0, HITS);

		this.delays.replaceChildren(listTable("noise-delays",
			`${count(shown.length)} of ${count(all.length)} rows: from raise to run, most time first`, heads, shown,
			(delay) => [printable(delay.vec), `CPU ${delay.cpu}`, count(delay.count), ns(delay.sum_ns), ns(delay.p99_ns),
				ns(delay.max_ns)]));
	}

	renderFunctions() {
		const heads = [["function", ""], ["core", "number"], ["times", "number roomy"], ["ran", "number"],
			["longest", "number roomy"], ["delay p99", "number"], ["longest delay", "number roomy"]];
		const all = [...this.report.work_functions ?? []].sort((a, b) => b.work_ns - a.work_ns);
		const shown = all.slice(0, HITS);

		this.functions.replaceChildren(listTable("noise-functions",
			`${count(shown.length)} of ${count(all.length)} functions of work queues, most time first; delay from queueing to run`,
			heads, shown, (work) => [named(work.function), `CPU ${work.cpu}`, count(work.executions_total), ns(work.work_ns),
				ns(work.work_max_ns), ns(work.delay_p99_ns), ns(work.delay_max_ns)]));
	}
}
