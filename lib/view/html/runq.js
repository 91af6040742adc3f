// SPDX-License-Identifier: LGPL-2.1-or-later
// View "runq" of run-queue latency per cgroup: a table to sort and filter, details of one group, the heat map.
import {count, el, known, missing, notes, ns, origin, path, percent, printable, setText} from "./dom.js";
import {barTable, histogram, Sparkline} from "./bars.js";
import {Heat} from "./heat.js";
import {span} from "./past.js";
import {Plot} from "./plot.js";
import {Pressure} from "./pressure.js";

const COLUMNS = [
	["cgroup", "cgroup", printable],
	["count", "waits", count],
	["sum_ns", "waited", ns],
	["avg_ns", "mean", ns],
	["p50_ns", "p50", ns],
	["p90_ns", "p90", ns],
	["p99_ns", "p99", ns],
	["p999_ns", "p99.9", ns],
	["max_ns", "max", ns],
];
const CAUSES = {
	idle_exit_ns: "core leaving its idle state", same_group_ns: "behind its own group",
	other_group_ns: "behind other groups", kernel_thread_ns: "behind kernel threads",
	preempted_ns: "preempted while runnable", throttled_ns: "throttled by CPU quota",
	migrated_ns: "queued on another core", unknown_ns: "unknown",
};
const PAGE = 50;
const IDLE_ROWS = 20;

function nameOf(group) {
	return group.cgroup ?? group.namespace ?? group.qos ?? group.comm ??
		(known(group.cpu) ? `CPU ${group.cpu}` : "(none)");
}

// Display name of a group. The path is the key of a group, because containers may have equal names.
function shownOf(group) {
	return group.name ?? nameOf(group);
}

class Row {
	constructor(name, onPick) {
		this.spark = new Sparkline();
		this.button = el("button", {type: "button", class: "link name", title: printable(name),
			onclick: () => onPick(name)}, path(name));
		this.cells = COLUMNS.slice(1).map(([key]) => el("td", {class: `number col-${key}`}));
		this.node = el("tr", {}, el("th", {scope: "row"}, this.button), ...this.cells,
			el("td", {class: "col-trend"}, this.spark.node));
	}

	update(group, past, picked) {
		this.node.classList.toggle("picked", picked);
		this.button.setAttribute("aria-expanded", String(picked));
		if (this.shown !== shownOf(group)) {
			this.shown = shownOf(group);
			this.button.replaceChildren(path(this.shown));
		}
		COLUMNS.slice(1).forEach(([key, , format], i) => setText(this.cells[i], format(group[key])));
		this.spark.draw(past);
	}
}

export class Runq {
	constructor(place) {
		this.rows = new Map();
		this.past = new Map();
		this.window = 0;
		this.sort = {key: "sum_ns", down: true};
		this.limit = PAGE;
		this.picked = null;
		this.summary = el("p", {class: "summary"});
		this.filter = el("input", {type: "search", id: "runq-filter", autocomplete: "off",
			oninput: () => { this.limit = PAGE; this.render(); }});
		this.caption = el("p", {class: "muted", role: "status"});
		this.more = el("button", {type: "button", hidden: true,
			onclick: () => { this.limit += PAGE; this.render(); }}, `Show ${PAGE} more`);
		this.detail = el("section", {class: "detail", hidden: true, "aria-label": "One group"});
		this.body = el("tbody");
		this.heads = COLUMNS.map(([key, title]) => this.head(key, title));
		this.pressure = new Pressure();
		this.heat = new Heat();
		this.idle = el("div", {class: "idle-states", hidden: true});
		this.notes = el("ul", {class: "notes muted"});
		this.origin = el("p", {class: "muted"});
		place.append(el("h2", {}, "How long tasks wait for a core"), this.summary,
			el("p", {class: "controls"}, el("label", {for: "runq-filter"}, "Filter"), this.filter),
			this.detail, el("div", {class: "scroll"}, el("table", {class: "runq"},
				el("caption", {class: "hidden"}, "Waits by group in the last window"),
				el("thead", {}, el("tr", {}, ...this.heads, el("th", {scope: "col",
					class: "col-trend"}, "p99 lately"))), this.body)),
			this.caption, this.more, this.pressure.node, el("h2", {}, "Who waited behind whom"), this.heat.node,
			this.heat.caption, this.idle, this.origin, this.notes);
		this.buildDetail();
	}

	head(key, title) {
		return el("th", {scope: "col", class: `col-${key}`, "aria-sort": "none"},
			el("button", {type: "button", class: "link", onclick: () => {
				this.sort = {key, down: this.sort.key === key ? !this.sort.down : key !== "cgroup"};
				this.render();
			}}, title));
	}

	buildDetail() {
		this.detailTitle = el("h3", {tabindex: "-1"});
		this.detailText = el("p");
		this.detailBars = el("div", {class: "columns"});
		this.detail.append(el("button", {type: "button", class: "close", onclick: () => this.close()},
			"Close"), this.detailTitle, this.detailText, this.detailBars);
		this.plot = new Plot(this.detail, {label: "Percentiles of this group", format: ns, height: 160,
			range: (low, high) => [0, Math.max(high ?? 0, 1) * 1.05],
			series: [{label: "p50", color: "--ctx-poll_idle"}, {label: "p99", color: "--ctx-task"},
				{label: "max", color: "--bad", dash: [4, 4]}]});
	}

	pick(name) {
		this.picked = this.picked === name ? null : name;
		this.render();
		if (this.picked !== null)
			this.detailTitle.focus();
	}

	close() {
		const row = this.rows.get(this.picked);

		this.picked = null;
		this.render();
		row?.button.focus();
	}

	restyle() {
		this.plot.restyle();
	}

	refuse(why) {
		if (!this.report)
			setText(this.summary, missing("Run-queue latency is", why));
	}

	add(report) {
		if (this.report?.time_unix_ns === report.time_unix_ns)
			return;
		this.report = report;
		this.window++;
		for (const group of report.groups ?? []) {
			const name = nameOf(group);

			if (!this.past.has(name))
				this.past.set(name, []);
			const past = this.past.get(name);

			past.push({window: this.window, time: report.time_unix_ns / 1e9, p50: group.p50_ns,
				p99: group.p99_ns, max: group.max_ns});
			if (past.length > span.windows)
				past.shift();
		}
		// Drop the history of ended cgroups, because there may be thousands of short-lived cgroups.
		for (const [name, past] of this.past)
			if (past.at(-1).window + span.windows < this.window)
				this.past.delete(name);
	}

	trend(name) {
		const first = Math.max(1, this.window - span.windows + 1), length = Math.max(1, this.window - first);

		return (this.past.get(name) ?? []).filter((point) => known(point.p99) && point.window >= first)
			.map((point) => [(point.window - first) / length, point.p99]);
	}

	order(groups) {
		const {key, down} = this.sort, sign = down ? -1 : 1;
		const value = (group) => key === "cgroup" ? shownOf(group) : group[key] ?? -1;

		return groups.sort((a, b) => {
			const x = value(a), y = value(b);

			return sign * (x < y ? -1 : x > y ? 1 : 0) || (nameOf(a) < nameOf(b) ? -1 : 1);
		});
	}

	render() {
		if (!this.report)
			return;
		const all = this.report.groups ?? [], wanted = this.filter.value.toLowerCase();
		const found = this.order(all.filter((group) =>
			printable(`${nameOf(group)} ${shownOf(group)}`).toLowerCase().includes(wanted)));

		this.renderSummary(all);
		this.heads.forEach((head, i) => head.setAttribute("aria-sort",
			COLUMNS[i][0] !== this.sort.key ? "none" : this.sort.down ? "descending" : "ascending"));
		this.renderRows(found.slice(0, this.limit));
		setText(this.caption, `${count(Math.min(found.length, this.limit))} of ${count(found.length)} groups` +
			(found.length < all.length ? ` that match, ${count(all.length)} in total` : ""));
		this.more.hidden = found.length <= this.limit;
		this.renderDetail(all.find((group) => nameOf(group) === this.picked));
		this.pressure.draw(this.report);
		this.heat.draw(this.report.blame ?? []);
		this.renderIdle(this.report.idle_states);
		setText(this.origin, origin(this.report));
		notes(this.notes, this.report);
	}

	renderSummary(groups) {
		const waits = groups.reduce((sum, group) => sum + (group.count ?? 0), 0);
		const waited = groups.reduce((sum, group) => sum + (group.sum_ns ?? 0), 0);
		const worst = groups.reduce((a, b) => (b.p99_ns ?? 0) > (a?.p99_ns ?? 0) ? b : a, null);

		setText(this.summary, waits ? `${count(waits)} waits in ${ns(this.report.window_ns)}, ` +
			`${ns(waited)} in total. Highest p99: ${ns(worst?.p99_ns)}, ` +
			`${printable(worst ? shownOf(worst) : null)}.` : "No task waited for a core.");
	}

	// Reports have the table of idle states only with --idle-states. A note of the report states a latency limit that
	// avoids the waits.
	renderIdle(states) {
		this.idle.hidden = !states;
		if (!states)
			return;
		const rows = [...states].sort((a, b) => (b.wait_ns ?? 0) - (a.wait_ns ?? 0)).slice(0, IDLE_ROWS);

		this.idle.replaceChildren(el("h2", {}, "Who waited for cores to leave an idle state"),
			rows.length ? el("div", {class: "scroll"}, barTable(
				`${count(rows.length)} of ${count(states.length)} pairs of group and state`,
				["group and state", "waited", "share"], rows.map((row) =>
					[`${printable(nameOf(row))}, ${printable(row.name)}`, row.wait_ns,
						`${ns(row.wait_ns)}, ${count(row.count)} × ${ns(row.avg_ns)}`]))) :
				el("p", {class: "muted"}, "No task waited for an idle core."));
	}

	renderRows(groups) {
		const shown = new Set(groups.map(nameOf)), focus = document.activeElement;

		for (const [name, row] of this.rows) {
			if (!shown.has(name)) {
				row.node.remove();
				this.rows.delete(name);
			}
		}
		groups.forEach((group, place) => {
			const name = nameOf(group);
			let row = this.rows.get(name);

			if (!row) {
				row = new Row(name, (picked) => this.pick(picked));
				this.rows.set(name, row);
			}
			row.update(group, this.trend(name), name === this.picked);
			if (this.body.children[place] !== row.node)
				this.body.insertBefore(row.node, this.body.children[place] ?? null);
		});
		// Move only rows in the wrong position, because a moved row loses the keyboard focus.
		if (focus?.isConnected && focus !== document.activeElement)
			focus.focus({preventScroll: true});
	}

	renderDetail(group) {
		this.detail.hidden = this.picked === null;
		if (this.picked === null)
			return;
		const past = this.past.get(this.picked) ?? [];

		setText(this.detailTitle, printable(this.picked));
		if (!group) {
			setText(this.detailText, "No task of this group waited in the last window.");
			this.detailBars.replaceChildren();
		} else {
			const causes = Object.entries(group.causes ?? {}).filter(([, value]) => known(value));

			setText(this.detailText, `${count(group.count)} waits, ${ns(group.sum_ns)} in all, ` +
				`p99 ${ns(group.p99_ns)}, longest ${ns(group.max_ns)}.`);
			this.detailBars.replaceChildren(histogram("How long", group.le),
				causes.length ? barTable("Why", ["cause", "waited", "share"],
					causes.sort((a, b) => b[1] - a[1]).map(([key, value]) =>
						[CAUSES[key] ?? key, value, `${ns(value)} ` +
						`(${percent(group.sum_ns ? value / group.sum_ns : null)})`])) :
					el("p", {class: "muted"}, "The causes are unknown."));
		}
		this.plot.draw([past.map((p) => p.time), past.map((p) => p.p50 ?? null),
			past.map((p) => p.p99 ?? null), past.map((p) => p.max ?? null)]);
	}
}
