// SPDX-License-Identifier: LGPL-2.1-or-later
// View "pressure": wall time in which a task of a cgroup waited, by cause, beside the kernel's PSI.
import {bar, count, el, legend, named, path, percent, row, table} from "./dom.js";

// Causes of waits: key of the report, name on the page, CSS class of the colour.
const CAUSES = [
	["contention", "behind other tasks", "ctx-task"],
	["kernel_thread", "behind kernel threads", "ctx-ksoftirqd"],
	["idle_exit", "core leaving its idle state", "ctx-idle_loop"],
	["quota", "CPU quota", "ctx-hardirq"],
];
const ROWS = 20;

export class Pressure {
	constructor() {
		this.node = el("div", {class: "pressure", hidden: true});
	}

	// Reports have these figures only with --pressure. The row of the root cgroup is for the whole machine.
	draw(report) {
		const all = report.pressure;

		this.node.hidden = !all;
		if (!all)
			return;
		const share = (value) => percent(value === null || value === undefined ? null : value / report.window_ns);
		const rows = [...all].sort((a, b) => b.waiting_ns - a.waiting_ns).slice(0, ROWS);

		this.node.replaceChildren(el("h2", {}, "Wall time in which tasks waited"),
			legend(CAUSES.map(([, title, style]) => [style, title])),
			table("bars", `${count(rows.length)} of ${count(all.length)} rows: shares of the wall time, ` +
				"each with all cgroups below it", ["group", ...["waiting", "for quota", "none ran", "PSI waiting"]
				.map((head) => [head, "number"]), "by cause"],
			rows.map((one) => this.line(one, report.window_ns, share))));
	}

	line(one, window, share) {
		const shown = one.cgroup === "/" ? "this machine" : one.name ?? one.cgroup;
		const parts = CAUSES.map(([cause, title, style]) => [(one[`waiting_${cause}_ns`] ?? 0) / window, style,
			`${title}: ${share(one[`waiting_${cause}_ns`])}`]);

		return row(named(one.cgroup, path(shown)),
			...[one.waiting_ns, one.waiting_quota_ns, one.stalled_ns, one.psi_waiting_ns]
				.map((value) => el("td", {class: "number"}, share(value))), el("td", {class: "wide"}, bar(parts)));
	}
}
