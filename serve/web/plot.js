// SPDX-License-Identifier: LGPL-2.1-or-later
// History plots: uPlot with the page's colours, kept as wide as their place.
/* global uPlot */
import {el, setText} from "./dom.js";

export function color(name) {
	return getComputedStyle(document.documentElement).getPropertyValue(name).trim() || "#888";
}

export class Plot {
	// series: [{label, color: "--name", fill, dash}]; format: value to text; label: for readers.
	constructor(place, {label, series, format, range, log = false, height = 200}) {
		this.options = {label, series, format, range, log, height};
		this.canvas = el("div", {role: "img", "aria-label": label});
		this.caption = el("figcaption", {}, label);
		this.place = el("figure", {class: "plot"}, this.caption, this.canvas);
		place.append(this.place);
		this.data = null;
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
		if (this.chart && this.place.clientWidth)
			this.chart.setSize({width: this.width(), height: this.options.height});
	}

	restyle() {
		this.chart?.destroy();
		this.chart = null;
	}

	build() {
		const {series, format, range, log, height} = this.options;
		const axis = {stroke: color("--muted"), grid: {stroke: color("--line"), width: 1},
			ticks: {stroke: color("--line"), width: 1}};

		this.chart = new uPlot({
			width: this.width(),
			height,
			cursor: {drag: {x: false, y: false}},
			scales: {y: {range, distr: log ? 3 : 1}},
			axes: [axis, {...axis, size: 64, values: (_, ticks) =>
				ticks.map((tick) => tick === null ? "" : format(tick))}],
			series: [{}, ...series.map((one) => ({
				label: one.label,
				stroke: color(one.color),
				fill: one.fill ? color(one.color) : undefined,
				width: one.fill ? 0 : 2,
				dash: one.dash,
				points: {show: false},
				value: (chart, value, at, index) => {
					const shown = this.shown?.[at]?.[index];

					return format(shown ?? (this.shown?.[at] ? null : value));
				},
			}))],
		}, this.data, this.canvas);
	}

	// shown: for stacked series, what the legend tells instead of the sums, by series number.
	draw(data, shown = null) {
		this.data = data;
		this.shown = shown;
		if (!this.place.clientWidth)
			return;
		if (!this.chart)
			this.build();
		else
			this.chart.setData(data);
	}
}
