// SPDX-License-Identifier: LGPL-2.1-or-later
// Draws a figure: caption, chart as wide as its container, and a legend with values.
import {Chart} from "./chart.js";
import {el, setText} from "./dom.js";

export function color(name) {
	return getComputedStyle(document.documentElement).getPropertyValue(name).trim() || "#888";
}

function clock(seconds) {
	return new Date(seconds * 1000).toLocaleTimeString("en-GB");
}

export class Plot {
	// series: [{label, color: "--name", fill, dash, faint, points}]; format: function that formats a value; axis:
	// function that formats a value briefly, for axis ticks; label: description for screen readers; x: {format, range,
	// log} if the x axis is not time; steps: the series are outlines of histograms.
	constructor(place, {label, series, format, axis = format, range, x = null, steps = false, height = 200}) {
		this.options = {series, format, axis, range, x, steps, height};
		this.canvas = el("canvas", {role: "img", "aria-label": label});
		this.chart = new Chart(this.canvas);
		this.caption = el("figcaption", {}, label);
		this.at = el("span", {class: "value"});
		this.values = series.map(() => el("span", {class: "value"}));
		this.swatches = series.map(() => el("span", {class: "swatch"}));
		this.place = el("figure", {class: "plot"}, this.caption, this.canvas, this.legend());
		place.append(this.place);
		this.data = null;
		this.rules = [];
		this.hover = -1;
		this.canvas.addEventListener("pointermove", (event) => this.point(event.offsetX));
		this.canvas.addEventListener("pointerleave", () => this.point(-Infinity));
		new ResizeObserver(() => this.render()).observe(this.place);
	}

	legend() {
		const {series, x} = this.options;

		return el("ul", {class: "plot-legend"}, el("li", {}, `${x ? x.name ?? "up to" : "time"} `, this.at),
			...series.map(({label}, i) => el("li", {}, this.swatches[i], `${label} `, this.values[i])));
	}

	title(text) {
		setText(this.caption, text);
		this.canvas.setAttribute("aria-label", text);
	}

	// Colours are read at each drawing, so a change of the theme needs only a redraw.
	restyle() {
		this.render();
	}

	point(left) {
		this.hover = this.data ? this.chart.nearest(this.data, left) : -1;
		this.render();
	}

	// While no pointer is on the chart, the legend shows the values of the last window.
	showValues() {
		const {format, x} = this.options;
		const at = this.hover >= 0 && this.hover < this.data[0].length ? this.hover :
			x ? -1 : this.data[0].length - 1;
		const text = (i) => format((this.shown?.[i] ? this.shown[i][at] : this.data[i]?.[at]) ?? null);

		setText(this.at, at < 0 ? "–" : x ? x.format(this.data[0][at]) : clock(this.data[0][at]));
		this.values.forEach((node, i) => setText(node, at < 0 ? "–" : text(i + 1)));
	}

	render() {
		const {series, axis, range, x, steps, height} = this.options;
		const width = Math.max(200, Math.floor(this.place.clientWidth));

		if (!this.data || !this.place.clientWidth)
			return;
		const lines = series.map(({color: name, fill, dash, faint, points}) => {
			const stroke = color(name);

			return {stroke, dash, points, width: fill ? 0 : 2, fill: fill ? stroke : faint ? stroke + "26" : null};
		});

		this.swatches.forEach((node, i) => {
			node.style.background = lines[i].stroke;
		});
		const pointed = this.hover >= 0 && this.hover < this.data[0].length ?
			[{at: this.data[0][this.hover], color: "--muted", width: 1}] : [];

		this.chart.draw(width, height, this.data, lines,
			[...this.rules, ...pointed].map((rule) => ({...rule, color: color(rule.color)})), {
				text: color("--muted"), line: color("--line"), time: !x, log: x?.log, steps,
				xRange: x?.range, yRange: range, xText: x ? x.format : clock, yText: axis});
		this.showValues();
	}

	// shown: values for the legend of stacked series, by series number. The chart draws cumulative sums instead.
	draw(data, shown = null, rules = []) {
		this.data = data;
		this.shown = shown;
		this.rules = rules;
		// With a single window, a chart over time is hidden.
		this.place.hidden = !this.options.x && data[0].length < 2;
		this.render();
	}
}
