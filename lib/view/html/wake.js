// SPDX-License-Identifier: LGPL-2.1-or-later
// View "wake" with the wake latency of idle cores: per idle state over all cores, then for each core.
import {count, el, known, missing, notes, ns, origin, printable, row, setText, table} from "./dom.js";
import {barTable, LogScale, spread} from "./bars.js";
import {nounOf} from "./feed.js";
import {figure} from "./figure.js";
import {trim} from "./past.js";
import {Plot} from "./plot.js";
import {COLORS, Spread} from "./spread.js";

const PAGE = 50;

function least(list, of) {
	const have = list.filter(known);

	return have.length ? of(...have) : null;
}

// Shows the percentile of the worst core, which is an upper bound for all cores. Percentiles cannot be averaged.
function byState(states) {
	const found = new Map();

	for (const state of states) {
		const name = state.name ?? `state ${state.index}`;

		if (!found.has(name))
			found.set(name, []);
		found.get(name).push(state);
	}
	return [...found].map(([name, list]) => ({
		name,
		index: list[0].index,
		claimed: least(list.map((state) => state.claimed_ns), Math.max),
		count: list.reduce((sum, state) => sum + (state.count ?? 0), 0),
		min: least(list.map((state) => state.min_ns), Math.min),
		median: least(list.map((state) => state.median_ns), Math.max),
		p99: least(list.map((state) => state.p99_ns), Math.max),
		max: least(list.map((state) => state.max_ns), Math.max),
		verdict: list.some((state) => state.verdict === "exceeds") ? "exceeds" :
			list.find((state) => state.verdict === "within")?.verdict ?? list[0].verdict,
		list,
	}));
}

// Plots the measured wake-ups (points) of several runs, for example on two machines. The plots show latency and
// residency in the deepest idle state, by the time without events before the wake-up.
class Points {
	constructor() {
		this.rows = [];
		this.plots = [];
		this.node = el("div", {class: "columns"});
	}

	add(report, run) {
		const points = Array.isArray(report.points) ? report.points : [];
		const depth = Object.keys(points[0] ?? {}).filter((key) => /^c\d+_ns$/.test(key))
			.sort((a, b) => parseInt(b.slice(1), 10) - parseInt(a.slice(1), 10))[0] ?? "cpuidle_ns";

		this.rows.push(...points.map((point) => ({...point, run, depth_ns: point[depth]})));
		this.plots = null;
	}

	draw() {
		if (this.plots)
			return;
		const common = {x: "silent_ns", split: "run", log: true, points: true};

		this.node.replaceChildren();
		this.plots = [figure(this.node, this.rows, {...common, title: "Wake latency against silent time, by run", y: ["latency_ns"]}),
			figure(this.node, this.rows, {...common, title: "Residency against silent time, by run", y: ["depth_ns"]})];
	}
}

function verdictCell(verdict) {
	const words = {within: "within its claim", exceeds: "exceeds its claim", "no-claim": "no claim",
		"no-points": "nothing measured"};

	return el("td", {class: `verdict ${verdict === "exceeds" ? "bad" : ""}`},
		words[verdict] ?? printable(verdict ?? "–"));
}

// Columns marked with * are hidden on phones.
const HEADS = ["wake-ups*", "claimed", "min*", "median", "p99*", "max"];
const only = (head) => head.endsWith("*") ? "number roomy" : "number";

function line(scale, head, one) {
	const cells = [count(one.count), ns(one.claimed), ns(one.min), ns(one.median), ns(one.p99), ns(one.max)];

	return el("tr", {class: one.verdict === "exceeds" ? "exceeds" : ""}, head,
		...cells.map((text, i) => el("td", {class: only(HEADS[i])}, text)),
		verdictCell(one.verdict), el("td", {class: "wide"}, spread(scale, one)));
}

function stateTable(caption, scale, rows) {
	return table("wake", caption, ["state", ...HEADS.map((head) => [head.replace("*", ""), only(head)]),
		["verdict", "verdict"], el("th", {scope: "col", class: "wide", "aria-label": "spread"}, scale.axis())], rows);
}

// Makes a table of idle states and machines, as table 10 of the thesis, with the longest wake-up and the driver's exit
// latency.
function matrix(runs) {
	const names = [...new Set([...runs.values()].flat().map((state) => state.label))];
	const cell = (state) => el("td", {class: `number ${state?.verdict === "exceeds" ? "verdict bad" : ""}`},
		state ? `${ns(state.max)}${known(state.claimed) ? ` (${ns(state.claimed)})` : ""}` : "–");

	return table(null, "Longest wake-up of each idle state, by machine (claimed); bold: exceeds its claim",
		["state", ...[...runs.keys()].map((run) => [printable(run || "unnamed"), "number"])],
		names.map((name) => row(printable(name),
			...[...runs.values()].map((states) => cell(states.find((state) => state.label === name))))));
}

export class Wake {
	constructor(place) {
		this.past = [];
		this.runs = [];
		this.unnamed = 0;
		this.spreads = new Map();
		this.points = new Points();
		this.limit = PAGE;
		this.summary = el("p", {class: "summary"});
		this.states = el("div");
		this.matrix = el("div");
		this.spread = new Spread();
		this.cores = el("div");
		this.caption = el("p", {class: "muted"});
		this.more = el("button", {type: "button", hidden: true,
			onclick: () => { this.limit += PAGE; this.render(); }}, `Show ${PAGE} more`);
		this.rejected = el("div");
		this.origin = el("p", {class: "muted"});
		this.notes = el("ul", {class: "notes muted"});
		this.plotPlace = el("div");
		place.append(el("h2", {}, "How long an idle core takes to wake"), this.summary, this.states, this.matrix,
			el("h2", {}, "Distribution"), this.spread.node, this.points.node, el("h2", {class: "history"}, "History"), this.plotPlace,
			el("h2", {}, "Per core"), this.cores, this.caption, this.more,
			el("h2", {}, "Rejected wake-ups"), this.rejected, this.origin, this.notes);
	}

	restyle() {
		this.plot?.restyle();
		this.spread.restyle();
		this.points.plots?.forEach((plot) => plot?.restyle());
	}

	refuse(why) {
		if (!this.report)
			setText(this.summary, missing("Wake latency is", why));
	}

	// A report with a machine name starts a new run. A report without a name is a window of the last run.
	run(report) {
		const {host, cpu_model: model} = report.machine ?? {}, name = `${nounOf(report)} ${host}`;

		if (!host && !model)
			return "";
		this.runs.push(name);
		const number = this.runs.filter((other) => other === name).length;

		return `${host ?? "run"}${number > 1 || !host ? ` ${number}` : ""}${model ? ` (${model})` : ""}`;
	}

	add(report) {
		if (nounOf(report) === "wake.points") {
			this.points.add(report, this.run(report) || `run ${++this.unnamed}`);
			return;
		}
		if (this.report?.time_unix_ns === report.time_unix_ns)
			return;
		this.report = report;
		const states = byState(report.states ?? []), run = this.run(report);
		const named = states.map((state) => ({...state, label: state.name, name: run ? `${run}: ${state.name}` : state.name}));

		this.spread.add(named);
		this.spreads.set(run, named);
		this.past.push({time: report.time_unix_ns / 1e9,
			medians: new Map(states.map((state) => [state.name, state.median]))});
		trim(this.past);
	}

	render() {
		this.points.draw();
		if (!this.report)
			return;
		const all = this.report.states ?? [], states = byState(all);
		const scale = new LogScale(all.flatMap((state) =>
			[state.min_ns, state.median_ns, state.max_ns, state.claimed_ns]));
		const taken = states.reduce((sum, state) => sum + state.count, 0);

		setText(this.summary, taken ? `${count(taken)} wake-ups measured in ` +
			`${ns(this.report.window_ns)}; the longest took ` +
			`${ns(least(states.map((state) => state.max), Math.max))}.` :
			"No wake-up could be measured in this window.");
		this.states.replaceChildren(stateTable("By idle state. Line: minimum to maximum; box: median to p99 of the " +
			"worst core; mark: claimed", scale, states.map((state) =>
			line(scale, el("th", {scope: "row"}, printable(state.name)), state))));
		const runs = [...this.spreads.values()];

		this.matrix.replaceChildren(...runs.length > 1 ? [matrix(this.spreads)] : []);
		this.spread.draw(runs.length > 1 ? runs.flat().map((state) => ({...state, label: state.name})) : runs[0], this.report.window_ns ?? 0);
		this.renderCores(all, scale);
		this.renderRejected();
		this.renderPlot(states);
		setText(this.origin, origin(this.report) + `; uncertainty ${ns(this.report.uncertainty_ns)}, ` +
			`own overhead subtracted ${ns(this.report.overhead_ns)}`);
		notes(this.notes, this.report);
	}

	renderCores(all, scale) {
		const rows = all.slice(0, this.limit).map((state) => line(scale,
			el("th", {scope: "row"}, `CPU ${state.cpu} ${printable(state.name)}`),
			{count: state.count, claimed: state.claimed_ns, min: state.min_ns, median: state.median_ns,
				p99: state.p99_ns, max: state.max_ns, verdict: state.verdict}));

		this.cores.replaceChildren(stateTable("Each core and state", scale, rows));
		setText(this.caption, `${count(rows.length)} of ${count(all.length)}`);
		this.more.hidden = all.length <= this.limit;
	}

	renderRejected() {
		const rows = Object.entries(this.report.rejected ?? {}).filter(([, value]) => known(value));

		this.rejected.replaceChildren(rows.length ? barTable("Rejected wake-ups, by reason",
			["reason", "count", "share"], rows.map(([key, value]) =>
				[key.replace(/_total$/, "").replaceAll("_", " "), value, count(value)])) :
			el("p", {class: "muted"}, "The exporter reports no rejected wake-ups."));
	}

	renderPlot(states) {
		const names = states.map((state) => state.name), key = names.join("\0");

		if (key !== this.plotted) {
			this.plotted = key;
			this.plotPlace.replaceChildren();
			this.plot = new Plot(this.plotPlace, {label: "Median of the worst core, by state", format: ns, height: 160,
				range: (low, high) => [0, Math.max(high ?? 0, 1) * 1.05],
				series: names.map((name, i) => ({label: printable(name), color: COLORS[i % COLORS.length]}))});
		}
		this.plot.draw([this.past.map((window) => window.time), ...names.map((name) =>
			this.past.map((window) => window.medians.get(name) ?? null))]);
	}
}
