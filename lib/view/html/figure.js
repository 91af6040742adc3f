// SPDX-License-Identifier: LGPL-2.1-or-later
// Plots columns of a table over another column as lines, points or bars.
import {printable} from "./dom.js";
import {Plot} from "./plot.js";
import {COLORS} from "./spread.js";
import {format, metric} from "./tables.js";

function seriesOf(rows, {y, split}) {
	const values = split ? [...new Set(rows.map((row) => row[split]))] : [null];

	return y.flatMap((key) => values.map((value) => ({key, rows: split ? rows.filter((row) => row[split] === value) : rows,
		label: [y.length > 1 || !split ? metric(key).title : "", split && values.length > 1 || y.length === 1 && split ?
			format(value, metric(split)) : ""].filter(Boolean).join(", ")})));
}

// Converts histogram bars to steps. The step of a bucket extends from the edge of the previous bucket to the edge of
// the bucket.
function bars(rows, {x, end, y}) {
	const at = [], counts = [];

	for (const row of [...rows].sort((a, b) => a[x] - b[x])) {
		if (at.at(-1) !== row[x]) {
			at.push(row[x]);
			counts.push(0);
		}
		at.push(row[end]);
		counts.push(row[y[0]]);
	}
	return [at, counts];
}

// spec: {title, x: column key, y: [column keys], split: column whose values each make a series, end: column with
// the right edges of bars, log: the x axis is logarithmic, points: draw points instead of lines}.
export function figure(place, rows, spec) {
	const usable = rows.filter((row) => Number.isFinite(row[spec.x]) && (!spec.log || row[spec.x] > 0));
	const series = seriesOf(usable, spec).filter((one) => one.rows.some((row) => Number.isFinite(row[one.key])));

	if (!series.length)
		return;
	const x = spec.end ? null : [...new Set(usable.map((row) => row[spec.x]))].sort((a, b) => a - b);
	const plot = new Plot(place, {label: spec.title, format: (value) => format(value, metric(spec.y[0])), steps: Boolean(spec.end),
		x: {name: metric(spec.x).title, format: (value) => format(value, metric(spec.x)), log: Boolean(spec.log),
			range: spec.log ? (low, high) => [low / 1.3, high * 1.3] : undefined},
		range: (low, high) => [Math.min(0, low ?? 0), Math.max(high ?? 0, 1e-9) * 1.05],
		series: series.map(({label}, i) => ({label: printable(label), color: COLORS[i % COLORS.length],
			points: spec.points, faint: Boolean(spec.end)}))});

	plot.draw(x ? [x, ...series.map(({key, rows: own}) => {
		const found = new Map(own.map((row) => [row[spec.x], row[key]]));

		return x.map((value) => found.get(value) ?? null);
	})] : bars(usable, spec));
	return plot;
}
