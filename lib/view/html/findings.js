// SPDX-License-Identifier: LGPL-2.1-or-later
// Findings in sentences above every view, most time lost first.
import {el, printable} from "./dom.js";

const MOST = 5;

export class Findings {
	constructor(place) {
		this.place = place;
		this.reports = new Map();
	}

	add(noun, report) {
		this.reports.set(noun, (report.findings ?? []).map((finding) =>
			({...finding, share: finding.lost_ns / report.window_ns})));
		this.draw();
	}

	draw() {
		const all = [...this.reports.values()].flat().sort((a, b) => b.share - a.share);
		const shown = all.slice(0, MOST), key = JSON.stringify(shown);

		if (key === this.key)
			return;
		this.key = key;
		this.place.hidden = !all.length;
		this.place.replaceChildren(el("h2", {}, "Findings"), el("ol", {}, ...shown.map((finding) =>
			el("li", {}, el("strong", {}, `${printable(finding.finding)}.`),
				finding.next ? el("span", {class: "muted"}, ` Next: ${finding.next}`) : ""))),
		all.length > MOST ? el("p", {class: "muted"}, `and ${all.length - MOST} more below, in the figures of each view`) : "");
	}
}
