// SPDX-License-Identifier: LGPL-2.1-or-later
// Main script of the page: tabs, keys and pause, for a running exporter or for the windows embedded in a report file.
import {printable, setText} from "./dom.js";
import {Feed, nounOf} from "./feed.js";
import {Cores} from "./cores.js";
import {Doctor} from "./doctor.js";
import {Findings} from "./findings.js";
import {Losses} from "./losses.js";
import {Noise} from "./noise.js";
import {Past, formatHash, parseHash, save, span, unpackAll, uptime} from "./past.js";
import {Recorded} from "./recorded.js";
import {Results} from "./results.js";
import {Runq} from "./runq.js";
import {Tables} from "./tables.js";
import {Trace} from "./trace.js";
import {Wake} from "./wake.js";

const STALE_MS = 5000;
const ASK_MS = 1500;
// Maximum distance in seconds from the moment that the user selected to the end of a window that shows this moment.
const NEAR_S = 10;
const byId = (id) => document.getElementById(id);

class App {
	constructor() {
		this.paused = false;
		this.lastMs = 0;
		this.state = "connecting";
		this.findings = new Findings(byId("findings"), (finding) => this.openFinding(finding));
		this.losses = new Losses(byId("losses"));
		this.past = new Past();
		// Reports shown while the page is paused, by command name, and the moment in the page address.
		this.frozen = new Map();
		this.moment = null;
		this.host = null;
		const data = byId("data");

		this.recorded = data ? JSON.parse(data.textContent) : null;
		this.feed = this.recorded ?
			new Recorded(this.recorded, (report) => this.report(report), (noun, why) => this.refusal(noun, why)) :
			new Feed((report) => this.report(report), (state) => this.setState(state),
				(noun, why) => this.refusal(noun, why), () => this.open());
		this.views = {
			cores: new Cores(byId("view-cores")),
			runq: new Runq(byId("view-runq")),
			wake: new Wake(byId("view-wake")),
			noise: new Noise(byId("view-noise")),
			trace: new Trace(byId("view-trace"), this.feed),
			audit: new Results(byId("view-audit"), "How wrong the kernel's own figures are"),
			crit: new Results(byId("view-crit"), "What disabling interrupts and preemption costs"),
			other: new Results(byId("view-other"), "Other results"),
			doctor: new Doctor(byId("view-doctor"), this.feed),
		};
		this.viewOf = {load: this.views.cores, runq: this.views.runq, wake: this.views.wake,
			"wake.points": this.views.wake, noise: this.views.noise};
		this.tables = new Map(["cores", "runq", "wake", "noise"].map((name) =>
			[this.views[name], new Tables(byId(`view-${name}`))]));
		setText(byId("host"), this.recorded ? this.recorded.machine : location.host);
		this.bind();
		if (this.recorded)
			this.play();
		this.follow(location.hash || `#${this.names()[0]}`);
		if (!this.recorded) {
			this.feed.run();
			setInterval(() => this.tick(), 1000);
		}
	}

	// Shows all windows of a report file. A view has a tab only if the file has its result, or a reason why the result
	// is missing.
	play() {
		Object.assign(span, {seconds: Infinity, windows: Infinity});
		Object.assign(this.viewOf, {doctor: this.views.doctor, audit: this.views.audit, crit: this.views.crit});
		Object.keys(this.views).forEach((name) => { byId(`tab-${name}`).hidden = true; });
		this.feed.run();
		document.documentElement.classList.add("ready");
		const times = this.recorded.windows.map((report) => report.time_unix_ns).filter((time) => time > 0);

		this.state = times.length ? `recorded ${new Date(Math.min(...times) / 1e6).toISOString().slice(0, 19).replace("T", " ")} UTC` :
			"recorded";
		document.title = "subtick report";
		this.tick();
		// A printed page contains all views and their tables.
		addEventListener("beforeprint", () => this.unfold(true));
		addEventListener("afterprint", () => this.unfold(false));
		matchMedia("print").addEventListener("change", (event) => this.unfold(event.matches));
	}

	unfold(all) {
		const current = this.current;

		document.querySelectorAll("details").forEach((node) => { node.open = all; });
		for (const name of this.names()) {
			byId(`view-${name}`).hidden = !all && name !== current;
			this.current = name;
			this.render();
		}
		this.current = current;
	}

	choose(moment) {
		this.moment = moment;
		this.setPaused(true);
		this.freeze(moment);
		this.frozen.forEach((report, noun) => this.findings.add(noun, report));
		this.link();
		this.render();
	}

	// Shows the windows of an earlier time. If they are not in memory, reloads the page, and open() requests them from
	// the exporter.
	goBack(moment) {
		if (!(moment > 0))
			return;
		this.choose(moment);
		if (this.gone || !this.frozen.size)
			location.reload();
	}

	// Fills the list of moments with the end times of the windows of the visible view.
	showMoments() {
		const times = [...this.past.kept].filter(([noun]) => this.viewOf[noun] === this.view() && noun !== "doctor")
			.flatMap(([, list]) => list.map((report) => report.time_unix_ns / 1e9));

		byId("moment-label").hidden = times.length < 2;
		byId("moment").replaceChildren(...times.map((time) => new Option(
			new Date(time * 1000).toISOString().slice(0, 19).replace("T", " "), String(time), false,
			this.moment === null ? time === times.at(-1) : time === this.moment)));
	}

	// Names of the visible tabs, in order.
	names() {
		return Object.keys(this.views).filter((name) => !byId(`tab-${name}`).hidden);
	}

	bind() {
		for (const name of Object.keys(this.views))
			byId(`tab-${name}`).addEventListener("click", () => this.show(name));
		byId("tabs").addEventListener("keydown", (event) => this.tabKey(event));
		byId("pause").addEventListener("click", () => this.pause());
		byId("moment").addEventListener("change", () => this.choose(Number(byId("moment").value)));
		byId("when").addEventListener("change", () => this.goBack(new Date(byId("when").value) / 1000));
		byId("token-form").addEventListener("submit", (event) => {
			event.preventDefault();
			this.feed.setToken(byId("token").value);
			byId("token-form").hidden = true;
		});
		byId("save-json").addEventListener("click", () => this.saveJson());
		byId("save-report").addEventListener("click", () => this.saveReport());
		addEventListener("hashchange", () => {
			this.follow(location.hash);
			if (this.gone && !this.recorded)
				location.reload();
		});
		addEventListener("keydown", (event) => this.key(event));
		// Plots are bitmaps, so redraw them when the colours change.
		for (const query of ["(prefers-color-scheme: dark)", "print"])
			matchMedia(query).addEventListener("change", () => {
				Object.values(this.views).forEach((view) => view.restyle?.());
				this.render();
			});
	}

	// Loads the exporter's history before the first window of the event stream, so that windows are in order. A view
	// that already has a window ignores the history.
	async open() {
		this.opening = true;
		try {
			let reports = await this.kept("history");

			if (this.moment !== null && !reports.some((one) => Math.abs(one.time_unix_ns / 1e9 - this.moment) <= NEAR_S)) {
				const old = await this.kept(`history?at=${this.moment - span.seconds / 2}&for=${span.seconds}`);

				// While an earlier time is shown, current windows are not added to the charts. They would replace the
				// earlier windows.
				this.back = old.length > 0;
				reports = this.back ? old : reports;
			}
			for (const noun of Object.keys(this.viewOf))
				if (!this.viewOf[noun].report)
					for (const report of reports.filter((one) => nounOf(one) === noun)) {
						this.past.add(report);
						this.viewOf[noun].add(report);
					}
			this.host = await this.feed.get("host");
		} catch {
			// If the history cannot be loaded, the charts begin with the current window, and the host name is missing.
		}
		this.opening = false;
		this.showHost();
		if (this.moment !== null)
			this.freeze(this.moment);
		if (this.back)
			this.showMoments();
		this.render();
	}

	async kept(name) {
		const answer = await this.feed.fetch(name);

		return answer.ok ? unpackAll(await answer.arrayBuffer()) : [];
	}

	showHost() {
		const now = [...this.past.last().values()].map((report) => report.time_unix_ns);
		const up = this.host && now.length ? Math.max(...now) - this.host.boot_unix_ns : null;

		if (!this.host)
			return;
		setText(byId("host"), `${printable(this.host.hostname)}, Linux ${printable(this.host.kernel_release)}` +
			(up > 0 ? `, up ${uptime(up / 1e9)}` : ""));
		document.title = `${printable(this.host.hostname)} – subtick`;
	}

	// Opens a link, which contains the name of a view and optionally a moment.
	follow(hash) {
		const {name, at} = parseHash(hash);

		if (at !== null) {
			this.moment = at;
			this.setPaused(true);
			this.freeze(at);
		}
		this.show(name);
	}

	freeze(at) {
		this.frozen = at === null ? this.past.last() : this.past.at(at);
		const times = [...this.frozen.values()].map((report) => report.time_unix_ns / 1e9);

		this.gone = at !== null && times.length > 0 && times.every((time) => Math.abs(time - at) > NEAR_S);
		this.tick();
	}

	// While the page is paused, views store new reports, but show the reports of the paused moment.
	render() {
		const view = this.view(), live = view.report;
		const noun = Object.keys(this.viewOf).find((key) => this.viewOf[key] === view);

		if (this.paused && this.frozen.has(noun))
			view.report = this.frozen.get(noun);
		view.render();
		view.report = live;
		this.tables.get(view)?.draw(new Map([...this.shown()].filter(([other]) => this.viewOf[other] === view)));
	}

	shown() {
		return this.paused ? this.frozen : this.past.last();
	}

	saveJson() {
		const lines = [...this.shown().values()].map((report) => JSON.stringify(report) + "\n");

		save("subtick.jsonl", new Blob(lines, {type: "application/jsonl"}));
	}

	async saveReport() {
		const at = this.paused ? [...this.frozen.values()].map((report) => report.time_unix_ns / 1e9)[0] : null;

		try {
			const answer = await this.feed.fetch(at ? `report?at=${at}` : "report");

			if (!answer.ok)
				throw new Error((await answer.text()).trim());
			save("subtick-report.html", await answer.blob());
		} catch (error) {
			this.losses.problem("report", error.message);
		}
	}

	view() {
		return this.views[this.current];
	}

	show(name) {
		if (!this.names().includes(name))
			return;
		this.current = name;
		for (const other of Object.keys(this.views)) {
			const tab = byId(`tab-${other}`);

			tab.setAttribute("aria-selected", String(other === name));
			tab.tabIndex = other === name ? 0 : -1;
			byId(`view-${other}`).hidden = other !== name;
		}
		this.link();
		this.render();
		if (this.recorded || this.back)
			this.showMoments();
		if (!this.recorded)
			this.ask();
	}

	// Shows the view of a finding and selects its group or CPU.
	openFinding(finding) {
		const view = this.viewOf[finding.noun];
		const picked = view === this.views.cores ? finding.cpu : finding.victim;

		this.show(Object.keys(this.views).find((name) => this.views[name] === view));
		if (view.pick && picked !== null && picked !== undefined && view.picked !== picked)
			view.pick(picked);
	}

	// Puts the name of the view into the page address, and, while paused, also the moment.
	link() {
		const hash = formatHash(this.current, this.paused ? this.moment : null);

		if (location.hash !== hash)
			history.replaceState(null, "", hash);
	}

	// Requests the report of the visible view if the event stream does not deliver it soon. The request is sent after
	// the request for the exporter's history. The views Doctor and Trace request their reports themselves.
	ask() {
		const noun = Object.keys(this.viewOf).find((key) => this.viewOf[key] === this.view());

		if (!noun || this.view().report)
			return;
		setTimeout(() => {
			if (this.opening || this.state === "connecting")
				this.ask();
			else if (!this.viewOf[noun].report)
				this.feed.ask(noun);
		}, ASK_MS);
	}

	tabKey(event) {
		const names = this.names(), at = names.indexOf(this.current);
		const to = {ArrowRight: at + 1, ArrowLeft: at - 1 + names.length, Home: 0,
			End: names.length - 1}[event.key];

		if (to === undefined)
			return;
		event.preventDefault();
		this.show(names[to % names.length]);
		byId(`tab-${this.current}`).focus();
	}

	key(event) {
		if (event.ctrlKey || event.metaKey || event.altKey)
			return;
		if (event.key === "Escape")
			this.view().close?.();
		if (event.target.matches("input, select, textarea"))
			return;
		const name = this.names()[event.key - 1];

		if (name)
			this.show(name);
		else if (event.key === "p" && !this.recorded)
			this.pause();
		else if (event.key === "/" && this.view().filter) {
			event.preventDefault();
			this.view().filter.focus();
		}
	}

	setPaused(paused) {
		this.paused = paused;
		byId("pause").setAttribute("aria-pressed", String(paused));
		setText(byId("pause"), paused ? "Resume" : "Pause");
	}

	pause() {
		if (this.back) {
			history.replaceState(null, "", formatHash(this.current, null));
			location.reload();
			return;
		}
		this.setPaused(!this.paused);
		this.freeze(null);
		this.moment = this.paused ? Math.max(0, ...[...this.frozen.values()]
			.map((report) => report.time_unix_ns / 1e9)) || null : null;
		this.link();
		this.tick();
		this.render();
	}

	// While the page is paused, new reports are stored, but not shown.
	report(report) {
		const noun = nounOf(report), view = this.viewOf[noun] ?? (this.recorded ? this.views.other : null);

		if (!view || this.back)
			return;
		this.lastMs = performance.now();
		try {
			this.losses.add(noun, report);
			if (!this.paused)
				this.findings.add(noun, report);
			this.past.add(report);
			view.add(report);
			this.showEmpty(view);
		} catch (error) {
			// An invalid report can only be in a file that subtick did not write.
			this.losses.problem(noun, `could not be read: ${error.message}`);
		}
		if (this.recorded)
			this.tab(view);
		else if (!this.paused && view === this.view())
			this.render();
	}

	tab(view) {
		byId(`tab-${Object.keys(this.views).find((name) => this.views[name] === view)}`).hidden = false;
	}

	// A view without a report shows only the reason why there is none.
	showEmpty(view) {
		this.tables.get(view)?.node.parentElement.classList.toggle("empty", !view.report);
	}

	refusal(noun, why) {
		const view = this.viewOf[noun];

		view?.refuse(why);
		this.showEmpty(view);
		if (this.recorded && view)
			this.tab(view);
		if (this.recorded || !view)
			this.losses.problem(noun, this.recorded ? `missing: ${why}` : why);
	}

	setState(state) {
		this.state = state;
		if (state === "token")
			byId("token-form").hidden = false;
		else if (state === "live")
			byId("token-form").hidden = true;
		this.tick();
	}

	tick() {
		if (this.recorded) {
			setText(byId("state"), this.state);
			return;
		}
		const words = {connecting: "connecting", live: "live", token: "needs a token",
			lost: "connection lost, reconnecting"};
		const quiet = performance.now() - this.lastMs;
		let text = words[this.state];

		if (this.state === "live" && this.lastMs && quiet > STALE_MS && !this.back)
			text = `no figures for ${Math.round(quiet / 1000)} s`;
		byId("state").classList.toggle("bad", text !== "live" && text !== "connecting");
		if (this.paused && this.moment !== null)
			text = `${new Date(this.moment * 1000)[this.back ? "toLocaleString" : "toLocaleTimeString"]("en-GB")}, ${text}` +
				(this.gone ? "; that moment is no longer kept, this is the nearest" : "");
		setText(byId("state"), this.paused ? `paused (${text})` : text);
		this.showHost();
	}
}

new App();
