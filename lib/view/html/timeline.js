// SPDX-License-Identifier: LGPL-2.1-or-later
// The timeline of `subtick trace -o FILE.html`: a row per CPU on a canvas, zoomed by wheel, fingers, keys and buttons.
"use strict";

const data = JSON.parse(document.getElementById("data").textContent);
const canvas = document.getElementById("rows"), ctx = canvas.getContext("2d");
const LEFT = 52, AXIS = 20, LEAST_NS = 20, LABEL_PX = 90, MANY = 40;
const {parts, names} = data, tasks = new Map(data.tasks);
const cpus = data.cpus.map(decode);
// As tall as a browser can draw, however many CPUs there are.
const row = cpus.length <= 64 ? 28 : cpus.length <= 256 ? 14 : Math.max(2, 4000 / cpus.length);
const places = new Map(cpus.map((one, at) => [one.cpu, AXIS + row * at]));
const ticks = data.ticks.map(({cpu, at}) => ({cpu, at: Float64Array.from(sums(at))}));
// The width in CSS pixels: asking the canvas for it, slice by slice, would take most of the time.
let from = data.from, to = data.to, chosen = null, width = canvas.clientWidth;

// Lengths of slices become their ends, so that a time can be searched.
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

// The first slice that ends after @ns.
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

// A point in time, to the ns.
function point(ns) {
	return `${(ns / 1e6).toFixed(6)} ms`;
}

function task(pid) {
	return pid ? `${tasks.get(pid) || "?"} (${pid})` : "idle";
}

function label(one, i) {
	switch (parts[one.part[i]]) {
	case "task":
	case "ksoftirqd":
		return task(one.what[i]);
	case "hardirq":
		return names[one.what[i]] || "interrupt";
	case "softirq_on_idle":
	case "softirq_on_task":
		return `softirq ${names[one.what[i]]}`;
	case "idle":
	case "poll_idle":
		return `idle, state ${one.what[i]}`;
	default:
		return parts[one.part[i]].replaceAll("_", " ");
	}
}

function x(ns) {
	return LEFT + (ns - from) / (to - from) * (width - LEFT);
}

function nsAt(pixel) {
	return from + (pixel - LEFT) / (width - LEFT) * (to - from);
}

function axis(colour) {
	const rough = (to - from) / Math.max(1, (width - LEFT) / LABEL_PX), power = 10 ** Math.floor(Math.log10(rough));
	const step = power * [1, 2, 5, 10].find((factor) => factor * power >= rough);

	ctx.fillStyle = ctx.strokeStyle = colour("--muted");
	for (let n = Math.ceil(from / step); n * step <= to; n++) {
		ctx.fillRect(Math.round(x(n * step)), AXIS - 4, 1, 4);
		// Later than the right edge less a label: it would be cut.
		if (x(n * step) < width - LABEL_PX / 2)
			ctx.fillText(time(n * step, 15), x(n * step) + 3, AXIS - 6);
	}
}

// What is narrower than a pixel shares it: the part with most time there is drawn.
function drawRow(one, top, fills, height, text) {
	const sums = new Float64Array(parts.length);
	let wide = 0, narrow = 0, column = -1, most = 0;
	const flush = () => {
		if (column >= 0) {
			ctx.fillStyle = fills[most];
			ctx.fillRect(column, top, 1, height);
		}
		column = -1;
		sums.fill(0);
	};

	for (let i = search(one, from); i < one.nr && begin(one, i) < to; i++) {
		const part = one.part[i], start = Math.max(begin(one, i), from), end = Math.min(one.ends[i], to);
		const left = x(start), length = x(end) - left;

		if (length < 1) {
			narrow++;
			if (Math.floor(left) !== column)
				flush();
			column = Math.floor(left);
			sums[part] += end - start;
			if (sums[part] > sums[most])
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
			ctx.fillText(label(one, i), left + 3, top + height - 6);
			ctx.restore();
		}
	}
	flush();
	return [wide, narrow];
}

// A tick is a short line at the top of its row, unless there are more than one for a few pixels.
function drawTicks(colour) {
	let drawn = 0;

	ctx.fillStyle = colour("--text");
	for (const {cpu, at} of ticks) {
		const seen = at.filter((ns) => ns >= from && ns < to);

		if (seen.length * 4 > width - LEFT)
			continue;
		for (const ns of seen)
			ctx.fillRect(x(ns), places.get(cpu), 1, Math.min(6, row / 3));
		drawn += seen.length;
	}
	return drawn;
}

// A bar under the row of a CPU.
function bar(cpu, begins, ends, height) {
	if (ends <= from || begins >= to)
		return;
	const left = Math.max(LEFT, x(begins));

	ctx.fillRect(left, places.get(cpu) + row - 4, Math.max(1, x(Math.min(to, ends)) - left), height);
}

// A wait is a bar under the row of the CPU that it was for, its hold by quota in another colour; the chosen one also has
// a line from its waker.
function drawWaits(colour) {
	ctx.fillStyle = ctx.strokeStyle = colour("--bad");
	for (const wait of data.waits)
		bar(wait.cpu, wait.from, wait.to, wait === chosen ? 4 : 2);
	ctx.fillStyle = colour("--text");
	for (const wait of data.waits)
		if (wait.hold)
			bar(wait.cpu, wait.from, wait.from + wait.hold, wait === chosen ? 4 : 2);
	if (!chosen || !chosen.woken || !places.has(chosen.waker_cpu))
		return;
	ctx.lineWidth = 2;
	ctx.beginPath();
	ctx.moveTo(x(chosen.waking || chosen.from), places.get(chosen.waker_cpu) + row / 2);
	ctx.lineTo(x(chosen.from), places.get(chosen.cpu) + row - 2);
	ctx.stroke();
}

function draw() {
	const style = getComputedStyle(document.documentElement), colour = (name) => style.getPropertyValue(name).trim();
	const height = AXIS + row * cpus.length + 4, sharp = Math.min(devicePixelRatio || 1, 16000 / height);
	const fills = parts.map((part) => colour(`--ctx-${part}`)), text = parts.map((part) => colour(`--on-${part}`) || "#fff");
	let wide = 0, narrow = 0;

	canvas.style.height = `${height}px`;
	width = canvas.clientWidth;
	canvas.width = Math.round(width * sharp);
	canvas.height = Math.round(height * sharp);
	ctx.setTransform(sharp, 0, 0, sharp, 0, 0);
	ctx.font = "11px system-ui,sans-serif";
	axis(colour);
	cpus.forEach((one, at) => {
		const top = AXIS + row * at, [drawn, shared] = drawRow(one, top, fills, row > 8 ? row - 6 : row, text);

		ctx.fillStyle = colour("--text");
		if (row > 8 || at % Math.ceil(12 / row) === 0)
			ctx.fillText(`CPU ${one.cpu}`, 2, top + Math.min(row, 16));
		wide += drawn;
		narrow += shared;
	});
	drawWaits(colour);
	Object.assign(canvas.dataset, {wide, narrow, from, to, ticks: drawTicks(colour)});
	document.getElementById("view").textContent = `${point(from)} to ${point(to)}: ${time(to - from)}, ${wide + narrow} slices` +
		(narrow ? `, ${narrow} of them narrower than a pixel` : "");
}

function show(low, high) {
	const all = data.to - data.from, span = Math.min(all, Math.max(LEAST_NS, high - low));
	const start = Math.min(Math.max(data.from, (low + high - span) / 2), data.to - span);

	[from, to] = [Math.round(start), Math.round(start + span)];
	draw();
}

// The same point stays under the pointer.
function zoom(factor, at = (from + to) / 2) {
	const span = Math.min(data.to - data.from, Math.max(LEAST_NS, (to - from) * factor));

	show(at - (at - from) * span / (to - from), at + (to - at) * span / (to - from));
}

function pan(share) {
	show(from + (to - from) * share, to + (to - from) * share);
}

function about(event) {
	const one = cpus[Math.floor((event.offsetY - AXIS) / row)], ns = nsAt(event.offsetX);
	const i = one ? search(one, ns) : 0;

	document.getElementById("about").textContent = !one || event.offsetX < LEFT || i >= one.nr || begin(one, i) > ns ? "" :
		`CPU ${one.cpu}, ${point(begin(one, i))}, for ${time(one.ends[i] - begin(one, i))}: ${label(one, i)}`;
}

function line(list, text) {
	list.append(Object.assign(document.createElement("li"), {textContent: text}));
}

// Who woke it, what the CPU that it got did meanwhile, and when it got it.
function choose(wait) {
	const list = document.getElementById("chain"), one = cpus.find(({cpu}) => cpu === wait.cpu), length = wait.to - wait.from;
	let shown = 0, more = 0;

	chosen = wait;
	list.replaceChildren();
	line(list, wait.woken ? `${point(wait.waking || wait.from)}: ${task(wait.waker)} on CPU ${wait.waker_cpu} wakes ${task(wait.pid)}` :
		`${point(wait.from)}: ${task(wait.pid)} loses its core, although it could run`);
	if (wait.held)
		line(list, `${point(wait.from)}: its CPU quota is used up` + (wait.hold ? ` and holds it for ${time(wait.hold)}` : ""));
	for (let i = one ? search(one, wait.from) : 0; one && i < one.nr && begin(one, i) < wait.to; i++) {
		const start = Math.max(begin(one, i), wait.from), end = Math.min(one.ends[i], wait.to);

		if (++shown > MANY)
			more++;
		else
			line(list, `${point(start)}: CPU ${wait.cpu} has ${label(one, i)} for ${time(end - start)}`);
	}
	if (more)
		line(list, `and ${more} more slices`);
	line(list, `${point(wait.to)}: ${task(wait.pid)} gets CPU ${wait.cpu} after ${time(length)}`);
	document.getElementById("chained").hidden = false;
	show(Math.min(wait.from, wait.waking || wait.from) - length * 0.1, wait.to + length * 0.1);
}

// #FROM-TO in ns: a link to what is seen.
function follow() {
	const found = /^#(\d+)-(\d+)$/.exec(location.hash);

	if (found && Number(found[1]) < Number(found[2]))
		show(Number(found[1]), Number(found[2]));
}

const fingers = new Map();

function press(event) {
	fingers.set(event.pointerId, event.offsetX);
	canvas.setPointerCapture(event.pointerId);
}

function move(event) {
	const before = [...fingers.values()];

	about(event);
	if (!fingers.has(event.pointerId))
		return;
	fingers.set(event.pointerId, event.offsetX);
	const now = [...fingers.values()];

	if (now.length === 2) {
		// Both fingers stay on their points in time.
		const [a, b] = before.map(nsAt), share = (b - a) / (now[1] - now[0] || 1);

		if (share > 0)
			show(a - (now[0] - LEFT) * share, a + (width - now[0]) * share);
	} else if (now.length === 1) {
		pan((before[0] - now[0]) / (width - LEFT));
	}
}

function release(event) {
	fingers.delete(event.pointerId);
}

const deeds = {in: () => zoom(0.5), out: () => zoom(2), left: () => pan(-0.25), right: () => pan(0.25), all: () => show(data.from, data.to)};
const keys = {"+": "in", "=": "in", "-": "out", ArrowLeft: "left", ArrowRight: "right", Home: "all", w: "in", s: "out", a: "left", d: "right"};

function listen() {
	for (const button of document.querySelectorAll("button[data-do]"))
		button.addEventListener("click", deeds[button.dataset.do]);
	for (const cell of document.querySelectorAll("[data-wait]")) {
		const button = Object.assign(document.createElement("button"), {textContent: "show"});

		button.addEventListener("click", () => choose(data.waits[Number(cell.dataset.wait)]));
		cell.append(" ", button);
	}
	canvas.addEventListener("keydown", (event) => {
		if (keys[event.key] && !event.ctrlKey && !event.altKey && !event.metaKey) {
			event.preventDefault();
			deeds[keys[event.key]]();
		}
	});
	// A wheel alone scrolls the page, as there may be many rows.
	canvas.addEventListener("wheel", (event) => {
		if (event.ctrlKey || event.metaKey) {
			event.preventDefault();
			zoom(2 ** (event.deltaY / 200), nsAt(event.offsetX));
		} else if (event.shiftKey || event.deltaX) {
			event.preventDefault();
			pan((event.deltaX || event.deltaY) / (width - LEFT));
		}
	}, {passive: false});
	canvas.addEventListener("pointerdown", press);
	canvas.addEventListener("pointermove", move);
	for (const name of ["pointerup", "pointercancel"])
		canvas.addEventListener(name, release);
	canvas.addEventListener("dblclick", (event) => zoom(0.5, nsAt(event.offsetX)));
	addEventListener("hashchange", follow);
	document.getElementById("link").addEventListener("click", () => location.replace(`#${from}-${to}`));
	for (const query of ["print", "(prefers-color-scheme: dark)"])
		matchMedia(query).addEventListener("change", draw);
	new ResizeObserver(draw).observe(canvas.parentElement);
}

listen();
follow();
draw();
