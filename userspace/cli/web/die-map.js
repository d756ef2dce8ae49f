// SPDX-License-Identifier: GPL-2.0-or-later
// The page of the die map: receives snapshots (live, or all snapshots of a recording),
// keeps the shown snapshot's index, and handles keys and the mouse. A snapshot has the
// counts of all boxes at one moment; the topology document describes the machine.
import {History, Machine, meanings} from "./model.js";
import {DieMap, legend} from "./draw.js";
import {Detail, Table, Tip, Verdicts, copy, eventOf} from "./panels.js";
import {Feed, at, fetchJson} from "./feed.js";

const NARROW = matchMedia("(max-width: 820px)");
const LIGHT = matchMedia("(prefers-color-scheme: light)");
const RETRY = 10000;		// ms until the topology is requested again after a failure
const STALLED = 5000;		// ms without a snapshot until the page says "stalled"

const $ = (id) => document.getElementById(id);
/* The fragment of a link, #at=12&table&box=0/hswep_imc_0&theme=dark: index of a snapshot,
   table open, a box, theme. */
const place = new URLSearchParams(location.hash.slice(1));

let machine, history, map, table, detail, tip, verdicts;
/* Index of the shown snapshot; the user has paused; the server shows a recording; timer of
   step(). */
let shown = -1, paused = false, replay = false, playing = 0;
/* Time of the last snapshot (performance.now()); the reason why no snapshots come, or empty. */
let heard = 0, trouble = "";

function theme() {
	const chosen = document.documentElement.dataset.theme;
	return chosen || (LIGHT.matches ? "light" : "dark");
}

/** Shows a status. The text is set only if it changes, as a screen reader reads it aloud
    each time it is set. */
function say(text, kind) {
	if ($("status").textContent !== text)
		$("status").textContent = text;
	$("status").className = kind || "";
}

function notice(list) {
	$("notices").replaceChildren(...list.map((text) => {
		const line = document.createElement("p");
		line.textContent = text;
		return line;
	}));
}

// --- showing

function draw() {
	map = new DieMap(machine, NARROW.matches, theme());
	$("map").replaceChildren(map.svg);
	const line = document.createElement("p");
	line.textContent = "Share of what a box can do at most, where that is known " +
		"(a box's details say what it is); grey where it is not, and where nothing " +
		"is counted. ≈: counted for a part of the time. Boxes are in the order of " +
		"their numbers, which is not where they are on the die. " + meanings(machine);
	$("legend").replaceChildren(legend(theme()), line);
	focusable(detail.box || machine.boxes[0]);
	show();
}

function show() {
	const view = history.view(shown), now = view.snapshot;
	map.update(view);
	verdicts.update(view);
	table.update(view);
	detail.update(view);
	tip.update(view);
	$("time").min = replay ? Math.min(1, history.length - 1) : 0;
	$("time").max = Math.max(history.length - 1, 0);
	$("time").value = shown;
	$("when").textContent = now ? new Date(now.time * 1000).toLocaleTimeString("en-GB") +
		(replay ? ` (${shown + 1} of ${history.length})` :
			shown < history.length - 1 ? ` (−${history.length - 1 - shown})` : "") : "–";
	showStatus();
}

/** Shows the status of the page: live, paused, or the problem for which the numbers are not
    current. */
function showStatus() {
	const now = history && history.all[shown];
	const stalled = !replay && heard && performance.now() - heard > STALLED;
	const problem = trouble || (stalled ? "stalled: the server has sent nothing since " +
		new Date(Date.now() - (performance.now() - heard)).toLocaleTimeString("en-GB") :
		(now || {}).problem);
	document.body.classList.toggle("problem", !!problem);
	if (problem)
		say(problem, "bad");
	else if (replay)
		say(paused ? "replay, paused" : "replay", paused ? "" : "good");
	else if (now)
		say(paused ? "paused" : "live", paused ? "" : "good");
}

function goTo(index) {
	shown = Math.min(Math.max(index, 0), history.length - 1);
	show();
}

function pause(on) {
	paused = on;
	$("pause").textContent = on ? (replay ? "Play" : "Live") : "Pause";
	clearTimeout(playing);
	if (!on && replay)
		step();
	else if (!on)
		shown = history.length - 1;
	show();
}

/** Shows the next snapshot of a recording after the time between the two snapshots, 5 s at
    most, divided by the chosen speed; and so on. */
function step() {
	if (shown >= history.length - 1)
		return pause(true);
	const [now, next] = [history.all[shown], history.all[shown + 1]];
	const wait = Math.min(Math.max(next.seconds - now.seconds, 0.05), 5);
	playing = setTimeout(() => {
		goTo(shown + 1);
		step();
	}, wait * 1000 / $("speed").value);
}

// --- receiving snapshots

/** Uses a new topology document. The history of counts is kept if the machine has the same
    boxes and counters. */
function setMachine(topology) {
	const fresh = new Machine(topology), before = machine;
	const same = before && before.layout === fresh.layout;
	machine = fresh;
	if (before && before.instance !== machine.instance)
		notice([(before.facts.host === machine.facts.host ?
			"The exporter was started anew" :
			`Another machine answers: ${machine.facts.host}, not ` +
			`${before.facts.host}`) + `, at ${new Date().toLocaleTimeString("en-GB")}.`]);
	if (same && history) {
		history.machine = machine;
	} else {
		history = new History(machine, replay ? Infinity : undefined);
		shown = -1;
	}
	const {host, model, title, generation, driver} = machine.facts;
	$("machine").textContent = [host, model, title || generation, driver]
		.filter(Boolean).join(" · ");
	document.title = "uncore: " + (host || "die map");
	verdicts = new Verdicts($("verdicts"), machine);
	table = new Table($("rows"), $("table"), machine);
	detail = new Detail($("detail"), history, detail && machine.box(detail.id));
	draw();
}

function take(message) {
	if (message.topology) {
		const known = machine && machine.topology;
		if (!known || known.instance !== message.topology.instance ||
		    known.revision !== message.topology.revision)
			setMachine(message.topology);
		return;
	}
	trouble = message.trouble || "";
	if (message.snapshot) {
		const {snapshot} = message, last = history.all[history.length - 1];
		const kept = history.dropped;
		heard = performance.now();
		if (last && snapshot.instance === last.instance && snapshot.seconds <= last.seconds)
			return;
		history.push(snapshot);
		if (!paused)
			shown = history.length - 1;
		else
			shown = Math.max(shown - (history.dropped - kept), 0);
		return show();
	}
	showStatus();
}

/** Receives snapshots from the server. All tabs of a browser share one event stream if the
    browser has shared workers. */
function live() {
	heard = performance.now();
	setInterval(showStatus, 1000);
	if (!self.SharedWorker)
		return new Feed(take);
	const worker = new SharedWorker(at("feed-worker.js"), {type: "module"});
	worker.port.onmessage = (event) => take(event.data);
	addEventListener("pagehide", () => worker.port.postMessage("closed"));
	addEventListener("pageshow", (event) => event.persisted && location.reload());
}

async function start() {
	tip = new Tip($("tip"));
	let topology;
	while (!topology) {
		try {
			topology = await fetchJson("api/topology");
		} catch (error) {
			say(error.message, "bad");
			await new Promise((done) => setTimeout(done, RETRY));
		}
	}
	if (!topology.replay) {
		setMachine(topology);
		return live();
	}
	replay = true;
	$("speed-label").hidden = false;
	$("live-links").hidden = true;
	notice(topology.replay.notices.map((text) => `${topology.replay.file}: ${text}.`));
	setMachine(topology);
	const answer = await fetch(at("api/recording"), {cache: "no-store"});
	for (const line of (await answer.text()).split("\n"))
		if (line)
			history.push(JSON.parse(line));
	const from = place.get("at");
	shown = Math.min(from === null ? 1 : Number(from) || 0, history.length - 1);
	if (from !== null || !history.length)
		pause(true);
	else
		pause(false);
	const box = machine.box(place.get("box") || "");
	if (box)
		open(box);
}

// --- keys and mouse

function focusable(box) {
	for (const one of $("map").querySelectorAll("[tabindex='0']"))
		one.setAttribute("tabindex", -1);
	const element = box && map.element(box);
	if (element)
		element.setAttribute("tabindex", 0);
	return element;
}

function open(box) {
	detail.show(box, history.view(shown));
	for (const one of $("map").querySelectorAll(".chosen"))
		one.classList.remove("chosen");
	if (map.element(box)) {
		map.element(box).classList.add("chosen");
		reveal(map.element(box));
	}
}

/** Scrolls the page so that the detail panel, which covers the bottom of the window, does
    not hide a box. */
function reveal(element) {
	tip.hide();
	document.body.style.paddingBottom = $("detail").offsetHeight + "px";
	const box = element.getBoundingClientRect();
	const top = document.querySelector("nav").offsetHeight;
	const bottom = innerHeight - $("detail").offsetHeight;
	if (box.top < top || box.bottom > bottom)
		scrollBy(0, box.top - (top + bottom - box.height) / 2);
}

function close() {
	const box = detail.box;
	detail.hide();
	document.body.style.paddingBottom = "";
	for (const one of $("map").querySelectorAll(".chosen"))
		one.classList.remove("chosen");
	if (box && focusable(box))
		focusable(box).focus();
}

const boxOf = (event) => {
	const element = event.target.closest && event.target.closest("[data-box]");
	return element && machine && machine.box(element.dataset.box);
};

$("map").addEventListener("click", (event) => {
	const box = boxOf(event);
	if (box)
		open(box);
});
for (const [name, leave] of [["pointerover", "pointerout"], ["focusin", "focusout"]]) {
	$("map").addEventListener(name, (event) => {
		const box = boxOf(event);
		if (!box)
			return;
		if (name === "focusin")
			focusable(box);
		tip.show(box, map.element(box), history.view(shown));
	});
	$("map").addEventListener(leave, () => tip.hide());
}

const ARROWS = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1]};

$("map").addEventListener("keydown", (event) => {
	const box = boxOf(event);
	if (!box || event.ctrlKey || event.metaKey || event.altKey)
		return;
	if (ARROWS[event.key]) {
		const next = map.next(box, ...ARROWS[event.key]);
		if (next)
			focusable(next).focus();
	} else if (event.key === "Enter" || event.key === " ") {
		open(box);
	} else if (event.key === "c") {
		copy(eventOf(box)).then(say);
	} else {
		return;
	}
	event.preventDefault();
});

const KEYS = {
	p: () => pause(!paused),
	",": () => { pause(true); goTo(shown - 1); },
	".": () => { pause(true); goTo(shown + 1); },
	t: () => { $("table").open = !$("table").open; },
	Escape: close,
};

document.addEventListener("keydown", (event) => {
	if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey ||
	    !machine || !KEYS[event.key] || event.target.closest("select"))
		return;
	KEYS[event.key]();
	event.preventDefault();
});

$("pause").addEventListener("click", () => {
	if (paused && replay && shown >= history.length - 1)
		shown = Math.min(1, history.length - 1);
	pause(!paused);
});
$("back").addEventListener("click", KEYS[","]);
$("forward").addEventListener("click", KEYS["."]);
$("time").addEventListener("input", (event) => {
	pause(true);
	goTo(Number(event.target.value));
});
$("table").addEventListener("toggle", () => table && table.update(history.view(shown)));
$("detail").addEventListener("click", (event) => {
	const text = event.target.dataset.copy;
	if (text)
		copy(text).then(say);
	else if (event.target.dataset.close)
		close();
});
$("theme").addEventListener("click", () => {
	document.documentElement.dataset.theme = theme() === "dark" ? "light" : "dark";
	draw();
});
NARROW.addEventListener("change", () => machine && draw());
LIGHT.addEventListener("change", () => machine && draw());

if (["dark", "light"].includes(place.get("theme")))
	document.documentElement.dataset.theme = place.get("theme");
if (place.has("table"))
	$("table").open = true;
start().catch((error) => say(error.message, "bad"));
