// SPDX-License-Identifier: GPL-2.0-or-later
// One event stream for all tabs of a browser, which opens six connections to a
// server at most. The worker ends with its last tab.
import {Feed} from "./feed.js";

const ports = new Set();
let topology = null, feed = null;

function tell(message) {
	topology = message.topology || topology;
	for (const port of ports)
		port.postMessage(message);
}

self.onconnect = (event) => {
	const [port] = event.ports;
	ports.add(port);
	// A tab that is closed says so.
	port.onmessage = () => ports.delete(port);
	if (topology)
		port.postMessage({topology});
	feed = feed || new Feed(tell);
};
