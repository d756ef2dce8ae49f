// SPDX-License-Identifier: GPL-2.0-or-later
// A worker that receives one event stream for all tabs of a browser. A browser opens six
// connections to a server at most, so that a stream for each tab would block further tabs.
// The worker ends with its last tab.
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
	// The only message of a tab: it is closed.
	port.onmessage = () => ports.delete(port);
	if (topology)
		port.postMessage({topology});
	feed = feed || new Feed(tell);
};
