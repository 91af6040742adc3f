// SPDX-License-Identifier: LGPL-2.1-or-later
// Heat map of the blame table. The colour shows how long each victim group waited because of each culprit.
import {count, el, ns, path, printable} from "./dom.js";

const MOST = 16; // maximum number of rows and of columns, plus one for the sum of the rest
const REST = Symbol("rest");

function add(map, key, value) {
	map.set(key, (map.get(key) ?? 0) + value);
}

function top(totals) {
	const sorted = [...totals].sort((a, b) => b[1] - a[1]).map(([name]) => name);

	return {names: sorted.slice(0, MOST), more: Math.max(0, sorted.length - MOST)};
}

function head(scope, name) {
	const text = printable(name);

	return el("th", {scope, title: text}, el("span", {class: "name"}, path(name)));
}

export class Heat {
	constructor() {
		this.node = el("div", {class: "scroll"});
		this.caption = el("p", {class: "muted"});
	}

	draw(blame) {
		const victims = new Map(), culprits = new Map(), cells = new Map();

		for (const row of blame) {
			add(victims, row.victim, row.wait_ns ?? 0);
			add(culprits, row.culprit, row.wait_ns ?? 0);
		}
		const rows = top(victims), cols = top(culprits);
		const rowSet = new Set(rows.names), colSet = new Set(cols.names);

		for (const row of blame) {
			const victim = rowSet.has(row.victim) ? row.victim : REST;
			const culprit = colSet.has(row.culprit) ? row.culprit : REST;

			if (!cells.has(victim))
				cells.set(victim, new Map());
			add(cells.get(victim), culprit, row.wait_ns ?? 0);
		}
		this.table(rows, cols, cells);
		this.caption.textContent = blame.length ? "Colour: time waited. " +
			(rows.more || cols.more ? `${count(rows.more)} victims and ${count(cols.more)} culprits ` +
			"with shorter waits are summed in the last row and column." : "") :
			"No task waited behind another, or the exporter does not collect blame (--blame-limit 0).";
	}

	table({names: rows, more: moreRows}, {names: cols, more: moreCols}, cells) {
		const most = Math.max(...[...cells.values()].flatMap((line) => [...line.values()]), 0);
		const cell = (victim, culprit) => {
			const value = cells.get(victim)?.get(culprit) ?? 0;
			const node = el("td", {class: "heat"}, value ? ns(value) : "");

			// The colour depends on the square root of the wait time, so that short waits are visible next to long waits.
			if (value && most) {
				node.style.setProperty("--heat", Math.sqrt(value / most).toFixed(3));
				node.classList.toggle("hot", value / most > 0.3);
			}
			return node;
		};
		const across = [...cols, ...(moreCols ? [REST] : [])];
		const down = [...rows, ...(moreRows ? [REST] : [])];
		const title = (name, more) => name === REST ? `(${more} more)` : name;

		if (!down.length) {
			this.node.replaceChildren();
			return;
		}
		this.node.replaceChildren(el("table", {class: "heatmap"},
			el("caption", {}, "Who waited (rows) behind whom (columns)"),
			el("thead", {}, el("tr", {}, el("td", {}),
				...across.map((name) => head("col", title(name, moreCols))))),
			el("tbody", {}, ...down.map((victim) => el("tr", {}, head("row", title(victim, moreRows)),
				...across.map((culprit) => cell(victim, culprit)))))));
	}
}
