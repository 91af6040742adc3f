// SPDX-License-Identifier: LGPL-2.1-or-later
// The page: tabs, keys, pause, and which view gets which report.
import {setText} from "./dom.js";
import {Feed, nounOf} from "./feed.js";
import {Cores} from "./cores.js";
import {Doctor} from "./doctor.js";
import {Findings} from "./findings.js";
import {Losses} from "./losses.js";
import {Runq} from "./runq.js";
import {Wake} from "./wake.js";

const STALE_MS = 5000;
const ASK_MS = 1500;
const byId = (id) => document.getElementById(id);

class App {
	constructor() {
		this.paused = false;
		this.lastMs = 0;
		this.state = "connecting";
		this.findings = new Findings(byId("findings"));
		this.losses = new Losses(byId("losses"));
		this.feed = new Feed((report) => this.report(report), (state) => this.setState(state),
			(noun, why) => this.refusal(noun, why));
		this.views = {
			cores: new Cores(byId("view-cores")),
			runq: new Runq(byId("view-runq")),
			wake: new Wake(byId("view-wake")),
			doctor: new Doctor(byId("view-doctor"), this.feed),
		};
		this.viewOf = {load: this.views.cores, runq: this.views.runq, wake: this.views.wake};
		setText(byId("host"), location.host);
		this.bind();
		this.show(location.hash.slice(1) || "cores");
		this.feed.run();
		setInterval(() => this.tick(), 1000);
	}

	bind() {
		for (const name of Object.keys(this.views))
			byId(`tab-${name}`).addEventListener("click", () => this.show(name));
		byId("tabs").addEventListener("keydown", (event) => this.tabKey(event));
		byId("pause").addEventListener("click", () => this.pause());
		byId("token-form").addEventListener("submit", (event) => {
			event.preventDefault();
			this.feed.setToken(byId("token").value);
			byId("token-form").hidden = true;
		});
		addEventListener("hashchange", () => this.show(location.hash.slice(1)));
		addEventListener("keydown", (event) => this.key(event));
		matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
			Object.values(this.views).forEach((view) => view.restyle?.());
			this.view().render();
		});
	}

	view() {
		return this.views[this.current];
	}

	show(name) {
		// hasOwn: every object inherits "constructor" and the like.
		if (!Object.hasOwn(this.views, name))
			return;
		this.current = name;
		for (const other of Object.keys(this.views)) {
			const tab = byId(`tab-${other}`);

			tab.setAttribute("aria-selected", String(other === name));
			tab.tabIndex = other === name ? 0 : -1;
			byId(`view-${other}`).hidden = other !== name;
		}
		if (location.hash.slice(1) !== name)
			history.replaceState(null, "", `#${name}`);
		this.view().render();
		this.ask();
	}

	// Requests the report of the view if the stream has not brought it soon. Doctor does this itself.
	ask() {
		const noun = Object.keys(this.viewOf).find((key) => this.viewOf[key] === this.view());

		if (noun && !this.view().report)
			setTimeout(() => !this.viewOf[noun].report && this.feed.ask(noun), ASK_MS);
	}

	tabKey(event) {
		const names = Object.keys(this.views), at = names.indexOf(this.current);
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
		if (event.key >= "1" && event.key <= "4")
			this.show(Object.keys(this.views)[event.key - 1]);
		else if (event.key === "p")
			this.pause();
		else if (event.key === "/" && this.view().filter) {
			event.preventDefault();
			this.view().filter.focus();
		}
	}

	pause() {
		this.paused = !this.paused;
		byId("pause").setAttribute("aria-pressed", String(this.paused));
		setText(byId("pause"), this.paused ? "Resume" : "Pause");
		this.tick();
		if (!this.paused)
			this.view().render();
	}

	// While paused the history goes on; only the display stops.
	report(report) {
		const noun = nounOf(report), view = this.viewOf[noun];

		if (!view)
			return;
		this.lastMs = performance.now();
		this.losses.add(noun, report);
		if (!this.paused)
			this.findings.add(noun, report);
		view.add(report);
		if (!this.paused && view === this.view())
			view.render();
	}

	refusal(noun, why) {
		if (this.viewOf[noun])
			this.viewOf[noun].refuse(why);
		else
			this.losses.problem(noun, why);
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
		const words = {connecting: "connecting", live: "live", token: "needs a token",
			lost: "connection lost, reconnecting"};
		const quiet = performance.now() - this.lastMs;
		let text = words[this.state];

		if (this.state === "live" && this.lastMs && quiet > STALE_MS)
			text = `no figures for ${Math.round(quiet / 1000)} s`;
		byId("state").classList.toggle("bad", text !== "live" && text !== "connecting");
		setText(byId("state"), this.paused ? `paused (${text})` : text);
	}
}

new App();
