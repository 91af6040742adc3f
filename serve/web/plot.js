// SPDX-License-Identifier: LGPL-2.1-or-later
// Plots with uPlot, in the page's colours, as wide as their container.
/* global uPlot */
import {el, setText} from "./dom.js";

export function color(name) {
	return getComputedStyle(document.documentElement).getPropertyValue(name).trim() || "#888";
}

// Whole seconds only: labels of shorter ticks would all be the same.
const SECONDS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600];

function clock(seconds) {
	return seconds === null ? "–" : new Date(seconds * 1000).toLocaleTimeString("en-GB");
}

// Only decades have labels: there is no room for those in between.
function decades(ticks, format) {
	return ticks.map((tick) => tick !== null && Math.abs(Math.log10(tick) % 1) < 1e-6 ? format(tick) : "");
}

export class Plot {
	// series: [{label, color: "--name", fill, dash, faint}]; format: value to text; axis: the same,
	// short, for the ticks; label: for readers. x: {format, range} if x is not time but a logarithmic
	// scale; its series are outlines of histograms (steps) or lines.
	constructor(place, {label, series, format, axis = format, range, x = null, steps = false, height = 200}) {
		this.options = {label, series, format, axis, range, x, steps, height};
		this.canvas = el("div", {role: "img", "aria-label": label});
		this.caption = el("figcaption", {}, label);
		this.place = el("figure", {class: "plot"}, this.caption, this.canvas);
		place.append(this.place);
		this.data = null;
		this.rules = [];
		new ResizeObserver(() => this.fit()).observe(this.place);
	}

	title(text) {
		setText(this.caption, text);
		this.canvas.setAttribute("aria-label", text);
	}

	width() {
		return Math.max(200, Math.floor(this.place.clientWidth));
	}

	fit() {
		if (!this.chart || !this.place.clientWidth)
			return;
		this.chart.setSize({width: this.width(), height: this.options.height});
		this.showLast();
	}

	// While the pointer is elsewhere, the legend shows the last window.
	showLast() {
		const {length} = this.data[0];

		if (!this.options.x && length && (this.chart.cursor.left ?? -1) < 0)
			this.chart.setLegend({idx: length - 1});
	}

	restyle() {
		this.chart?.destroy();
		this.chart = null;
	}

	axes() {
		const {axis, x} = this.options;
		const look = {stroke: color("--muted"), grid: {stroke: color("--line"), width: 1},
			ticks: {stroke: color("--line"), width: 1}};

		return [{...look, space: x ? 20 : 80, incrs: x ? undefined : SECONDS, values: (_, ticks) => x ? decades(ticks, x.format) : ticks.map(clock)},
			{...look, size: 64, values: (_, ticks) => ticks.map((tick) => tick === null ? "" : axis(tick))}];
	}

	line({label, color: name, fill, dash, faint}) {
		const {format, steps} = this.options, stroke = color(name);

		return {
			label, stroke, dash,
			fill: fill ? stroke : faint ? stroke + "26" : undefined,
			width: fill ? 0 : 2,
			points: {show: false},
			paths: steps ? uPlot.paths.stepped({align: -1}) : undefined,
			value: (chart, value, at, index) => {
				const shown = this.shown?.[at]?.[index];

				return format(shown ?? (this.shown?.[at] ? null : value));
			},
		};
	}

	build() {
		const {series, range, x, height} = this.options;

		this.chart = new uPlot({
			width: this.width(),
			height,
			cursor: {drag: {x: false, y: false}},
			scales: {x: x ? {time: false, distr: 3, range: x.range} : {}, y: {range}},
			axes: this.axes(),
			series: [{label: x ? "up to" : "time", value: (_, value) => x ? x.format(value) : clock(value)},
				...series.map((one) => this.line(one))],
			hooks: {draw: [(chart) => this.drawRules(chart)]},
		}, this.data, this.canvas);
	}

	// Values to compare with: dashed vertical lines.
	drawRules(chart) {
		const {ctx, bbox} = chart;

		ctx.save();
		ctx.lineWidth = 2 * devicePixelRatio;
		ctx.setLineDash([6 * devicePixelRatio, 4 * devicePixelRatio]);
		for (const rule of this.rules) {
			const at = chart.valToPos(rule.at, "x", true);

			ctx.strokeStyle = color(rule.color);
			ctx.beginPath();
			ctx.moveTo(at, bbox.top);
			ctx.lineTo(at, bbox.top + bbox.height);
			ctx.stroke();
		}
		ctx.restore();
	}

	// shown: for stacked series, what the legend shows instead of the sums, by series number.
	draw(data, shown = null, rules = []) {
		this.data = data;
		this.shown = shown;
		this.rules = rules;
		if (!this.place.clientWidth)
			return;
		if (!this.chart)
			this.build();
		else
			this.chart.setData(data);
		this.showLast();
	}
}
