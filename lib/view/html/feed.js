// SPDX-License-Identifier: LGPL-2.1-or-later
// Receives reports from the exporter by its event stream, or by polling if the event stream fails.

export const NOUNS = ["load", "runq", "wake", "noise"];
const RETRY_MS = 2000;
const POLL_MS = 2000;

// Reads the event stream with fetch(), because EventSource cannot send the access token.
export class Feed {
	// onOpen is called once, before the first report of the stream.
	constructor(onReport, onState, onRefusal, onOpen = () => {}) {
		this.onReport = onReport;
		this.onOpen = onOpen;
		this.opened = false;
		this.onState = onState;
		this.onRefusal = onRefusal;
		this.token = sessionStorage.getItem("token") ?? "";
	}

	setToken(token) {
		this.token = token;
		sessionStorage.setItem("token", token);
	}

	headers() {
		return this.token ? {Authorization: `Bearer ${this.token}`} : {};
	}

	fetch(name) {
		return fetch(`api/v1/${name}`, {headers: this.headers(), cache: "no-store"});
	}

	async get(noun) {
		const answer = await this.fetch(noun);
		const text = await answer.text();

		if (answer.status === 401)
			this.onState("token");
		if (!answer.ok)
			throw new Error(Feed.reason(answer, text));
		return JSON.parse(text);
	}

	// Text of the exporter's error response, if the response has text.
	static reason(answer, text) {
		try {
			const body = JSON.parse(text);

			return body.error ?? body.detail ?? `HTTP ${answer.status}`;
		} catch {
			return text.trim().slice(0, 500) || `HTTP ${answer.status}`;
		}
	}

	// Requests one report from the exporter. If the exporter refuses, shows the reason.
	async ask(noun) {
		try {
			this.onReport(await this.get(noun));
		} catch (error) {
			this.onRefusal(noun, error.message);
		}
	}

	async run() {
		for (;;) {
			try {
				await this.stream();
				this.onState("lost");
			} catch (error) {
				if (error.name === "Gone")
					await this.poll();
				this.onState(error.name === "Token" ? "token" : "lost");
			}
			await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
		}
	}

	async poll() {
		for (let failed = 0; failed < NOUNS.length;) {
			failed = 0;
			for (const noun of NOUNS) {
				try {
					this.onReport(await this.get(noun));
					this.onState("live");
				} catch {
					failed++;
				}
			}
			await new Promise((resolve) => setTimeout(resolve, POLL_MS));
		}
	}

	async stream() {
		const answer = await fetch("api/v1/stream", {
			headers: {...this.headers(), Accept: "text/event-stream"}, cache: "no-store"});

		if (!answer.ok) {
			const error = new Error(`HTTP ${answer.status}`);

			error.name = answer.status === 401 ? "Token" : "Gone";
			throw error;
		}
		this.onState("live");
		if (!this.opened) {
			this.opened = true;
			await this.onOpen();
		}
		const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
		// A long event has many chunks. They are joined once, at the end of the event.
		let pieces = [];

		for (;;) {
			const {value, done} = await reader.read();

			if (done)
				return;
			pieces.push(value);
			if (!value.includes("\n"))
				continue;
			const events = pieces.join("").replaceAll("\r\n", "\n").split("\n\n");

			pieces = [events.pop()];
			events.forEach((event) => this.event(event));
		}
	}

	event(text) {
		const data = text.split("\n").filter((line) => line.startsWith("data:"))
			.map((line) => line.slice(5).replace(/^ /, "")).join("\n");

		if (!data)
			return;
		try {
			this.onReport(JSON.parse(data));
		} catch (error) {
			this.onRefusal("stream", `an event could not be read: ${error.message}`);
		}
	}
}

export function nounOf(report) {
	return /^subtick\.([a-z.]+)\/1$/.exec(report?.schema ?? "")?.[1];
}
