// SPDX-License-Identifier: GPL-2.0-or-later
// The page: where snapshots come from, which one is shown, and what a person does.
import {History, Machine} from "/model.js";
import {DieMap, legend} from "/draw.js";
import {Detail, Table, Tip, copy, eventOf} from "/panels.js";

const NARROW = matchMedia("(max-width: 820px)");
const LIGHT = matchMedia("(prefers-color-scheme: light)");
const RETRY = 10000;		// ms, where the server has refused a stream

const $ = (id) => document.getElementById(id);
/* #at=12&table&box=0/hswep_imc_0&theme=dark: a place to link to */
const place = new URLSearchParams(location.hash.slice(1));

let machine, history, map, table, detail, tip;
let shown = -1, paused = false, replay = false, playing = 0;

function theme() {
	const chosen = document.documentElement.dataset.theme;
	return chosen || (LIGHT.matches ? "light" : "dark");
}

function say(text, kind) {
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
	line.textContent = "Share of a peak. Channels, QPI, rings and PCU: of what their " +
		"clock allows. Slices, home agents and PCIe: of the most that was seen on this " +
		"page. ≈: counted for a part of the time. Boxes are in the order of their " +
		"numbers, which is not where they are on the die.";
	$("legend").replaceChildren(legend(theme()), line);
	focusable(detail.box || machine.boxes[0]);
	show();
}

function show() {
	const view = history.view(shown), now = view.snapshot;
	map.update(view);
	table.update(view);
	detail.update(view);
	tip.update(view);
	$("time").min = replay ? Math.min(1, history.length - 1) : 0;
	$("time").max = Math.max(history.length - 1, 0);
	$("time").value = shown;
	$("when").textContent = now ? new Date(now.time * 1000).toLocaleTimeString("en-GB") +
		(replay ? ` (${shown + 1} of ${history.length})` :
			shown < history.length - 1 ? ` (−${history.length - 1 - shown})` : "") : "–";
	document.body.classList.toggle("problem", !!view.problem);
	if (view.problem && now)
		say(view.problem, "bad");
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

/** To the next snapshot of a replay, after as long as it took. */
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

// --- where snapshots come from

async function fetchJson(path) {
	const answer = await fetch(path, {cache: "no-store"});
	if (!answer.ok)
		throw new Error(`${path}: ${answer.status} ${(await answer.text()).trim()}`);
	return answer.json();
}

/** Takes in a machine; what was counted stays where it is the same one. */
function setMachine(topology) {
	const fresh = new Machine(topology);
	const same = machine && machine.layout === fresh.layout;
	machine = fresh;
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
	table = new Table($("rows"), $("table"), machine);
	detail = new Detail($("detail"), history, detail && machine.box(detail.id));
	draw();
}

async function live() {
	try {
		setMachine(await fetchJson("/api/topology"));
	} catch (error) {
		say(error.message, "bad");
		setTimeout(live, RETRY);
		return;
	}
	const events = new EventSource("/events");
	let renewing = false;
	events.onmessage = async (event) => {
		const snapshot = JSON.parse(event.data);
		if (snapshot.revision !== machine.topology.revision && !renewing) {
			// counters were opened anew: boxes may be other ones
			renewing = true;
			try {
				setMachine(await fetchJson("/api/topology"));
			} catch (error) {
				say(error.message, "bad");
			}
			renewing = false;
		}
		if (snapshot.revision !== machine.topology.revision)
			return;
		const last = history.all[history.length - 1], kept = history.dropped;
		if (last && snapshot.seconds <= last.seconds)
			return;
		history.push(snapshot);
		if (!paused)
			shown = history.length - 1;
		else
			shown = Math.max(shown - (history.dropped - kept), 0);
		show();
	};
	events.onerror = () => {
		say("no connection; trying again", "bad");
		if (events.readyState === EventSource.CLOSED) {
			// refused: as many look on as may
			say("no event stream: too many look on, or the server has gone", "bad");
			setTimeout(live, RETRY);
		}
	};
}

async function start() {
	tip = new Tip($("tip"));
	const topology = await fetchJson("/api/topology");
	if (!topology.replay)
		return live();
	replay = true;
	$("speed-label").hidden = false;
	$("live-links").hidden = true;
	notice(topology.replay.notices.map((text) => `${topology.replay.file}: ${text}.`));
	setMachine(topology);
	const answer = await fetch("/api/recording", {cache: "no-store"});
	for (const line of (await answer.text()).split("\n"))
		if (line)
			history.push(JSON.parse(line));
	const at = place.get("at");
	shown = Math.min(at === null ? 1 : Number(at) || 0, history.length - 1);
	if (at !== null || !history.length)
		pause(true);
	else
		pause(false);
	const box = machine.box(place.get("box") || "");
	if (box)
		open(box);
}

// --- what a person does

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
	if (map.element(box))
		map.element(box).classList.add("chosen");
}

function close() {
	const box = detail.box;
	detail.hide();
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
