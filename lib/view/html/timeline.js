// SPDX-License-Identifier: LGPL-2.1-or-later
// Draws a timeline of `subtick trace`: a row per CPU on a canvas, zoomed by wheel, fingers, keys and buttons. The file
// of `subtick trace -o FILE.html` and the page of `subtick serve` use the same script.

const LEFT = 52, AXIS = 20, LEAST_NS = 20, LABEL_PX = 90, MANY = 40;
const KEYS = {"+": "in", "=": "in", "-": "out", ArrowLeft: "left", ArrowRight: "right", Home: "all", w: "in", s: "out", a: "left", d: "right"};

// Replaces the lengths of slices by their ends, for binary search.
function decode({cpu, at, slices}) {
	const nr = slices.length / 3, ends = new Float64Array(nr), part = new Uint8Array(nr), what = new Uint32Array(nr);
	let ns = at;

	for (let i = 0; i < nr; i++) {
		ns += slices[3 * i];
		ends[i] = ns;
		part[i] = slices[3 * i + 1];
		what[i] = slices[3 * i + 2];
	}
	return {cpu, at, nr, ends, part, what};
}

function* sums(steps) {
	let sum = 0;

	for (const step of steps)
		yield sum += step;
}

function begin(one, i) {
	return i ? one.ends[i - 1] : one.at;
}

// Returns the index of the first slice that ends after @ns.
function search(one, ns) {
	let low = 0, high = one.nr;

	while (low < high) {
		const mid = low + high >> 1;

		if (one.ends[mid] <= ns)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

function time(ns, digits = 4) {
	const [unit, size] = [["s", 1e9], ["ms", 1e6], ["\u00b5s", 1e3], ["ns", 1]].find(([, ns1]) => Math.abs(ns) >= ns1) ?? ["ns", 1];

	return `${Number((ns / size).toPrecision(digits))} ${unit}`;
}

// Formats a point in time with ns.
function point(ns) {
	return `${(ns / 1e6).toFixed(6)} ms`;
}

export class Timeline {
	// @data: data of the recording. @nodes: HTML elements to fill. canvas has the picture, view describes the visible
	// range, about describes the slice under the pointer, and chain lists the events of a wait in the section chained.
	constructor(data, nodes) {
		this.data = data;
		this.nodes = nodes;
		this.ctx = nodes.canvas.getContext("2d");
		this.parts = data.parts;
		this.tasks = new Map(data.tasks);
		this.cpus = data.cpus.map(decode);
		// Limits the height of the canvas to what browsers can draw.
		this.row = this.cpus.length <= 64 ? 28 : this.cpus.length <= 256 ? 14 : Math.max(2, 4000 / this.cpus.length);
		this.places = new Map(this.cpus.map((one, at) => [one.cpu, AXIS + this.row * at]));
		this.ticks = data.ticks.map(({cpu, at}) => ({cpu, at: Float64Array.from(sums(at))}));
		[this.from, this.to, this.chosen] = [data.from, data.to, null];
		// Width in CSS pixels, cached because reading it for each slice is slow.
		this.width = nodes.canvas.clientWidth;
		this.fingers = new Map();
		this.deeds = {in: () => this.zoom(0.5), out: () => this.zoom(2), left: () => this.pan(-0.25),
			right: () => this.pan(0.25), all: () => this.show(data.from, data.to)};
		this.listen();
		this.draw();
	}

	task(pid) {
		return pid ? `${this.tasks.get(pid) || "?"} (${pid})` : "idle";
	}

	label(one, i) {
		const part = this.parts[one.part[i]];

		switch (part) {
		case "task":
		case "ksoftirqd":
			return this.task(one.what[i]);
		case "hardirq":
			return this.data.names[one.what[i]] || "interrupt";
		case "softirq_on_idle":
		case "softirq_on_task":
			return `softirq ${this.data.names[one.what[i]]}`;
		case "idle":
		case "poll_idle":
			return `idle, state ${one.what[i]}`;
		default:
			return part.replaceAll("_", " ");
		}
	}

	x(ns) {
		return LEFT + (ns - this.from) / (this.to - this.from) * (this.width - LEFT);
	}

	nsAt(pixel) {
		return this.from + (pixel - LEFT) / (this.width - LEFT) * (this.to - this.from);
	}

	axis(colour) {
		const {ctx, width} = this, rough = (this.to - this.from) / Math.max(1, (width - LEFT) / LABEL_PX);
		const power = 10 ** Math.floor(Math.log10(rough));
		const step = power * [1, 2, 5, 10].find((factor) => factor * power >= rough);

		ctx.fillStyle = ctx.strokeStyle = colour("--muted");
		for (let n = Math.ceil(this.from / step); n * step <= this.to; n++) {
			ctx.fillRect(Math.round(this.x(n * step)), AXIS - 4, 1, 4);
			// Omit a time label that the right edge would cut off.
			if (this.x(n * step) < width - LABEL_PX / 2)
				ctx.fillText(time(n * step, 15), this.x(n * step) + 3, AXIS - 6);
		}
	}

	// If one pixel contains several slices, draws the kind of slice with most time in the pixel.
	drawRow(one, top, fills, height, text) {
		const {ctx, from, to} = this, shares = new Float64Array(this.parts.length);
		let wide = 0, narrow = 0, column = -1, most = 0;
		const flush = () => {
			if (column >= 0) {
				ctx.fillStyle = fills[most];
				ctx.fillRect(column, top, 1, height);
			}
			column = -1;
			shares.fill(0);
		};

		for (let i = search(one, from); i < one.nr && begin(one, i) < to; i++) {
			const part = one.part[i], start = Math.max(begin(one, i), from), end = Math.min(one.ends[i], to);
			const left = this.x(start), length = this.x(end) - left;

			if (length < 1) {
				narrow++;
				if (Math.floor(left) !== column)
					flush();
				column = Math.floor(left);
				shares[part] += end - start;
				if (shares[part] > shares[most])
					most = part;
				continue;
			}
			wide++;
			ctx.fillStyle = fills[part];
			ctx.fillRect(left, top, length, height);
			if (length > 24 && height > 11) {
				ctx.save();
				ctx.beginPath();
				ctx.rect(left, top, length - 2, height);
				ctx.clip();
				ctx.fillStyle = text[part];
				ctx.fillText(this.label(one, i), left + 3, top + height - 6);
				ctx.restore();
			}
		}
		flush();
		return [wide, narrow];
	}

	// Draws ticks as short lines at the top of the row, unless they are only a few pixels apart.
	drawTicks(colour) {
		let drawn = 0;

		this.ctx.fillStyle = colour("--text");
		for (const {cpu, at} of this.ticks) {
			const seen = at.filter((ns) => ns >= this.from && ns < this.to);

			if (seen.length * 4 > this.width - LEFT)
				continue;
			for (const ns of seen)
				this.ctx.fillRect(this.x(ns), this.places.get(cpu), 1, Math.min(6, this.row / 3));
			drawn += seen.length;
		}
		return drawn;
	}

	// Draws a bar under the row of a CPU.
	bar(wait, ends) {
		if (ends <= this.from || wait.from >= this.to)
			return;
		const left = Math.max(LEFT, this.x(wait.from));

		this.ctx.fillRect(left, this.places.get(wait.cpu) + this.row - 4,
			Math.max(1, this.x(Math.min(this.to, ends)) - left), wait === this.chosen ? 4 : 2);
	}

	// Draws a wait as a bar under the row of the CPU that the task waited for. Time throttled by CPU quota has another
	// colour. The selected wait also has a line from its waker.
	drawWaits(colour) {
		const {ctx, chosen, places} = this;

		ctx.fillStyle = ctx.strokeStyle = colour("--bad");
		for (const wait of this.data.waits)
			this.bar(wait, wait.to);
		ctx.fillStyle = colour("--text");
		for (const wait of this.data.waits)
			if (wait.hold)
				this.bar(wait, wait.from + wait.hold);
		if (!chosen || !chosen.woken || !places.has(chosen.waker_cpu))
			return;
		ctx.lineWidth = 2;
		ctx.beginPath();
		ctx.moveTo(this.x(chosen.waking || chosen.from), places.get(chosen.waker_cpu) + this.row / 2);
		ctx.lineTo(this.x(chosen.from), places.get(chosen.cpu) + this.row - 2);
		ctx.stroke();
	}

	// Sizes the canvas in device pixels.
	size() {
		const {canvas} = this.nodes, height = AXIS + this.row * this.cpus.length + 4;
		const sharp = Math.min(devicePixelRatio || 1, 16000 / height);

		canvas.style.height = `${height}px`;
		this.width = canvas.clientWidth;
		canvas.width = Math.round(this.width * sharp);
		canvas.height = Math.round(height * sharp);
		this.ctx.setTransform(sharp, 0, 0, sharp, 0, 0);
		this.ctx.font = "11px system-ui,sans-serif";
	}

	draw() {
		const style = getComputedStyle(document.documentElement), colour = (name) => style.getPropertyValue(name).trim();
		const fills = this.parts.map((part) => colour(`--ctx-${part}`));
		const text = this.parts.map((part) => colour(`--on-${part}`) || "#fff");
		const {ctx, row, from, to} = this;
		let wide = 0, narrow = 0;

		this.size();
		// A hidden view has no width. The ResizeObserver calls this function again when the view is shown.
		if (!this.width)
			return;
		this.axis(colour);
		this.cpus.forEach((one, at) => {
			const top = AXIS + row * at;
			const [drawn, shared] = this.drawRow(one, top, fills, row > 8 ? row - 6 : row, text);

			ctx.fillStyle = colour("--text");
			if (row > 8 || at % Math.ceil(12 / row) === 0)
				ctx.fillText(`CPU ${one.cpu}`, 2, top + Math.min(row, 16));
			wide += drawn;
			narrow += shared;
		});
		this.drawWaits(colour);
		Object.assign(this.nodes.canvas.dataset, {wide, narrow, from, to, ticks: this.drawTicks(colour)});
		this.nodes.view.textContent = `${point(from)} to ${point(to)}: ${time(to - from)}, ${wide + narrow} slices` +
			(narrow ? `, ${narrow} of them narrower than a pixel` : "");
	}

	show(low, high) {
		const all = this.data.to - this.data.from, span = Math.min(all, Math.max(LEAST_NS, high - low));
		const start = Math.min(Math.max(this.data.from, (low + high - span) / 2), this.data.to - span);

		[this.from, this.to] = [Math.round(start), Math.round(start + span)];
		this.draw();
	}

	// Zooming keeps the time under the pointer at its position.
	zoom(factor, at = (this.from + this.to) / 2) {
		const {from, to} = this, span = Math.min(this.data.to - this.data.from, Math.max(LEAST_NS, (to - from) * factor));

		this.show(at - (at - from) * span / (to - from), at + (to - at) * span / (to - from));
	}

	pan(share) {
		const by = (this.to - this.from) * share;

		this.show(this.from + by, this.to + by);
	}

	about(event) {
		const one = this.cpus[Math.floor((event.offsetY - AXIS) / this.row)], ns = this.nsAt(event.offsetX);
		const i = one ? search(one, ns) : 0;

		this.nodes.about.textContent = !one || event.offsetX < LEFT || i >= one.nr || begin(one, i) > ns ? "" :
			`CPU ${one.cpu}, ${point(begin(one, i))}, for ${time(one.ends[i] - begin(one, i))}: ${this.label(one, i)}`;
	}

	// Lists the events of a wait: the waker, what the CPU did during the wait, and when the task ran.
	*chainOf(wait) {
		const one = this.cpus.find(({cpu}) => cpu === wait.cpu);
		let shown = 0, more = 0;

		yield wait.woken ?
			`${point(wait.waking || wait.from)}: ${wait.by ?? this.task(wait.waker)} on CPU ${wait.waker_cpu} wakes ${this.task(wait.pid)}` :
			`${point(wait.from)}: ${this.task(wait.pid)} loses its core, although it could run`;
		if (wait.held)
			yield `${point(wait.from)}: its CPU quota is used up` + (wait.hold ? ` and holds it for ${time(wait.hold)}` : "");
		for (let i = one ? search(one, wait.from) : 0; one && i < one.nr && begin(one, i) < wait.to; i++) {
			const start = Math.max(begin(one, i), wait.from), end = Math.min(one.ends[i], wait.to);

			if (++shown > MANY)
				more++;
			else
				yield `${point(start)}: CPU ${wait.cpu} has ${this.label(one, i)} for ${time(end - start)}`;
		}
		if (more)
			yield `and ${more} more slices`;
		if (wait.avoidable)
			yield `for ${time(wait.avoidable)} of it another CPU that the task may use was idle: CPU ${wait.idle_cpu} for ${time(wait.idle_cpu_ns)}`;
		yield `${point(wait.to)}: ${this.task(wait.pid)} gets CPU ${wait.cpu} after ${time(wait.to - wait.from)}`;
	}

	// Zooms to the wait with the given number and lists the events of this wait.
	choose(number) {
		const wait = this.data.waits[number], room = (wait.to - wait.from) * 0.1;

		this.chosen = wait;
		this.nodes.chain.replaceChildren(...[...this.chainOf(wait)].map((text) =>
			Object.assign(document.createElement("li"), {textContent: text})));
		this.nodes.chained.hidden = false;
		this.show(Math.min(wait.from, wait.waking || wait.from) - room, wait.to + room);
	}

	press(event) {
		this.fingers.set(event.pointerId, event.offsetX);
		this.nodes.canvas.setPointerCapture(event.pointerId);
	}

	move(event) {
		const before = [...this.fingers.values()];

		this.about(event);
		if (!this.fingers.has(event.pointerId))
			return;
		this.fingers.set(event.pointerId, event.offsetX);
		const now = [...this.fingers.values()];

		if (now.length === 2) {
			// Zooming keeps the times under both fingers at their positions.
			const [a, b] = before.map((pixel) => this.nsAt(pixel)), share = (b - a) / (now[1] - now[0] || 1);

			if (share > 0)
				this.show(a - (now[0] - LEFT) * share, a + (this.width - now[0]) * share);
		} else if (now.length === 1) {
			this.pan((before[0] - now[0]) / (this.width - LEFT));
		}
	}

	key(event) {
		if (!KEYS[event.key] || event.ctrlKey || event.altKey || event.metaKey)
			return;
		event.preventDefault();
		this.deeds[KEYS[event.key]]();
	}

	// Without a modifier key the wheel scrolls the page, because there may be many rows.
	wheel(event) {
		if (event.ctrlKey || event.metaKey)
			this.zoom(2 ** (event.deltaY / 200), this.nsAt(event.offsetX));
		else if (event.shiftKey || event.deltaX)
			this.pan((event.deltaX || event.deltaY) / (this.width - LEFT));
		else
			return;
		event.preventDefault();
	}

	listen() {
		const {canvas} = this.nodes, release = (event) => this.fingers.delete(event.pointerId);

		canvas.addEventListener("keydown", (event) => this.key(event));
		canvas.addEventListener("wheel", (event) => this.wheel(event), {passive: false});
		canvas.addEventListener("pointerdown", (event) => this.press(event));
		canvas.addEventListener("pointermove", (event) => this.move(event));
		canvas.addEventListener("pointerup", release);
		canvas.addEventListener("pointercancel", release);
		canvas.addEventListener("dblclick", (event) => this.zoom(0.5, this.nsAt(event.offsetX)));
		new ResizeObserver(() => this.draw()).observe(canvas.parentElement);
	}
}
