// SPDX-License-Identifier: LGPL-2.1-or-later
// Shows all figures of a report as tables, with titles, units and help texts from the list of metrics.
import {histogram} from "./bars.js";
import {count, el, known, ns, percent, printable, table} from "./dom.js";
import {METRICS} from "./metrics.js";

const ROWS = 100;
const HISTOGRAMS = 4;
const HEAD = ["schema", "time_unix_ns", "window_ns", "source", "quality", "notes"];
const METHODS = {
	load: "Each core records its own context changes. The parts of a window should sum to the window; the closure error is " +
		"the difference. The columns beside it are figures of other sources for the same window. " +
		"docs/methods/load.md has the formulas and the error bounds.",
	runq: "A wait begins when a task can run and ends when it runs. Percentiles are interpolated in a histogram bucket; " +
		"percentile_error_ratio bounds their error. Counts up to a boundary are exact.",
	noise: "Each core counts its interrupts, softirqs and kernel threads by source, and the cgroups that lost the time. " +
		"Sources, tasks and idle should sum to the window; the closure error is the difference. " +
		"docs/methods/noise.md has the error bounds.",
	wake: "The time from a timer's expiry to the idle exit or the interrupt handler, whichever came first, without the " +
		"cost of subtick's own timestamp. Wake-ups that do not count are rejected and counted by reason.",
	audit: "Loads of known size run on one core, and the kernel's figures are compared with the true figures.",
	crit: "Pairs of disable and enable are timed, singly and in batches. The cost of an empty pair and of reading the clock " +
		"is subtracted.",
	doctor: "The checks measure and change nothing.",
};

// Title of a percentile key: "p99.9" for "p999_ns".
function percentile(key) {
	const digits = /^p(\d{1,8})(_ns)?$/.exec(key)?.[1];

	return digits && `p${digits.slice(0, 2)}${digits.length > 2 ? `.${digits.slice(2)}` : ""}`;
}

// Title, unit and help text of a key. If a key exists in several units, the unit of the report is used. The unit of an
// unknown key is taken from its suffix.
export function metric(key, reportUnit = "") {
	const unit = reportUnit.toUpperCase();
	const all = Object.hasOwn(METRICS, key) ? METRICS[key] : [], found = all.find((one) => one[1] === unit) ?? all[0];

	if (found)
		return {title: found[0], unit: found[1], help: found[2]};
	const last = key.split(".").at(-1), suffix = /_(ns|ratio|total|cycles|hz|bytes)$/.exec(last)?.[1].toUpperCase();

	return {title: percentile(last) ?? last, unit: suffix ?? unit, help: last};
}

// Small figures, such as costs of a few ns or closure errors of a few ppm, need more digits.
const fine = (value) => String(Number(value.toPrecision(3)));
const FORMATS = {NS: (value) => Math.abs(value) < 99.95 ? `${fine(value)} ns` : ns(value),
	RATIO: (value) => value && Math.abs(value) < 0.001 ? `${fine(value * 100)} %` : percent(value), CYCLES: (value) => `${fine(value)} cycles`,
	HZ: (value) => `${count(value)}/s`, BYTES: (value) => `${count(value)} B`};

export function format(value, {unit}) {
	if (value === null || value === undefined || value === "")
		return "–";
	if (typeof value !== "number")
		return typeof value === "boolean" ? value ? "yes" : "no" : printable(value);
	return FORMATS[unit]?.(value) ?? (unit === "ID" ? String(value) : count(value));
}

// Flattens nested objects: {"a": {"b": 1}} becomes the column "a.b". Nested lists are drawn as histograms instead.
export function flatten(row, prefix = "") {
	return Object.entries(row ?? {}).flatMap(([key, value]) => Array.isArray(value) ? [] :
		value !== null && typeof value === "object" ? flatten(value, `${prefix}${key}.`) : [[prefix + key, value]]);
}

// Long texts have a minimum width. Otherwise they would wrap after each letter.
function cell(text, style) {
	return el("td", {class: style || (text.length > 16 ? "long" : "")}, text);
}

function listTable(report, key, list) {
	const rows = list.slice(0, ROWS).map((row) => new Map(flatten(row)));
	const used = (name) => rows.some((row) => row.get(name) !== null && row.get(name) !== undefined && row.get(name) !== "");
	const heads = [...new Set(rows.flatMap((row) => [...row.keys()]))].filter(used)
		.map((name) => ({name, ...metric(name, report.unit)}));
	const style = ({unit}) => ["TEXT", "BOOL", ""].includes(unit) ? "" : "number";

	return table("figures", key.replaceAll("_", " ") +
		(rows.length < list.length ? `: the first ${rows.length} of ${list.length} rows` : ""),
	heads.map((head) => el("th", {scope: "col", class: style(head), title: head.help}, printable(head.title))),
	rows.map((row) => el("tr", {}, ...heads.map((head) => cell(format(row.get(head.name), head), style(head))))));
}

function histograms(key, list) {
	const name = (row) => printable(row.name ?? row.cgroup ?? row.comm ?? (known(row.cpu) ? `CPU ${row.cpu}` : key));
	const drawn = list.filter((row) => row.count && Array.isArray(row.le)).slice(0, HISTOGRAMS);

	return drawn.length ? [el("div", {class: "columns"}, ...drawn.map((row) => histogram(`${key}: ${name(row)}`, row.le)))] : [];
}

function single(report, caption, rows) {
	return rows.length ? [el("div", {class: "scroll"}, el("table", {class: "figures"}, el("caption", {}, caption),
		el("tbody", {}, ...rows.map(([key, value]) => el("tr", {}, el("th", {scope: "row"}, printable(key)),
			el("td", {class: "number"}, format(value, metric(key, report.unit))),
			el("td", {class: "muted"}, metric(key, report.unit).help))))))] : [];
}

// Makes tables for all lists and fields of a report.
export function tables(report) {
	const entries = Object.entries(report).filter(([key]) => !HEAD.includes(key));

	return [...entries.filter(([, value]) => Array.isArray(value) && value.length).flatMap(([key, list]) =>
		[...histograms(key, list), listTable(report, key, list)]),
	...single(report, "Overall figures", flatten(Object.fromEntries(entries))),
	...single(report, "Quality: errors and losses", flatten(report.quality))];
}

export function method(noun) {
	return METHODS[noun] ? [el("p", {class: "muted"}, METHODS[noun])] : [];
}

// Tables of one view, drawn only while the user has opened them.
export class Tables {
	constructor(place) {
		this.body = el("div");
		this.node = el("details", {hidden: true, ontoggle: () => this.fill()}, el("summary", {}, "All figures, and the method"),
			this.body);
		place.append(this.node);
	}

	// reports: Map from command name to report.
	draw(reports) {
		this.reports = reports;
		this.node.hidden = !reports.size;
		this.fill();
	}

	fill() {
		if (this.node.open && this.reports)
			this.body.replaceChildren(...[...this.reports].flatMap(([noun, report]) => [...method(noun), ...tables(report)]));
	}
}
