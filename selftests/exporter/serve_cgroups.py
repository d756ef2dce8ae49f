# SPDX-License-Identifier: GPL-2.0-or-later
"""Series of "uncore serve --cgroups": memory traffic of cgroups and pods. A part of
serve.py, which runs these tests."""

import contextlib
import http.server
import json
import os
import signal
import ssl
import subprocess
import tempfile
import threading
import time

from lib.python.command import (LIMIT, PATIENCE, comments, one_line, run,
                                started)
from lib.python.exposition import Daemon, up, value
from lib.python.prometheus import find
from lib.python.top import TASK
from lib.python.uncore import (BUILD, UNCORE, Machine, read, running_clock,
                               write)

DRIVER = os.path.join(BUILD, "kmod", "xeon_uncore.ko")
CGROUPS = "/sys/fs/cgroup"
WAYS = "read", "write"
ROUNDING = 2 * 64           # bytes of a direction that are not divided among cgroups yet


class Scraper:
    """Add up the growth of series that begin and end, as Prometheus does: the growth
    of a series since the previous scrape, or since 0 if the series is new. All scrapes
    must be passed to take(): the last growth of a series that ends is in the last
    scrape that has the series."""

    def __init__(self, samples):
        self.last, self.apart, self.late = samples, {}, []

    def take(self, samples):
        """Add a scrape's growth. Return whether the growth of all cgroups is that of
        their sockets so far."""
        for (name, labels), count in samples.items():
            sign = {"uncore_cgroup_memory_bytes_total": 1,
                    "uncore_memory_bytes_total": -1}.get(name)
            if not sign:
                continue
            have = dict(labels)
            place = have["socket"], have["direction"]
            old = self.last.get((name, labels))
            if old is None and count:
                self.late.append("%s begins with %g" % (have, count))
            self.apart[place] = self.apart.get(place, 0) + \
                sign * (count - (old or 0))
        self.last = samples
        return self.adds_up()

    def adds_up(self):
        return not self.late and self.apart and all(
            abs(bytes_apart) <= ROUNDING
            for bytes_apart in self.apart.values())

    def comments(self):
        return [*self.late, "bytes apart: %r" % self.apart]


def cgroup_bytes(samples, cgroup):
    """Return a cgroup's traffic, {(socket, direction): bytes}, with None where it has
    no series."""
    return {(socket, way): value(samples, "uncore_cgroup_memory_bytes_total",
                                 socket=socket, direction=way, cgroup=cgroup)
            for socket in ("0", "1") for way in WAYS}


def cgroups_in(samples):
    """Return the cgroups that have series of memory traffic."""
    return {dict(labels)["cgroup"] for name, labels in samples
            if name == "uncore_cgroup_memory_bytes_total"}


def work_in(cgroup, cpu=0, top=CGROUPS):
    """Run a task in a cgroup that reads a million cache lines, on one CPU."""
    subprocess.run(["sh", "-c", 'echo $$ > "$1/cgroup.procs" && exec "$2" "$3" '
                    "10000 100 1000 worker", "sh", top + cgroup, TASK, str(cpu)],
                   check=True)


# The name of a cgroup that is not UTF-8, which any user can create below a delegated
# cgroup, and the name in which the invalid bytes are replaced.
HOSTILE = "/uncore-test-" + os.fsdecode(b'\xff"\x1b\xe3\x80') + "x" * 200
CLEAN = "/uncore-test-?\"???" + "x" * 200
LABEL = CLEAN.replace('"', '\\"')       # escaped, as in the exposition's labels


def test_cgroup_name(tap):
    """A cgroup whose name is not UTF-8 has a series, and the scrape stays readable."""
    os.mkdir(CGROUPS + HOSTILE)
    with Daemon("serve", "--cgroups", "2") as daemon:
        rounds = 0
        while LABEL not in cgroups_in(daemon.fresh()) and rounds < 20:
            work_in(HOSTILE)
            rounds += 1
        work_in(HOSTILE)
        seen = daemon.wait_for(lambda now: cgroup_bytes(now, LABEL)["0", "read"])
        tap.ok((cgroup_bytes(seen, LABEL)["0", "read"] or 0) > 0,
               "a cgroup whose name is not UTF-8 has series with a clean label",
               [repr(cgroups_in(seen))])
        page = json.loads(daemon.request("/api/snapshot")[2])
        tap.ok(CLEAN in page["cgroups"]["0"], "and so has the page",
               [repr(page.get("cgroups"))])
        promtool, reason = find("promtool")
        if promtool:
            result = subprocess.run([promtool, "check", "metrics"],
                                    input=daemon.request()[2], encoding="utf-8",
                                    stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                    check=False)
            tap.ok(result.returncode == 0, "promtool reads them",
                   result.stdout.splitlines())
        else:
            tap.skip("promtool reads them", reason)
        daemon.end()
    os.rmdir(CGROUPS + HOSTILE)


def test_cgroups(tap):
    """Traffic of tasks in three cgroups, of which --cgroups gives series to two."""
    names = ["/uncore-test-%d" % i for i in range(3)]
    for name in names:
        os.mkdir(CGROUPS + name)
    with Daemon("serve", "--cgroups", "2") as daemon:
        seen = daemon.fresh()
        scraper, rounds = Scraper(seen), 0
        tap.ok(None not in {*cgroup_bytes(seen, "other").values(),
                            *cgroup_bytes(seen, "idle").values()},
               "other and idle are there on each socket",
               [repr(key) for key in seen if "cgroup" in key[0]])
        while cgroup_bytes(seen, names[0])["0", "read"] is None and rounds < 20:
            work_in(names[0])
            seen, rounds = daemon.fresh(scraper.take), rounds + 1
        tap.ok(cgroup_bytes(seen, names[0])["0", "read"] == 0,
               "a cgroup gets series, which begin with 0",
               [repr(cgroup_bytes(seen, names[0]))])
        work_in(names[0])
        seen = daemon.wait_for(lambda now: scraper.take(now) and
                               cgroup_bytes(now, names[0])["0", "read"])
        mine = cgroup_bytes(seen, names[0])
        tap.ok((mine["0", "read"] or 0) > 0 and not mine["0", "write"] and
               not mine["1", "read"], "and its share of what is read then",
               [repr(mine)])
        daemon.fresh(scraper.take)
        tap.ok(scraper.adds_up(),
               "all cgroups, other and idle add up to their sockets",
               scraper.comments())
        for name in names[1:]:
            for _ in range(3):
                work_in(name)
        # the sums must be equal, too, before one of these cgroups has its series
        seen = daemon.wait_for(lambda now: scraper.take(now) and
                               len(cgroups_in(now)) > 3)
        shown = cgroups_in(seen)
        daemon.fresh(scraper.take)
        tap.ok(scraper.adds_up() and
               {"other", "idle"} < shown and len(shown) == 4,
               "and do so when more of them work than have series",
               [repr(shown), *scraper.comments()])
        test_cgroups_reload(tap, daemon, names[0])
        status, output = daemon.end()
        tap.ok(status == 0, "SIGTERM ends it",
               ["status %d" % status, *output.splitlines()])
    for name in names:
        os.rmdir(CGROUPS + name)


# uid of a pod, and the id of its container
POD = "0f8d3c1e-7a55-4b8f-9c39-3f1f3f6f2a10", "1f" * 32


class Kubelet:
    """A kubelet that lists one pod to clients with the right token. While it hangs, it
    answers 5 seconds late."""

    TOKEN = "one.two.three"

    def __init__(self, folder, uid, ident, tls=True):
        self.hangs, self.asked = False, 0
        self.certificate, key, self.token, self.wrong = (
            os.path.join(folder, name) for name in ("crt", "key", "token", "wrong"))
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
             "ec_paramgen_curve:prime256v1", "-nodes", "-subj", "/CN=node", "-addext",
             "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out",
             self.certificate], check=True, stderr=subprocess.DEVNULL)
        write(self.token, self.TOKEN + "\n")
        write(self.wrong, "another\n")
        pods = json.dumps({"kind": "PodList", "items": [{
            "metadata": {"namespace": "shop", "name": "web-0", "uid": uid},
            "status": {"containerStatuses": [
                {"name": "nginx", "containerID": "containerd://" + ident}]}}]})
        kubelet = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):       # pylint: disable=invalid-name
                kubelet.asked += 1
                if kubelet.hangs:
                    time.sleep(5)
                good = self.headers["Authorization"] == "Bearer " + kubelet.TOKEN
                body = pods.encode() if good else b"no"
                with contextlib.suppress(OSError):
                    self.send_response(200 if good else 401)
                    self.send_header("Content-Length", str(len(body)))
                    self.end_headers()
                    self.wfile.write(body)

            def log_message(self, *_):
                pass

        class Server(http.server.ThreadingHTTPServer):
            def handle_error(self, *_):     # a client does not trust the certificate
                pass

        server = Server(("127.0.0.1", 0), Handler)
        if tls:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(self.certificate, key)
            server.socket = context.wrap_socket(server.socket, server_side=True,
                                                do_handshake_on_connect=False)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.options = [
            "--pods", "http%s://127.0.0.1:%d/pods" % ("s" if tls else "",
                                                      server.server_port),
            "--pods-token", self.token, "--pods-ca", self.certificate]

    def refusals(self):
        """Generate options with which the list cannot be read: (options, words of the
        error, whether the kubelet hangs)."""
        where, authorities = self.options[:2], self.options[4:]
        yield [*where, "--pods-token", self.wrong, *authorities], "status 401", False
        yield self.options[:4], "certificate", False
        yield ["--pods", "http://127.0.0.1:1/pods"], "127.0.0.1:1/pods", False
        yield [*where, "--pods-token", "/none", *authorities], "/none has no token", \
            False
        yield self.options, "timed out", True


def test_pods(tap, sysfs):
    """uncore serve cannot read the list of pods: one line reports the reason, within
    seconds. Runs on the host, as an emulated machine takes more than a second for
    TLS."""
    with tempfile.TemporaryDirectory() as folder:
        kubelet = Kubelet(folder, *POD)
        for options, reason, hangs in kubelet.refusals():
            kubelet.hangs = hangs
            one_line(tap, "no list of pods: %s" % reason, run(
                "--sysfs", sysfs, "serve", "--cgroups", "2", "--json", *options), 1,
                     reason)


def test_cgroups_v1(tap):
    """A host whose containers are in cgroups of version 1, in a hierarchy that is
    mounted for the test."""
    uid, ident = POD
    name = "/kubepods/besteffort/pod%s/%s" % (uid, ident)

    def bytes_of(samples):
        return sum(count for (series, labels), count in samples.items()
                   if series == "uncore_cgroup_memory_bytes_total" and
                   dict(labels).get("cgroup") == name and
                   dict(labels).get("pod_uid") == uid and
                   dict(labels).get("container_id") == ident and
                   [dict(labels).get(label) for label in (
                       "namespace", "pod", "container")] == ["shop", "web-0", "nginx"])

    with tempfile.TemporaryDirectory() as top, \
            tempfile.TemporaryDirectory() as folder:
        kubelet = Kubelet(folder, *POD, tls=False)
        subprocess.run(["mount", "-t", "cgroup", "-o", "pids", "none", top],
                       check=True)
        os.makedirs(top + name)
        with Daemon("serve", "--cgroups", "2", *kubelet.options) as daemon:
            scraper, rounds = Scraper(daemon.fresh()), 0
            while name not in cgroups_in(daemon.fresh(scraper.take)) and rounds < 20:
                work_in(name, top=top)
                rounds += 1
            work_in(name, top=top)
            seen = daemon.wait_for(lambda now: scraper.take(now) and bytes_of(now))
            tap.ok(bytes_of(seen) > 0 and scraper.adds_up(),
                   "cgroups of version 1 have series, with their pods, and add up",
                   [repr(cgroups_in(seen)), *scraper.comments()])
            test_hanging(tap, daemon, kubelet, top)
            daemon.end()
        for path, *_ in os.walk(top + "/kubepods", topdown=False):
            os.rmdir(path)
        subprocess.run(["umount", top], check=True)


def test_hanging(tap, daemon, kubelet, top):
    """A container starts while the kubelet hangs. Scrapes do not wait for the kubelet,
    and uncore serve asks the kubelet again only after growing delays."""
    name = "/kubepods/besteffort/pod%s/%s" % (POD[0], "2e" * 32)
    os.makedirs(top + name)
    kubelet.hangs = True
    asked, slowest, rounds = kubelet.asked, 0, 0
    while name not in cgroups_in(daemon.fresh()) and rounds < 20:
        work_in(name, top=top)
        rounds += 1
    begin = time.monotonic()
    while time.monotonic() - begin < 12:
        start = time.monotonic()
        daemon.request()
        slowest = max(slowest, time.monotonic() - start)
        time.sleep(0.1)
    tap.ok(name in cgroups_in(daemon.scrape()) and kubelet.asked > asked and
           slowest < 0.9, "no scrape waits for a kubelet that hangs",
           ["%.2f s" % slowest, "asked %d times" % (kubelet.asked - asked)])
    tap.ok(kubelet.asked - asked <= 3, "which is asked at 5 s, 10 s and later",
           ["asked %d times" % (kubelet.asked - asked)])
    kubelet.hangs = False


def test_new_cgroup(tap, before):
    """uncore top, with the capabilities that uncore(1) recommends, prints the name of a
    cgroup that is created while it runs."""
    name = "/uncore-test-later"
    with started([*before, UNCORE, "top", "--by", "cgroup", "--json", "-I", "1000"],
                 stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                 encoding="utf-8") as process:
        first = process.stdout.readline()
        os.mkdir(CGROUPS + name)
        seen, lines = False, [first]
        deadline = time.monotonic() + LIMIT
        while not seen and time.monotonic() < deadline and lines[-1]:
            work_in(name)
            lines.append(process.stdout.readline())
            seen = name in lines[-1]
        process.terminate()
        process.stdout.close()
    os.rmdir(CGROUPS + name)
    tap.ok(seen, "a cgroup that is made later has its name", lines[-3:])


def test_cgroups_users(tap):
    """CAP_PERFMON and CAP_BPF, the capabilities of the service, are enough for an
    unprivileged user; without CAP_BPF uncore serve refuses."""
    capabilities = "-all,+perfmon,+bpf"
    path = "/proc/sys/kernel/perf_event_paranoid"
    paranoid = read(path)
    try:
        write(path, "2")        # at Debian's level 3, perf_event_open needs root
        result = run("serve", "--cgroups", "2", "--json", timeout=PATIENCE,
                     before=["setpriv", "--reuid=65534", "--regid=65534",
                             "--clear-groups", "--inh-caps=" + capabilities,
                             "--ambient-caps=" + capabilities,
                             "--bounding-set=" + capabilities])
        tap.ok(result.returncode == 0 and not result.stderr and
               "uncore_cgroup_memory_bytes" in result.stdout and
               "uncore_up" in result.stdout,
               "no root: CAP_PERFMON and CAP_BPF will do", comments(result))
        test_new_cgroup(tap, [
            "setpriv", "--reuid=65534", "--regid=65534", "--clear-groups",
            "--inh-caps=" + capabilities, "--ambient-caps=" + capabilities,
            "--bounding-set=" + capabilities])
        write(path, "-1")       # perf_event_open needs no capability: CAP_BPF is missing
        one_line(tap, "without CAP_BPF: refused", run(
            "serve", "--cgroups", "2", "--json", timeout=PATIENCE, before=[
                "setpriv", "--bounding-set=-all", "--inh-caps=-all"]),
                 1, "CAP_BPF")
    finally:
        write(path, paranoid)


def test_cgroups_reload(tap, daemon, name):
    """The driver is unloaded and loaded: no cgroup's counter goes backwards, and the
    cgroups still add up to their sockets."""
    before = daemon.scrape()
    daemon.send(signal.SIGUSR1)
    daemon.wait_for(lambda now: up(now) == 0)
    Machine.wait_unused()
    result = subprocess.run(["rmmod", "xeon_uncore"], check=False,
                            stderr=subprocess.PIPE)
    tap.ok(result.returncode == 0, "SIGUSR1 gives these counters back, too",
           [result.stderr.decode()])
    with running_clock():
        subprocess.run(["insmod", DRIVER], check=True)
    back = daemon.wait_for(lambda now: up(now) == 1)
    went_back = [repr(key) for key, count in back.items()
                 if key[0] == "uncore_cgroup_memory_bytes_total" and
                 count < before.get(key, 0)]
    # While the clock ran, the counters of cgroups and sockets may have been read at
    # different times: begin new sums.
    scraper = Scraper(daemon.fresh())
    work_in(name)
    daemon.wait_for(scraper.take)
    daemon.fresh(scraper.take)
    tap.ok(not went_back and scraper.adds_up(),
           "with the driver loaded again none goes back, and they add up",
           [*went_back, *scraper.comments()])
