// SPDX-License-Identifier: LGPL-2.1-or-later
// View of the doctor report: measurements that the machine supports, and fixes for unsupported measurements.
import {el, notes, printable, row, setText, table} from "./dom.js";

const WORDS = {ok: "✓ ok", full: "✓ full", warn: "! warning", part: "! in part", no: "✗ no"};
const TONE = {ok: "good", full: "good", warn: "warn", part: "warn", no: "bad"};

function rank(value) {
	return ["no", "warn"].includes(value) ? ["no", "warn"].indexOf(value) : 2;
}

function status(value) {
	return el("td", {class: `status ${TONE[value] ?? ""}`}, WORDS[value] ?? printable(value));
}

function list(caption, name, rows) {
	return table("doctor", caption, [name, "status", "detail", "fix"], rows.map((one) =>
		row(printable(one[name]), status(one.status), el("td", {}, one.detail ? printable(one.detail) : ""),
			el("td", {}, one.fix ? el("code", {}, printable(one.fix)) : ""))));
}

export class Doctor {
	constructor(place, feed) {
		this.feed = feed;
		this.text = el("p", {class: "summary"}, "asking");
		this.tables = el("div");
		this.notes = el("ul", {class: "notes muted"});
		place.append(el("h2", {}, "What this machine can measure"), this.text,
			el("button", {type: "button", class: "live", onclick: () => this.ask()}, "Ask again"), this.tables,
			this.notes);
	}

	add(report) {
		this.report = report;
		this.fill();
	}

	refuse(why) {
		setText(this.text, `Unavailable: ${why}`);
	}

	render() {
		if (!this.report && !this.asking)
			this.ask();
	}

	async ask() {
		this.asking = true;
		try {
			this.add(await this.feed.get("doctor"));
		} catch (error) {
			this.refuse(error.message);
		}
		this.asking = false;
	}

	fill() {
		const commands = this.report.commands ?? [];
		// Problems come first. Rows of equal status keep the exporter's order.
		const checks = [...this.report.checks ?? []].sort((a, b) => rank(a.status) - rank(b.status));
		const bad = checks.filter((check) => check.status !== "ok").length;

		setText(this.text, bad ? `${bad} of ${checks.length} checks are not ok.` :
			`All ${checks.length} checks are ok.`);
		this.tables.replaceChildren(list("Commands", "command", commands), list("Checks", "check", checks));
		notes(this.notes, this.report);
	}
}
