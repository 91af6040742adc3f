// SPDX-License-Identifier: LGPL-2.1-or-later
// Draws lines, filled stacks and steps over a linear or logarithmic x axis on a canvas.

const LEFT = 64, BOTTOM = 26, TOP = 6, RIGHT = 30;
// Distances of time labels. They are whole seconds, because the labels show no fractions of a second.
const SECONDS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1800, 3600, 7200, 21600, 86400];
const LABEL_PX = 84;

// Step of 1, 2 or 5 times a power of ten, so that at most @most steps cover @span.
function niceStep(span, most) {
	const rough = span / most, power = 10 ** Math.floor(Math.log10(rough));

	return power * [1, 2, 5, 10].find((factor) => factor * power >= rough * 0.999);
}

function multiples(low, high, step) {
	const found = [];

	for (let number = Math.ceil(low / step - 1e-9); number * step <= high + step * 1e-9; number++)
		found.push(number * step + 0); // + 0 turns -0 into 0
	return found;
}

function decades(low, high) {
	const found = [];

	for (let power = Math.ceil(Math.log10(low) - 1e-9); 10 ** power <= high * 1.000001; power++)
		found.push(10 ** power);
	return found;
}

function extent(lists) {
	let low = null, high = null;

	for (const list of lists)
		for (const value of list)
			if (value !== null && value !== undefined && !Number.isNaN(value)) {
				low = low === null ? value : Math.min(low, value);
				high = high === null ? value : Math.max(high, value);
			}
	return [low, high];
}

export class Chart {
	// data: [x, y, y, …]; series: [{stroke, fill, width, dash, points}]; look: {text, line, time, log, steps,
	// xRange, yRange, xText, yText}, where ranges are [low, high] or functions of the data's low and high.
	constructor(canvas) {
		this.canvas = canvas;
	}

	draw(width, height, data, series, rules, look) {
		const ratio = devicePixelRatio || 1, ctx = this.canvas.getContext("2d");

		if (this.canvas.width !== Math.round(width * ratio) || this.canvas.height !== Math.round(height * ratio)) {
			this.canvas.width = Math.round(width * ratio);
			this.canvas.height = Math.round(height * ratio);
			this.canvas.style.width = `${width}px`;
			this.canvas.style.height = `${height}px`;
		}
		ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
		ctx.clearRect(0, 0, width, height);
		this.box = {left: LEFT, top: TOP, width: width - LEFT - RIGHT, height: height - TOP - BOTTOM};
		this.log = look.log;
		this.time = look.time;
		this.scale(data, look);
		this.drawAxes(ctx, look);
		ctx.save();
		ctx.beginPath();
		ctx.rect(this.box.left, this.box.top, this.box.width, this.box.height);
		ctx.clip();
		series.forEach((one, i) => this.drawSeries(ctx, data[0], data[i + 1] ?? [], one, look.steps));
		ctx.restore();
		this.drawRules(ctx, rules);
	}

	scale(data, look) {
		const pick = (range, [low, high]) => typeof range === "function" ? range(low, high) : range ?? [low, high];
		const widen = ([low, high]) => low === null || low === undefined ? [0, 1] : low === high ? [low - 1, high + 1] : [low, high];

		this.x = widen(pick(look.xRange, extent([data[0]])));
		this.y = widen(pick(look.yRange, extent(data.slice(1))));
	}

	toX(value) {
		const [low, high] = this.log ? this.x.map(Math.log10) : this.x;
		const at = this.log ? Math.log10(value) : value;

		return this.box.left + (at - low) / (high - low) * this.box.width;
	}

	toY(value) {
		return this.box.top + (1 - (value - this.y[0]) / (this.y[1] - this.y[0])) * this.box.height;
	}

	xTicks() {
		if (this.log)
			return decades(...this.x);
		const span = this.x[1] - this.x[0], most = Math.max(1, this.box.width / LABEL_PX);

		return multiples(...this.x, (this.time && SECONDS.find((step) => span / step <= most)) || niceStep(span, most));
	}

	drawAxes(ctx, {text, line, xText, yText}) {
		const {left, top, width, height} = this.box;

		ctx.strokeStyle = line;
		ctx.fillStyle = text;
		ctx.lineWidth = 1;
		ctx.font = "12px system-ui, sans-serif";
		ctx.setLineDash([]);
		ctx.textAlign = "right";
		ctx.textBaseline = "middle";
		for (const tick of multiples(...this.y, niceStep(this.y[1] - this.y[0], Math.max(2, height / 36)))) {
			const at = Math.round(this.toY(tick)) + 0.5;

			this.stroke(ctx, left, at, left + width, at);
			ctx.fillText(yText(tick), left - 8, at);
		}
		ctx.textAlign = "center";
		ctx.textBaseline = "top";
		for (const tick of this.xTicks()) {
			const at = Math.round(this.toX(tick)) + 0.5;

			this.stroke(ctx, at, top, at, top + height);
			ctx.fillText(xText(tick), at, top + height + 7);
		}
	}

	stroke(ctx, x1, y1, x2, y2) {
		ctx.beginPath();
		ctx.moveTo(x1, y1);
		ctx.lineTo(x2, y2);
		ctx.stroke();
	}

	// Splits a series at its gaps into lists of positions in pixels.
	runs(x, y, steps) {
		const runs = [];
		let run = null;

		x.forEach((value, i) => {
			if (y[i] === null || y[i] === undefined || Number.isNaN(y[i])) {
				run = null;
				return;
			}
			if (!run)
				runs.push(run = []);
			// The step of a histogram bucket extends from the edge of the previous bucket to the edge of the bucket.
			if (steps && i)
				run.push([this.toX(x[i - 1]), this.toY(y[i])]);
			run.push([this.toX(value), this.toY(y[i])]);
		});
		return runs;
	}

	drawSeries(ctx, x, y, {stroke, fill, width, dash, points}, steps) {
		const bottom = this.toY(Math.max(0, this.y[0]));

		for (const run of this.runs(x, y, steps)) {
			const path = new Path2D();

			if (points || run.length === 1) {
				ctx.fillStyle = stroke;
				run.forEach(([at, up]) => ctx.fillRect(at - 3, up - 3, 6, 6));
				continue;
			}

			run.forEach(([at, up], i) => i ? path.lineTo(at, up) : path.moveTo(at, up));
			if (fill) {
				const area = new Path2D(path);

				area.lineTo(run[run.length - 1][0], bottom);
				area.lineTo(run[0][0], bottom);
				ctx.fillStyle = fill;
				ctx.fill(area);
			}
			if (width) {
				ctx.strokeStyle = stroke;
				ctx.lineWidth = width;
				ctx.lineJoin = "round";
				ctx.setLineDash(dash ?? []);
				ctx.stroke(path);
			}
		}
	}

	// Draws dashed vertical lines at reference values.
	drawRules(ctx, rules) {
		ctx.setLineDash([6, 4]);
		for (const rule of rules) {
			ctx.strokeStyle = rule.color;
			ctx.lineWidth = rule.width ?? 2;
			this.stroke(ctx, this.toX(rule.at), this.box.top, this.toX(rule.at), this.box.top + this.box.height);
		}
	}

	// Index of the point nearest to a position in pixels; -1 outside the plot.
	nearest(data, left) {
		let best = -1, least = Infinity;

		if (!this.box || left < this.box.left - 4 || left > this.box.left + this.box.width + 4)
			return -1;
		data[0].forEach((value, i) => {
			const far = Math.abs(this.toX(value) - left);

			if (far < least) {
				best = i;
				least = far;
			}
		});
		return best;
	}
}
