// SPDX-License-Identifier: LGPL-2.1-or-later
// Draws small plots in tables: histograms, recent history as a line, spreads on a common scale.
import {count, el, known, ns} from "./dom.js";

const SVG = "http://www.w3.org/2000/svg";

function svg(tag, attributes, ...children) {
	const node = document.createElementNS(SVG, tag);

	for (const [name, value] of Object.entries(attributes))
		node.setAttribute(name, value);
	node.append(...children);
	return node;
}

// Draws a table of bars with a common scale. rows: [[label, value, text]].
export function barTable(caption, heads, rows) {
	const most = Math.max(...rows.map((row) => row[1] ?? 0), 0);

	return el("table", {class: "bars"}, el("caption", {}, caption),
		el("thead", {}, el("tr", {}, ...heads.map((head, i) =>
			el("th", {scope: "col", class: i === 1 ? "number" : ""}, head)))),
		el("tbody", {}, ...rows.map(([label, value, text]) => {
			const bar = el("span", {class: value > 0 ? "hbar" : ""});

			bar.style.width = most > 0 && known(value) ? `${value / most * 100}%` : "0";
			return el("tr", {}, el("th", {scope: "row"}, label),
				el("td", {class: "number"}, text), el("td", {class: "wide"}, bar));
		})));
}

// Draws a histogram. Converts the cumulative counts that the exporter sends to counts per bucket.
export function histogram(caption, le) {
	let below = 0, edge = null;
	const rows = (le ?? []).map((bucket) => {
		const inside = Math.max(0, (bucket.count ?? 0) - below);
		const label = known(bucket.le_ns) ? `≤ ${ns(bucket.le_ns)}` : `> ${ns(edge)}`;

		below = bucket.count ?? below;
		edge = bucket.le_ns ?? edge;
		return [label, inside, count(inside)];
	});
	const first = rows.findIndex((row) => row[1]), last = rows.findLastIndex((row) => row[1]);

	if (first < 0)
		return el("p", {class: "muted"}, "No event in this window.");
	return barTable(caption, ["up to", "count", "share"], rows.slice(Math.max(0, first - 1), last + 1));
}

export class Sparkline {
	constructor() {
		this.line = svg("polyline", {class: "spark"});
		this.node = svg("svg", {viewBox: "0 0 100 24", class: "sparkline", "aria-hidden": "true",
			preserveAspectRatio: "none"}, this.line);
	}

	// Draws a line whose y axis is scaled to its values. points: [[x from 0 to 1, value]].
	draw(points) {
		const most = Math.max(...points.map((point) => point[1]), 1e-9);

		this.line.setAttribute("points", points.map(([x, value]) =>
			`${(x * 100).toFixed(1)},${(22 - value / most * 20).toFixed(1)}`).join(" "));
	}
}

// Logarithmic scale from the decade of the smallest value to the decade of the largest value.
export class LogScale {
	constructor(values) {
		const have = values.filter((value) => known(value) && value > 0);

		this.low = Math.floor(Math.log10(Math.min(...have, 1e9)));
		this.high = Math.max(this.low + 1, Math.ceil(Math.log10(Math.max(...have, 1))));
		this.empty = !have.length;
	}

	at(value) {
		const place = (Math.log10(value) - this.low) / (this.high - this.low);

		return Math.min(1000, Math.max(0, place * 1000));
	}

	axis(text = ns) {
		const marks = [];

		for (let power = this.low; power <= this.high; power++) {
			const mark = el("span", {class: "tick"}, text(10 ** power));

			mark.style.left = `${(power - this.low) / (this.high - this.low) * 100}%`;
			marks.push(mark);
		}
		return el("div", {class: "axis", "aria-hidden": "true"}, ...marks);
	}
}

// Draws a line from minimum to maximum latency, a box from median to p99, and a mark at the driver's exit latency.
export function spread(scale, {min, median, p99, max, claimed}) {
	const node = svg("svg", {viewBox: "0 0 1000 20", class: "spread", preserveAspectRatio: "none",
		"aria-hidden": "true"});
	const from = min > 0 ? min : median;

	if (known(from) && known(max))
		node.append(svg("rect", {class: "range", x: scale.at(from), y: 9, height: 2,
			width: Math.max(2, scale.at(max) - scale.at(from))}));
	if (known(median) && median > 0)
		node.append(svg("rect", {class: "box", x: scale.at(median), y: 4, height: 12,
			width: Math.max(4, scale.at(p99 ?? median) - scale.at(median))}));
	if (known(claimed) && claimed > 0)
		node.append(svg("rect", {class: "claim", x: scale.at(claimed) - 2, y: 0, height: 20,
			width: 4}));
	return node;
}
