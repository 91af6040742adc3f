// SPDX-License-Identifier: LGPL-2.1-or-later
// Distribution of the wake latency per idle state, over all cores and the last minutes, with the driver's exit latency.
import {count, el, known, ns, percent, printable, setText} from "./dom.js";
import {Plot} from "./plot.js";

export const COLORS = ["--ctx-task", "--ctx-hardirq", "--ctx-poll_idle", "--ctx-ksoftirqd",
	"--ctx-softirq_on_idle", "--ctx-idle_loop"];
const WINDOWS = 300;

const color = (i) => COLORS[i % COLORS.length];

// Sums cumulative counts with equal bucket edges over cores and windows. An edge of null is infinity.
function add(sums, le) {
	for (const bucket of le ?? [])
		sums.set(bucket.le_ns, (sums.get(bucket.le_ns) ?? 0) + (bucket.count ?? 0));
}

function decadesAround(values) {
	const have = values.filter((value) => known(value) && value > 0).map(Math.log10);

	return [10 ** Math.floor(Math.min(...have)), 10 ** Math.ceil(Math.max(...have) + 1e-9)];
}

export class Spread {
	constructor() {
		this.past = [];
		this.range = [100, 1e6];
		this.caption = el("p", {class: "muted"});
		this.place = el("div", {class: "columns"});
		this.node = el("div", {}, this.place, this.caption);
	}

	restyle() {
		this.plots?.forEach((plot) => plot.restyle());
	}

	// Adds the idle states of one window: [{name, claimed, list: [{le, count}]}].
	add(states) {
		const window = new Map();

		for (const state of states) {
			const sums = new Map();

			state.list.forEach((one) => add(sums, one.le));
			if (sums.size)
				window.set(state.name, sums);
		}
		this.past.push(window);
		if (this.past.length > WINDOWS)
			this.past.shift();
	}

	// Cumulative counts of one idle state over all stored windows, by bucket edge.
	sum(name) {
		const sums = new Map();

		for (const window of this.past)
			for (const [edge, below] of window.get(name) ?? [])
				sums.set(edge, (sums.get(edge) ?? 0) + below);
		const all = sums.get(null) ?? Math.max(0, ...sums.values());
		const edges = [...sums].filter(([edge]) => known(edge) && edge > 0).sort((a, b) => a[0] - b[0]);

		return {all, edges};
	}

	build(names) {
		const key = names.join("\0");

		if (key === this.key)
			return;
		this.key = key;
		this.place.replaceChildren();
		const options = {format: percent, axis: (value) => `${Math.round(value * 100)} %`,
			x: {format: ns, log: true, range: () => this.range}};
		const series = (faint) => names.map((name, i) => ({label: printable(name), color: color(i), faint}));

		this.plots = [
			new Plot(this.place, {...options, label: "Share of the wake-ups in each bucket, by idle state",
				steps: true, range: (low, high) => [0, Math.max(high ?? 0, 0.01) * 1.1], series: series(true)}),
			new Plot(this.place, {...options, label: "Share that took no longer, by idle state",
				range: [0, 1.02], series: series(false)}),
		];
	}

	draw(states, windowNs) {
		const found = states.map((state) => ({...state, ...this.sum(state.name)}))
			.filter((state) => state.all > 0);
		const edges = [...new Set(found.flatMap((state) => state.edges.map(([edge]) => edge)))]
			.sort((a, b) => a - b);

		this.node.hidden = !found.length;
		if (!found.length)
			return;
		this.build(found.map((state) => state.label ?? state.name));
		// Range of the x axis: from the last bucket edge below all wake-ups to the first bucket edge above all
		// wake-ups.
		const used = (edge) => found.some((state) => {
			const at = state.edges.findIndex(([other]) => other === edge);
			const below = state.edges[at]?.[1] ?? 0, before = state.edges[at - 1]?.[1] ?? 0;

			return below > before || (state.edges[at + 1]?.[1] ?? 0) > 0 && below === 0;
		});
		const x = edges.filter(used);

		// The first bucket begins at 0. On a logarithmic axis it is drawn from half of its upper edge.
		if (found.some((state) => state.edges[0][1] > 0))
			x.unshift(x[0] / 2);
		const rules = found.filter((state) => state.claimed > 0)
			.map((state) => ({at: state.claimed, color: color(found.indexOf(state))}));

		this.range = decadesAround([...x, ...rules.map((rule) => rule.at)]);
		this.plots[0].draw([x, ...found.map((state) => this.shares(state, x, true))], null, rules);
		this.plots[1].draw([x, ...found.map((state) => this.shares(state, x, false))], null, rules);
		setText(this.caption, `${count(found.reduce((sum, state) => sum + state.all, 0))} wake-ups of all cores in ` +
			`${ns(this.past.length * windowNs)}. ` + (rules.length ?
			"Dashed: the exit latency that the driver claims." : "There is no claimed exit latency."));
	}

	shares(state, x, inside) {
		const below = new Map(state.edges);
		let before = 0;

		return x.map((edge) => {
			const sum = below.get(edge) ?? before, share = (inside ? sum - before : sum) / state.all;

			before = sum;
			return share;
		});
	}
}
