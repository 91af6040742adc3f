// SPDX-License-Identifier: LGPL-2.1-or-later
// Shows results that only recorded reports contain: audit, crit and other commands without a separate view.
import {LogScale, spread} from "./bars.js";
import {el, notes, origin, printable, row, setText, table} from "./dom.js";
import {nounOf} from "./feed.js";
import {figure} from "./figure.js";
import {format, method, metric, tables} from "./tables.js";

// Plots for each table of a report. A plot with the member "each" is repeated for each value of the column with this
// key.
const FIGURES = {
	intervals: [{title: "Time between increments", x: "interval_ns", end: "interval_end_ns", y: ["count"], each: "set"}],
	delays: [
		{title: "Run time of one loop", x: "delay_ns", y: ["real_per_iteration_ns", "delay_ns"], split: "slack_ns"},
		{title: "CPU time of one loop, accounted and true", x: "delay_ns", split: "slack_ns",
			y: ["user_per_iteration_ns", "system_per_iteration_ns", "true_per_iteration_ns"]},
		{title: "Accounted ÷ true", x: "delay_ns", y: ["procstat_factor_ratio", "rusage_factor_ratio"], split: "slack_ns"},
	],
	phases: [{title: "True and shown load, by the phase of the busy periods", x: "phase_ns", y: ["true_ratio", "shown_ratio"]}],
	errors: [{title: "Largest error of each source, all loads", x: "length_ns", y: ["error_max_ratio"], split: "shown_by", log: true,
		points: true}],
};

function figures(report) {
	const place = el("div", {class: "columns"});
	const plots = Object.entries(FIGURES).flatMap(([key, specs]) => Array.isArray(report[key]) ? specs.flatMap((spec) =>
		spec.each ? [...new Set(report[key].map((row) => row[spec.each]))].map((value) =>
			figure(place, report[key].filter((row) => row[spec.each] === value),
				{...spec, title: `${spec.title}: ${printable(value)}`})) :
			[figure(place, report[key], spec)]) : []);

	return {place, plots: plots.filter(Boolean)};
}

// Draws the cost of each operation on one scale: a line from the mean of a batch to the longest sample, and a box
// from median to p99.
function costs(report) {
	const ops = Array.isArray(report.ops) ? report.ops : [];
	const scale = new LogScale(ops.flatMap((op) => [op.batch, op.median, op.percentiles?.p99, op.max]));
	const text = (value) => format(value, metric("median", report.unit));

	return scale.empty ? [] : [table("wake",
		"Cost of one pair of disable and enable. Line: mean in a batch to the longest; box: median to p99",
		["pair", ...["mean in a batch", "median", "longest"].map((head) => [head, "number"]), [scale.axis(text), "wide"]],
		ops.map((op) => row(printable(op.op),
			...[op.batch, op.median, op.max].map((value) => el("td", {class: "number"}, text(value))),
			el("td", {class: "wide"}, spread(scale, {min: op.batch, median: op.median, p99: op.percentiles?.p99, max: op.max})))))];
}

export class Results {
	constructor(place, title) {
		this.reports = [];
		this.plots = [];
		this.summary = el("p", {class: "summary"});
		this.body = el("div");
		place.append(el("h2", {}, title), this.summary, this.body);
	}

	restyle() {
		this.plots.forEach((plot) => plot.restyle());
	}

	refuse(why) {
		setText(this.summary, `Unavailable: ${why}`);
	}

	add(report) {
		this.reports.push(report);
	}

	// Draws a report only once, because recorded reports do not change.
	render() {
		if (this.drawn === this.reports.length || !this.reports.length)
			return;
		this.drawn = this.reports.length;
		this.body.replaceChildren(...method(nounOf(this.reports[0])), ...this.reports.map((report) => this.section(report)));
		this.restyle();
	}

	section(report) {
		const {place, plots} = figures(report), list = el("ul", {class: "notes", hidden: !report.notes?.length});

		this.plots.push(...plots);
		notes(list, report);
		return el("section", {}, el("h3", {}, printable(report.experiment ?? nounOf(report))), list, ...costs(report), place,
			...tables(report), el("p", {class: "muted"}, origin(report) +
				(report.time_unix_ns ? `, measured ${new Date(report.time_unix_ns / 1e6).toISOString()}` : "")));
	}
}
