// SPDX-License-Identifier: GPL-2.0-or-later
// Receives snapshots by an event stream of the server, which is opened again when it breaks
// or sends nothing. Each snapshot has the instance (process) and revision (open counters) of
// the topology document to which its counts belong. With new ones, the topology is fetched
// again.

const RETRY = 10000;		// ms until the next attempt after the server refused a stream
const SILENT = 15000;		// ms without a snapshot until the stream is opened again
const SLOW = 10000;		// ms that fetching a document may take

/* Addresses are relative to this file, so that the page works behind a path prefix. */
export const at = (path) => new URL(path, import.meta.url);

export async function fetchJson(path) {
	const answer = await fetch(at(path),
		{cache: "no-store", signal: AbortSignal.timeout(SLOW)});
	if (!answer.ok)
		throw new Error(`${path}: ${answer.status} ${(await answer.text()).trim()}`);
	return answer.json();
}

/** Calls tell() with {topology} for a new topology, {snapshot} for each snapshot, and
    {trouble}, a text, when no snapshots come. */
export class Feed {
	constructor(tell) {
		this.tell = tell;
		this.topology = null;
		this.renewing = false;
		this.open();
		setInterval(() => {
			if (this.events && performance.now() - this.heard > SILENT)
				this.open();
		}, 1000);
	}

	open() {
		if (this.events)
			this.events.close();
		this.heard = performance.now();
		const events = this.events = new EventSource(at("events"));
		events.onmessage = (event) => this.take(JSON.parse(event.data));
		events.onerror = () => {
			if (events !== this.events)
				return;
			if (events.readyState !== EventSource.CLOSED)
				return this.tell({trouble: "no connection; trying again"});
			this.events = null;
			this.tell({trouble: "no event stream; trying again: the server has " +
				"ended, or all of its streams are taken"});
			setTimeout(() => this.open(), RETRY);
		};
	}

	/** Does a snapshot belong to the topology that was fetched last? */
	fits(snapshot) {
		return this.topology && snapshot.instance === this.topology.instance &&
			snapshot.revision === this.topology.revision;
	}

	async take(snapshot) {
		this.heard = performance.now();
		if (!this.fits(snapshot)) {
			if (this.renewing)
				return;
			this.renewing = true;
			try {
				this.topology = await fetchJson("api/topology");
				this.tell({topology: this.topology});
			} catch (error) {
				this.tell({trouble: error.message});
			}
			this.renewing = false;
		}
		if (this.fits(snapshot))
			this.tell({snapshot});
	}
}
