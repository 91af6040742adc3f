// SPDX-License-Identifier: LGPL-2.1-or-later
// List of findings above every view, most time lost first. A click opens the view and the group of a finding.
import {el, printable} from "./dom.js";

const MOST = 5;
// Seconds between two sorts of the list, so that sentences do not move while users read them.
const STEADY_S = 10;
// Seconds for which ended findings stay in the list.
const ENDED_S = 60;

const keyOf = (noun, finding) => JSON.stringify([noun, finding.rule, finding.victim, finding.culprit,
	finding.cpu, finding.victim || finding.culprit ? "" : finding.finding]);
// Order of the list: findings by lost time, then findings about figures of other tools, then ended findings.
const rank = (finding) => 2 * (finding.ended !== null) + (finding.cause === "accounting");
const before = (a, b) => rank(a) - rank(b) || b.share - a.share;
const clock = (seconds) => new Date(seconds * 1000).toLocaleTimeString("en-GB");

export class Findings {
	// @open is a function that is called with the finding that was clicked.
	constructor(place, open) {
		this.place = place;
		this.open = open;
		this.known = new Map();
		this.sorted = -Infinity;
	}

	add(noun, report) {
		const now = report.time_unix_ns / 1e9;
		const current = new Set();

		for (const finding of report.findings ?? []) {
			const key = keyOf(noun, finding);

			current.add(key);
			this.put(key, {...finding, noun, share: finding.lost_ns / report.window_ns, ended: null});
		}
		for (const [key, finding] of this.known) {
			if (finding.noun !== noun || current.has(key))
				continue;
			finding.ended ??= now;
			// Drops findings that ended after the shown moment, because the user may have selected an earlier moment.
			if (now - finding.ended > ENDED_S || now < finding.ended)
				this.known.delete(key);
		}
		if (Math.abs(now - this.sorted) >= STEADY_S) {
			this.known = new Map([...this.known].sort(([, a], [, b]) => before(a, b)));
			this.sorted = now;
		}
		this.draw();
	}

	// A known finding keeps its position. A new finding is inserted before the first finding with less lost time.
	put(key, finding) {
		const list = [...this.known];
		const at = list.findIndex(([, other]) => before(finding, other) < 0);

		if (!this.known.has(key) && at >= 0)
			this.known = new Map([...list.slice(0, at), [key, finding], ...list.slice(at)]);
		else
			this.known.set(key, finding);
	}

	draw() {
		const all = [...this.known.values()], shown = this.every ? all : all.slice(0, MOST);
		const key = JSON.stringify([shown, all.length]);

		if (key === this.key)
			return;
		this.key = key;
		this.place.hidden = !all.length;
		this.place.replaceChildren(el("h2", {}, "Findings"), el("ol", {}, ...shown.map((finding) => this.item(finding))),
			all.length > MOST ? el("button", {type: "button", onclick: () => { this.every = !this.every; this.draw(); }},
				this.every ? `Show the first ${MOST}` : `Show ${all.length - MOST} more`) : "");
	}

	item(finding) {
		const text = `${printable(finding.finding)}.`;

		if (finding.ended !== null)
			return el("li", {class: "muted"}, `${text} Ended at ${clock(finding.ended)}`);
		return el("li", {}, el("button", {type: "button", class: "link", onclick: () => this.open(finding)},
			el("strong", {}, text)), finding.next ? el("span", {class: "muted"}, ` Next: ${printable(finding.next)}`) : "");
	}
}
