// SPDX-License-Identifier: LGPL-2.1-or-later
// Handles earlier windows: the exporter's history, links to a moment, and saved files.
import {nounOf} from "./feed.js";

const HEADER = 10;

// Length of the history in memory: seconds per view, and windows per cgroup. A report file keeps all windows.
export const span = {seconds: 600, windows: 120};

// Drops entries that are older than the length of the history. The time of an entry is in seconds.
export function trim(past) {
	while (past[0].time < past.at(-1).time - span.seconds)
		past.shift();
}

// The history is a sequence of gzip members with one or more windows each. All members have the same header.
function members(bytes) {
	const starts = [];

	for (let at = 0; at + HEADER <= bytes.length; at++) {
		let same = 0;

		while (same < HEADER && bytes[at + same] === bytes[same])
			same++;
		if (same === HEADER)
			starts.push(at);
	}
	return starts.map((start, i) => bytes.subarray(start, starts[i + 1] ?? bytes.length));
}

async function unpack(member) {
	const stream = new Blob([member]).stream().pipeThrough(new DecompressionStream("gzip"));

	return (await new Response(stream).text()).trim().split("\n").map((line) => JSON.parse(line));
}

// All reports of the history, oldest first. Unreadable reports are skipped.
export async function unpackAll(buffer) {
	const done = await Promise.allSettled(members(new Uint8Array(buffer)).map(unpack));

	return done.filter((one) => one.status === "fulfilled").flatMap((one) => one.value);
}

// Reports in memory, by command name.
export class Past {
	constructor() {
		this.kept = new Map();
	}

	add(report) {
		const noun = nounOf(report), list = this.kept.get(noun) ?? [];

		this.kept.set(noun, list);
		if (list.at(-1)?.time_unix_ns >= report.time_unix_ns)
			return;
		list.push(report);
		while (list[0].time_unix_ns < report.time_unix_ns - span.seconds * 1e9)
			list.shift();
	}

	// Returns, for each command name, the report whose window ended nearest to a time in seconds.
	at(seconds) {
		const near = new Map(), away = (report) => Math.abs(report.time_unix_ns / 1e9 - seconds);

		for (const [noun, list] of this.kept)
			if (list.length)
				near.set(noun, list.reduce((a, b) => away(b) < away(a) ? b : a));
		return near;
	}

	last() {
		return new Map([...this.kept].filter(([, list]) => list.length).map(([noun, list]) => [noun, list.at(-1)]));
	}
}

// Parses a link such as "cores@1763251200.5", which contains a view and a moment in Unix time.
export function parseHash(hash) {
	const [name, at] = hash.replace(/^#/, "").split("@");
	const seconds = Number(at);

	return {name, at: at && Number.isFinite(seconds) && seconds > 0 ? seconds : null};
}

export function formatHash(name, at) {
	return at === null ? `#${name}` : `#${name}@${at.toFixed(3)}`;
}

export function save(name, blob) {
	const link = document.createElement("a");

	link.href = URL.createObjectURL(blob);
	link.download = name;
	link.click();
	setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

// Formats a duration as "3 d 4 h", "5 h 6 min" or "7 min".
export function uptime(seconds) {
	const minutes = Math.floor(seconds / 60), hours = Math.floor(minutes / 60), days = Math.floor(hours / 24);

	if (days)
		return `${days} d ${hours % 24} h`;
	return hours ? `${hours} h ${minutes % 60} min` : `${minutes} min`;
}
