// SPDX-License-Identifier: LGPL-2.1-or-later
// Wall time in which a task of a cgroup waited, by cause, beside the kernel's PSI. Needs --pressure.
import {count, el, path, percent, printable} from "./dom.js";

// Causes: key of the report, name on the page, CSS class of the colour.
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

		this.node.replaceChildren(el("h2", {}, "How long somebody waited"),
			el("ul", {class: "legend"}, ...CAUSES.map(([, title, style]) =>
				el("li", {}, el("span", {class: `swatch ${style}`}), title))),
			el("div", {class: "scroll"}, el("table", {class: "bars"},
				el("caption", {}, `${count(rows.length)} of ${count(all.length)} rows: shares of the wall time, ` +
					"each with all cgroups below it"),
				el("thead", {}, el("tr", {}, el("th", {scope: "col"}, "group"), ...["waiting", "for quota",
					"none ran", "PSI waiting"].map((head) => el("th", {scope: "col", class: "number"}, head)),
				el("th", {scope: "col"}, "by cause"))),
				el("tbody", {}, ...rows.map((row) => this.row(row, report.window_ns, share))))));
	}

	row(row, window, share) {
		const shown = row.cgroup === "/" ? "this machine" : row.name ?? row.cgroup;
		const parts = CAUSES.map(([cause, title, style]) => {
			const part = el("span", {class: `part ${style}`});

			part.style.width = `${(row[`waiting_${cause}_ns`] ?? 0) / window * 100}%`;
			part.title = `${title}: ${share(row[`waiting_${cause}_ns`])}`;
			return part;
		});

		return el("tr", {}, el("th", {scope: "row"}, el("span", {class: "name", title: printable(row.cgroup)},
			path(shown))), ...[row.waiting_ns, row.waiting_quota_ns, row.stalled_ns, row.psi_waiting_ns]
			.map((value) => el("td", {class: "number"}, share(value))),
		el("td", {class: "wide"}, el("span", {class: "bar"}, ...parts)));
	}
}
