// SPDX-License-Identifier: LGPL-2.1-or-later
// Makes HTML elements and formats figures. Names of cgroups and tasks enter the page only as text nodes.

export function el(tag, attributes = {}, ...children) {
	const node = document.createElement(tag);

	for (const [name, value] of Object.entries(attributes)) {
		if (name === "class")
			node.className = value;
		else if (name.startsWith("on"))
			node.addEventListener(name.slice(2), value);
		else if (value === true)
			node.setAttribute(name, "");
		else if (value !== false && value !== null && value !== undefined)
			node.setAttribute(name, value);
	}
	node.append(...children);
	return node;
}

export function setText(node, text) {
	if (node.textContent !== text)
		node.textContent = text;
}

// Text of a view without figures: the command that would collect the figures, or the reason why the figures are
// missing.
export function missing(what, why) {
	return /\bsubtick serve .*/.exec(why)?.[0] ?? `${what} unavailable: ${why}`;
}

// Characters that are invisible or reorder the line. utf8_printable() in utf8.c escapes the same characters.
const HIDDEN = new RegExp("[\\0-\\x1f\\x7f-\\x9f\\u00ad\\u061c\\u180e\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f" +
	"\\ufeff\\ufff9-\\ufffb\\u{e0000}-\\u{e0fff}]", "gu");
const BYTES = new TextEncoder();

export function printable(name) {
	const text = String(name ?? "(none)").replace(HIDDEN, (c) =>
		[...BYTES.encode(c)].map((byte) => "\\x" + byte.toString(16).padStart(2, "0")).join(""));

	return text === "" ? "(empty)" : text;
}

const TAIL = 14;

// Cuts the middle out of a long path, because the end of the path distinguishes siblings.
export function path(name) {
	const letters = [...printable(name)];

	// Names that are only slightly longer than the limit are not shortened.
	if (letters.length <= TAIL + 6)
		return el("span", {}, letters.join(""));
	return el("span", {class: "path"}, el("span", {class: "head"}, letters.slice(0, -TAIL).join("")),
		el("span", {class: "tail"}, letters.slice(-TAIL).join("")));
}

// Formats a number with three significant digits, without an exponent.
function digits(value) {
	const size = Math.abs(value);

	return value.toFixed(size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2);
}

export function known(value) {
	return typeof value === "number" && Number.isFinite(value);
}

export function ns(value) {
	if (!known(value))
		return "–";
	const size = Math.abs(value);

	if (size >= 999.5e6)
		return digits(value / 1e9) + " s";
	if (size >= 999.5e3)
		return digits(value / 1e6) + " ms";
	if (size >= 999.5)
		return digits(value / 1e3) + " µs";
	return Math.round(value) + " ns";
}

export function percent(value) {
	return known(value) ? (value * 100).toFixed(1) + " %" : "–";
}

export function count(value) {
	return known(value) ? value.toLocaleString("en") : "–";
}

// Formats a value for axis labels.
export function wholePercent(value) {
	return known(value) ? `${Math.round(value * 100)} %` : "";
}

export function points(value) {
	if (!known(value))
		return "–";
	return (value < 0 ? "−" : "+") + Math.abs(value * 100).toFixed(1) + " points";
}

// Value in nested objects by a path with dots: pick(cpu, "compare.procstat_busy_ratio").
export function pick(object, path) {
	return path.split(".").reduce((at, key) => at?.[key], object);
}

// Makes a table that scrolls on narrow screens. heads: titles, [title, CSS class], or elements. rows: elements.
export function table(style, caption, heads, rows) {
	const head = (one) => one instanceof Node ? one :
		el("th", {scope: "col", class: Array.isArray(one) ? one[1] : null}, Array.isArray(one) ? one[0] : one);

	return el("div", {class: "scroll"}, el("table", {class: style}, el("caption", {}, caption),
		el("thead", {}, el("tr", {}, ...heads.map(head))), el("tbody", {}, ...rows)));
}

// Makes a table row with a heading and cells.
export function row(head, ...cells) {
	return el("tr", {}, el("th", {scope: "row"}, head), ...cells);
}

// Makes an element with a name. A long name is cut, and the whole name is shown under the pointer.
export function named(name, shown = path(name)) {
	return el("span", {class: "name", title: printable(name)}, shown);
}

// Makes the coloured parts of a bar. parts: [[share of the bar, CSS class, title]].
export function bar(parts) {
	return el("span", {class: "bar"}, ...parts.map(([share, style, title]) => {
		const part = el("span", {class: `part ${style}`, title});

		part.style.width = `${share * 100}%`;
		return part;
	}));
}

export function legend(entries) {
	return el("ul", {class: "legend", "aria-label": "Colours"}, ...entries.map(([style, title]) =>
		el("li", {}, el("span", {class: `swatch ${style}`}), title)));
}

export function notes(list, report) {
	const lines = (report.notes ?? []).map(printable);

	if (list.dataset.notes === lines.join("\n"))
		return;
	list.dataset.notes = lines.join("\n");
	list.replaceChildren(...lines.map((line) => el("li", {}, line)));
}

// One line of text with the source of the figures and the length of the window.
export function origin(report) {
	const window = report.window_ns ? `window ${ns(report.window_ns)}` : "no window";

	return `source ${printable(report.source)}, ${window}`;
}
