// SPDX-License-Identifier: LGPL-2.1-or-later
// Strip above every view with losses and quality warnings.
import {count, el, known, percent} from "./dom.js";
import {metric} from "./tables.js";

const CLOSURE = 0.01;
const SCHEDSTAT = 0.05;
// Counter of crit that is not a loss. If an operation costs less than one clock step, half of its samples are below the
// overhead of measuring.
const NO_LOSS = "below_overhead_total";

// Loss counters count since the start of the measurement, so only an increase is a new loss.
function doubts(noun, quality, before) {
	const found = [];

	for (const [key, value] of Object.entries(quality ?? {})) {
		const more = value - (before?.[key] ?? 0);

		if (key.endsWith("_total") && key !== NO_LOSS && known(value) && value > 0)
			found.push({now: !before || more > 0, text: `${count(value)} since the start` +
				(before ? `, ${more > 0 ? count(more) : "none"} in the last window` : "") + `: ${metric(key).help}`});
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
