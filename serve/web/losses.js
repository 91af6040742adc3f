// SPDX-License-Identifier: LGPL-2.1-or-later
// What was lost or is doubtful, in one strip above every view.
import {count, el, known, percent, printable} from "./dom.js";

const WORDS = {
	torn_total: "samples given up because the core's data changed during every attempt to read it",
	odd_edges_total: "context exits without their entry, or the reverse",
	paused_softirq_lost_total: "preempted softirqs beyond the four that one core can store",
	recursion_misses_total: "events that the kernel dropped",
	read_error_total: "reads that failed",
	unknown_start_total: "waits with an unknown start",
	table_full_total: "waits of groups that got no slot",
	blame_full_total: "charges that did not fit into the blame table",
	path_cut_total: "groups with a number of the cgroup instead of the beginning of their path",
	negative_total: "waits that ended before they began",
	ring_lost_total: "long waits counted but not streamed",
	source_lost_total: "events whose source found no room in the core's table",
	victim_lost_total: "events whose victim found no room in the core's table",
};
const CLOSURE = 0.01;
const SCHEDSTAT = 0.05;

function words(key, value) {
	const many = WORDS[key] ?? printable(key);

	return value === 1 ? many.replace(/^(sample|event|wait|read|charge)s\b/, "$1") : many;
}

// Totals are since the exporter started: what was lost once must not look like a loss now.
function doubts(noun, quality, before) {
	const found = [];

	for (const [key, value] of Object.entries(quality ?? {})) {
		const more = value - (before?.[key] ?? 0);

		if (key.endsWith("_total") && known(value) && value > 0)
			found.push({now: !before || more > 0, text: `${count(value)} ${words(key, value)} since the start` +
				(before ? `, ${more > 0 ? count(more) : "none"} in the last window` : "")});
	}
	if (quality?.closure_error_max_ratio > CLOSURE)
		found.push({now: true, text: `the parts are up to ${percent(quality.closure_error_max_ratio)} away from summing to the window`});
	if (known(quality?.schedstat_ratio) && Math.abs(quality.schedstat_ratio - 1) > SCHEDSTAT)
		found.push({now: true, text: `observed waits are ${percent(quality.schedstat_ratio)} of the kernel's run_delay`});
	if (known(quality?.sample_ratio) && quality.sample_ratio < 1)
		found.push({now: true, text: `only ${percent(quality.sample_ratio)} of the waits were sampled`});
	return found.map((doubt) => ({...doubt, text: `${noun}: ${doubt.text}`}));
}

export class Losses {
	constructor(place) {
		this.place = place;
		this.found = new Map();
		this.before = new Map();
		this.problems = new Map();
		this.draw();
	}

	add(noun, report) {
		this.found.set(noun, doubts(noun, report.quality, this.before.get(noun)));
		this.before.set(noun, report.quality);
		this.draw();
	}

	problem(noun, why) {
		this.problems.set(noun, {now: true, text: `${noun}: ${why}`});
		this.draw();
	}

	draw() {
		const lines = [...this.found.values()].flat().concat([...this.problems.values()]);
		const key = lines.map((doubt) => doubt.text).join("\n") || [...this.found.keys()].join();

		if (key === this.key)
			return;
		this.key = key;
		this.place.classList.toggle("bad", lines.some((doubt) => doubt.now));
		this.place.classList.toggle("past", lines.length > 0 && !lines.some((doubt) => doubt.now));
		this.place.replaceChildren(...(lines.length ?
			[el("strong", {}, "Lost or doubtful"), el("ul", {}, ...lines.map((doubt) => el("li", {}, doubt.text)))] :
			[el("span", {}, this.found.size ? "Nothing lost: " + [...this.found.keys()].join(", ") : "")]));
	}
}
