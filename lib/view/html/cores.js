// SPDX-License-Identifier: LGPL-2.1-or-later
// View "cores": a bar of each core by context, the busy share by /proc/stat, and the history.
import {barTable} from "./bars.js";
import {count, el, known, legend, missing, named, notes, ns, origin, percent, pick, points, printable, setText,
	wholePercent} from "./dom.js";
import {trim} from "./past.js";
import {Plot} from "./plot.js";

// Contexts in the order in which a bar stacks them. The rest of the bar is idle time.
export const CONTEXTS = [
	["task", "tasks"],
	["hardirq", "interrupts"],
	["softirq_on_idle", "softirq on idle"],
	["softirq_on_task", "softirq on tasks"],
	["ksoftirqd", "ksoftirqd"],
	["idle_loop", "idle loop"],
	["steal", "stolen"],
	["unknown", "unknown"],
	["poll_idle", "polling idle"],
];
const STAT = "compare.procstat_busy_ratio";
const MANY = 32;
const SHARED_ROWS = 20;

function parts(cpu) {
	const split = CONTEXTS.map(([key]) => cpu[`${key}_ratio`]);

	// Some load sources measure only the busy share, without contexts.
	if (!split.some(known))
		split[0] = cpu.busy_ratio;
	return split;
}

// The report contains the threshold for wrong loads, so that the page and the text view use the same value.
function isWrong(cpu, wrong) {
	const stat = pick(cpu, STAT);

	return known(stat) && known(cpu.busy_ratio) && known(wrong) && Math.abs(stat - cpu.busy_ratio) > wrong;
}

function wholePoints(ratio) {
	return `${Math.round(ratio * 100)} points`;
}

function mean(list) {
	const have = list.filter(known);

	return have.length ? have.reduce((a, b) => a + b, 0) / have.length : null;
}

// Draws bars for the rows with most time in which both hyperthreads of a core were busy.
function sharedBars(caption, head, rows, line) {
	const most = rows.map(line).filter((row) => known(row[1])).sort((a, b) => b[1] - a[1]).slice(0, SHARED_ROWS);

	return most.length ? [barTable(`${count(most.length)} of ${count(rows.length)} ${caption}`, [head, "shared", ""], most)] : [];
}

class Row {
	constructor(number, onPick) {
		this.label = el("span", {class: "cpu"}, `CPU ${number}`);
		this.parts = CONTEXTS.map(([key]) => el("span", {class: `part ctx-${key}`}));
		this.mark = el("span", {class: "mark", hidden: true});
		this.busy = el("span", {class: "busy"});
		this.stat = el("span", {class: "stat"});
		this.button = el("button", {type: "button", class: "core", "aria-pressed": "false",
			onclick: () => onPick(number)}, this.label,
		el("span", {class: "bar"}, ...this.parts, this.mark), this.busy, this.stat);
		this.node = el("li", {}, this.button);
	}

	update(cpu, picked, wrong) {
		const stat = pick(cpu, STAT), off = isWrong(cpu, wrong);

		parts(cpu).forEach((share, i) => {
			this.parts[i].style.width = known(share) ? `${Math.max(0, share) * 100}%` : "0";
		});
		this.mark.hidden = !known(stat);
		if (known(stat))
			this.mark.style.left = `${Math.min(1, Math.max(0, stat)) * 100}%`;
		this.button.classList.toggle("offline", cpu.online === false);
		this.button.classList.toggle("off", off);
		this.button.setAttribute("aria-pressed", String(picked));
		setText(this.busy, cpu.online === false ? "offline" : percent(cpu.busy_ratio));
		setText(this.stat, known(stat) ? `stat ${percent(stat)}` : "stat –");
		this.button.setAttribute("aria-label", `CPU ${cpu.cpu}: ` + (cpu.online === false ? "offline" :
			`busy ${percent(cpu.busy_ratio)}, /proc/stat shows ${percent(stat)}` +
			(cpu.flags ? `, ${cpu.flags}` : "")));
		this.button.title = cpu.flags || "";
	}
}

export class Cores {
	constructor(place) {
		this.rows = new Map();
		this.past = [];
		this.picked = null;
		this.summary = el("p", {class: "summary"});
		this.origin = el("p", {class: "muted"});
		this.list = el("ul", {class: "cores", "aria-label": "Cores"});
		this.notes = el("ul", {class: "notes muted"});
		this.shared = el("div", {class: "scroll", hidden: true});
		this.whole = el("button", {type: "button", hidden: true, onclick: () => this.pick(null)},
			"History of all cores");
		place.append(el("h2", {}, "What each core does"), this.summary, this.legend(), this.list,
			this.shared, this.origin, el("h2", {class: "history"}, "History"), this.whole);
		this.stack = new Plot(place, {
			label: "Busy by context", range: [0, 1], format: percent, axis: wholePercent,
			series: [...CONTEXTS].reverse().map(([key, name]) =>
				({label: name, color: `--ctx-${key}`, fill: true}))
				.concat({label: "busy by /proc/stat", color: "--mark", dash: [6, 4]}),
		});
		this.error = new Plot(place, {
			label: "/proc/stat minus the truth, in points", format: points, height: 180,
			axis: (value) => value ? points(value).replace(/\.0 points$/, "") : "0",
			range: (low, high) => {
				const most = Math.max(0.02, Math.abs(low ?? 0), Math.abs(high ?? 0)) * 1.1;

				return [-most, most];
			},
			series: [{label: "worst core", color: "--bad"},
				{label: "mean of the cores", color: "--ctx-task"}],
		});
		place.append(this.notes);
	}

	legend() {
		this.wrongFrom = el("span", {});
		this.wrong = el("li", {hidden: true}, el("span", {class: "swatch stat-off"}), this.wrongFrom);
		const list = legend([...CONTEXTS.map(([key, name]) => [`ctx-${key}`, name]), ["idle", "idle"],
			["stat-mark", "busy by /proc/stat"]]);

		list.append(this.wrong);
		return list;
	}

	pick(number) {
		this.picked = this.picked === number ? null : number;
		this.render();
	}

	close() {
		this.pick(null);
	}

	restyle() {
		this.stack.restyle();
		this.error.restyle();
	}

	refuse(why) {
		if (!this.report)
			setText(this.summary, missing("Busy time is", why));
	}

	add(report) {
		if (this.report?.time_unix_ns === report.time_unix_ns)
			return;
		this.report = report;
		this.past.push({
			time: report.time_unix_ns / 1e9,
			cpus: new Map((report.cpus ?? []).map((cpu) => [cpu.cpu, {
				parts: parts(cpu), busy: cpu.busy_ratio, stat: pick(cpu, STAT)}])),
		});
		trim(this.past);
	}

	render() {
		if (!this.report)
			return;
		const cpus = this.report.cpus ?? [];

		this.list.classList.toggle("many", cpus.length > MANY);
		for (const cpu of cpus) {
			if (!this.rows.has(cpu.cpu)) {
				const row = new Row(cpu.cpu, (number) => this.pick(number));

				this.rows.set(cpu.cpu, row);
				this.list.append(row.node);
			}
			this.rows.get(cpu.cpu).update(cpu, this.picked === cpu.cpu, this.report.wrong_ratio);
		}
		this.renderSummary(cpus.filter((cpu) => cpu.online !== false));
		this.renderShared(this.report);
		setText(this.origin, origin(this.report));
		notes(this.notes, this.report);
		this.whole.hidden = this.picked === null;
		this.renderHistory();
	}

	renderSummary(cpus) {
		const busy = mean(cpus.map((cpu) => cpu.busy_ratio));
		const stat = mean(cpus.map((cpu) => pick(cpu, STAT)));
		const limit = this.report.wrong_ratio;
		const wrong = cpus.filter((cpu) => isWrong(cpu, limit)).length;
		const verdict = !known(limit) ? "" : wrong ?
			` and is off by more than ${wholePoints(limit)} on ${wrong}` :
			` and is within ${wholePoints(limit)} on every core`;

		this.wrong.hidden = !known(limit);
		if (known(limit))
			setText(this.wrongFrom, `stat in this colour: more than ${wholePoints(limit)} off`);
		setText(this.summary, `${cpus.length} core${cpus.length === 1 ? "" : "s"} online, busy ` +
			`${percent(busy)} on average` + (known(stat) ? `; /proc/stat shows ${percent(stat)}${verdict}.` :
			"."));
	}

	// Reports have these lists only for machines with hyperthreads.
	renderShared({cores = [], cgroups = []}) {
		this.shared.hidden = !cores.length;
		this.shared.replaceChildren(el("h2", {}, "Hyperthreads that share a core"),
			...sharedBars("cores, most time with both hyperthreads busy first", "core", cores, (core) =>
				[`CPUs ${printable(core.cpus)}`, core.all_busy_ratio,
					`${percent(core.all_busy_ratio)} both, ${percent(core.one_busy_ratio)} one`]),
			...sharedBars("pairs of cgroups, most time first", "cgroup", cgroups, (pair) =>
				[el("span", {}, named(pair.cgroup), " beside ", named(pair.sibling_cgroup)), pair.shared_ns,
					`${ns(pair.shared_ns)}, ${percent(pair.shared_ratio)} of its time`]));
	}

	renderHistory() {
		const times = this.past.map((window) => window.time);
		const at = (window) => this.picked === null ? [...window.cpus.values()] :
			[window.cpus.get(this.picked)].filter(Boolean);
		const split = CONTEXTS.map((_, i) =>
			this.past.map((window) => mean(at(window).map((cpu) => cpu.parts[i]))));
		// Draws stacked areas from the top of the stack down, because each area covers a part of the area drawn before.
		const sums = [], shown = [null];
		let below = this.past.map(() => 0);

		split.forEach((values) => {
			below = values.map((value, i) => below[i] + (value ?? 0));
			sums.unshift(below);
		});
		[...split].reverse().forEach((values) => shown.push(values));
		sums.push(this.past.map((window) => mean(at(window).map((cpu) => cpu.stat))));
		this.stack.title(`Busy by context, ${this.picked === null ? "mean of all cores" :
			`CPU ${this.picked}`}`);
		this.stack.draw([times, ...sums], shown);
		this.renderError(times, at);
	}

	renderError(times, at) {
		const errors = this.past.map((window) => at(window)
			.filter((cpu) => known(cpu.stat) && known(cpu.busy)).map((cpu) => cpu.stat - cpu.busy));
		const worst = errors.map((list) => list.length ?
			list.reduce((a, b) => Math.abs(b) > Math.abs(a) ? b : a) : null);

		this.error.draw([times, worst, errors.map(mean)]);
	}
}
