// SPDX-License-Identifier: LGPL-2.1-or-later
// Shows recordings of `subtick trace -o FILE.html`, from the exporter or from files that the user opens. The data of a
// file are used. The markup and the script of the file are ignored.
import {CONTEXTS} from "./cores.js";
import {count, el, legend, notes, ns, printable, row, setText, table} from "./dom.js";
import {save} from "./past.js";
import {Timeline} from "./timeline.js";

const MARK = "<script type=\"application/json\" id=\"data\">";
const MAX_BYTES = 64 << 20;
const BUTTONS = [["in", "+"], ["out", "−"], ["left", "←"], ["right", "→"], ["all", "all"]];
// Recordings have no steal time, and idle time is a slice in a recording.
const LEGEND = [...CONTEXTS.filter(([part]) => part !== "steal").map(([part, title]) => [`ctx-${part}`, title]),
	["idle", "halted"], ["stat-off", "wait"], ["held", "of it held by CPU quota"]];

// Returns the JSON data of a recording file. The data contain no "<". Throws an error if the file is not a valid
// recording.
export function readFile(text) {
	const data = text.indexOf(MARK), end = text.indexOf("</script>", data);
	let found;

	try {
		found = JSON.parse(text.slice(data + MARK.length, end));
	} catch {
		throw new Error("this is not a whole file of subtick trace -o FILE.html");
	}
	const lists = ["cpus", "waits", "ticks", "tasks", "parts", "names"];

	if (!(found.from < found.to) || !lists.every((key) => Array.isArray(found[key])))
		throw new Error("this file has no timeline that this page can draw; open the file itself");
	return found;
}

export class Trace {
	constructor(place, feed) {
		this.feed = feed;
		this.asked = 0;
		this.summary = el("p", {class: "summary", role: "status"}, "asking");
		this.list = el("div");
		this.notes = el("ul", {class: "notes muted"});
		this.file = el("input", {type: "file", id: "trace-file", accept: ".html",
			onchange: () => this.openFile(this.file.files[0])});
		this.picture = el("div", {class: "trace"});
		place.append(el("h2", {}, "What the cores did between two ticks"), this.summary, this.list, this.notes,
			el("p", {class: "controls"}, el("button", {type: "button", onclick: () => this.ask()}, "Look again"),
				el("label", {for: "trace-file"}, "Or a file of subtick trace -o FILE.html, which stays on your machine"),
				this.file), this.picture);
		place.addEventListener("dragover", (event) => event.preventDefault());
		place.addEventListener("drop", (event) => {
			event.preventDefault();
			this.openFile(event.dataTransfer.files[0]);
		});
	}

	render() {
		if (!this.report && !this.asking)
			this.ask();
		this.timeline?.draw();
	}

	restyle() {
		this.timeline?.draw();
	}

	async ask() {
		this.asking = true;
		try {
			this.report = await this.feed.get("traces");
			this.fill();
		} catch (error) {
			this.list.hidden = true;
			setText(this.summary, `No recordings from the exporter: ${error.message}`);
		}
		this.asking = false;
	}

	fill() {
		const traces = this.report.traces ?? [];

		setText(this.summary, traces.length ? `${count(traces.length)} recordings` +
			(this.report.left_out_total ? `; ${count(this.report.left_out_total)} older ones are not listed.` : ".") :
			"The exporter has no recording: subtick trace -o FILE.html makes one.");
		notes(this.notes, this.report);
		this.list.hidden = !traces.length;
		this.list.replaceChildren(table("traces", "Recordings, newest first", ["recording", "written", "size", ""],
			traces.map((trace) => this.line(trace))));
	}

	line(trace) {
		const button = (text, doing) => el("button", {type: "button", onclick: doing}, text);

		if (trace.detail)
			return row(printable(trace.file), el("td", {colspan: "3"}, printable(trace.detail)));
		return row(printable(trace.file), el("td", {}, new Date(trace.written_unix_ns / 1e6).toLocaleString("en-GB")),
			el("td", {class: "number"}, `${count(Math.ceil(trace.size_bytes / 1000))} kB`),
			el("td", {}, button("show", () => this.openTrace(trace.file)), " ",
				button("save", () => this.saveTrace(trace.file))));
	}

	async fetch(name) {
		const answer = await this.feed.fetch(`traces/${encodeURIComponent(name)}`);

		if (!answer.ok)
			throw new Error((await answer.text()).trim());
		return answer;
	}

	// Shows the recording that @get returns, unless the user requested another recording meanwhile.
	async open(name, get) {
		const mine = ++this.asked;

		setText(this.summary, `Reading ${printable(name)} …`);
		try {
			const data = readFile(await get());

			if (mine === this.asked)
				this.show(name, data);
		} catch (error) {
			if (mine === this.asked)
				setText(this.summary, `${printable(name)}: ${error.message}`);
		}
	}

	openTrace(name) {
		return this.open(name, async () => (await this.fetch(name)).text());
	}

	openFile(file) {
		if (!file)
			return;
		this.open(file.name, async () => {
			if (file.size > MAX_BYTES)
				throw new Error("larger than 64 MiB, which no recording is");
			return file.text();
		});
	}

	async saveTrace(name) {
		try {
			save(name, await (await this.fetch(name)).blob());
		} catch (error) {
			setText(this.summary, `${printable(name)}: ${error.message}`);
		}
	}

	show(name, data) {
		const nodes = {canvas: el("canvas", {tabindex: "0", role: "img",
			"aria-label": "what each CPU did over time; the table below has the longest waits"}),
		view: el("output"), about: el("p", {class: "muted about"}), chain: el("ol"), chained: el("section", {hidden: true})};
		const buttons = BUTTONS.map(([deed, text]) => el("button", {type: "button",
			onclick: () => this.timeline.deeds[deed]()}, text));

		nodes.chained.append(el("h3", {}, "The chain of this wait"), nodes.chain);
		this.picture.replaceChildren(el("h3", {}, printable(name)), el("p", {}, printable(data.about)),
			el("p", {class: "muted"}, printable(data.left_out)), el("p", {}, ...buttons, " ", nodes.view), nodes.canvas,
			nodes.about, legend(LEGEND), el("p", {class: "muted"}, "Zoom: Ctrl and wheel, two fingers, double click, or + and - keys. " +
				"Move: drag, or arrow keys."), nodes.chained);
		this.timeline = new Timeline(data, nodes);
		this.picture.append(this.waits(data));
		setText(this.summary, `${printable(name)} is below.`);
	}

	waits(data) {
		const task = (pid) => printable(this.timeline.task(pid));
		const heads = ["ended at", "wait", "task", "CPU", "woken by", "behind whom", "of it", "quota", "irq", "softirq", "idle"];
		const time = (value) => value ? ns(value) : "–";
		const cells = (wait) => [ns(wait.to - wait.from), task(wait.pid), String(wait.cpu),
			wait.woken ? `${wait.by ? printable(wait.by) : task(wait.waker)} on CPU ${wait.waker_cpu}` : `lost its core${wait.held ? " to its CPU quota" : ""}`,
			wait.culprit === undefined ? "–" : task(wait.culprit), time(wait.of_it), time(wait.hold), time(wait.irq),
			time(wait.softirq), time(wait.idle)];

		return table("waits", `The longest waits for a core: ${printable(data.waits_about)}`, heads,
			data.waits.map((wait, number) => el("tr", {},
				el("td", {}, `${(wait.to / 1e6).toFixed(6)} ms `, el("button", {type: "button",
					onclick: () => this.timeline.choose(number)}, "show")),
				...cells(wait).map((text) => el("td", {}, text)))));
	}
}
