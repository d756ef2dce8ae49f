# SPDX-License-Identifier: GPL-2.0-or-later
"""TLS of uncore serve: its certificate, certificates of its clients, and files that
are replaced. A part of uncore_serve.py, which runs these tests."""

import contextlib
import http.client
import os
import shutil
import signal
import socket
import ssl
import subprocess
import time

from exporter.uncore_serve_listeners import ask_unix
from exporter.uncore_serve_malformed import attack, send
from lib.python.command import LIMIT, one_line, run
from lib.python.exposition import Daemon, up
from lib.python.fake_pmu import write


def certificates(folder, names):
    """Create a self-signed certificate for each name. Return the files' paths,
    {name: [certificate, key]}."""
    files = {}
    for name in names:
        files[name] = [os.path.join(folder, name + suffix)
                       for suffix in (".crt", ".key")]
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
             "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
             "/CN=" + name, "-addext", "subjectAltName=IP:127.0.0.1,DNS:" + name,
             "-out", files[name][0], "-keyout", files[name][1]],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True,
            timeout=LIMIT)
    return files


def ask(daemon, path="/livez", client=None):
    """Request a path over TLS, with a client certificate or none. Return (status, body,
    server certificate); the status is 0 if the handshake fails."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    if client:
        context.load_cert_chain(*client)
    connection = http.client.HTTPSConnection("127.0.0.1", daemon.port,
                                             timeout=LIMIT, context=context)
    with contextlib.closing(connection):
        try:
            connection.request("GET", path)
            answer = connection.getresponse()
            # after "Connection: close" http.client closes the socket with the body
            certificate = connection.sock.getpeercert(True) if connection.sock else b""
            return answer.status, answer.read().decode(), certificate
        except (OSError, http.client.HTTPException):
            return 0, "", b""


def shown(daemon):
    """Return the certificate that the server sends to a new client, in PEM."""
    return ssl.DER_cert_to_PEM_cert(ask(daemon)[2])


def replace(files, targets):
    """Replace target files by copies of @files, each by a rename."""
    for new, old in zip(files, targets):
        shutil.copy(new, old + ".new")
        os.rename(old + ".new", old)


def test_reload(tap, folder, sysfs, files):
    """The certificate's files change while uncore serve runs."""
    used = [os.path.join(folder, "used" + suffix) for suffix in (".crt", ".key")]
    pem = {}
    for name, paths in files.items():
        with open(paths[0], encoding="ascii") as file:
            pem[name] = file.read()
    replace(files["one"], used)
    with Daemon("--sysfs", sysfs, "serve", "--tls-cert", used[0], "--tls-key",
                used[1], scheme="https") as daemon:
        tap.ok(shown(daemon) == pem["one"], "it shows its certificate")
        replace(files["two"], used)
        deadline = time.monotonic() + LIMIT
        while shown(daemon) != pem["two"] and time.monotonic() < deadline:
            time.sleep(0.2)
        tap.ok(shown(daemon) == pem["two"],
               "a certificate that is replaced is shown from then on")
        output = daemon.more("loaded again")
        # a file of garbage, then an empty file
        for text in ("garbage", ""):
            write(used[0], text)
            time.sleep(1.1)
            kept = [shown(daemon) == pem["two"] for _ in range(3)]
            time.sleep(1.1)
            kept.append(shown(daemon) == pem["two"])
            output = daemon.more("\n")
            tap.ok(kept == [True] * 4 and output.count("\n") == 1 and
                   used[0] in output and "stays" in output,
                   "%s instead: the one before stays, and one line says so" %
                   (text or "nothing"), [repr(kept), output])
        replace(files["one"], used)
        daemon.send(signal.SIGHUP)
        output = daemon.more("loaded again")
        tap.ok("loaded again" in output and shown(daemon) == pem["one"],
               "SIGHUP has it read them at once", [output])
        status, _ = daemon.end()
        tap.ok(status == 0, "and it ends as ever", ["status %d" % status])


def test_client_certificates(tap, folder, sysfs, files):
    """With --tls-client-ca, clients need a certificate of that authority. The listener
    of --listen-health needs none."""
    authorities = os.path.join(folder, "clients.crt")
    probes = os.path.join(folder, "probes")
    shutil.copy(files["two"][0], authorities)
    options = ["--tls-cert", files["one"][0], "--tls-key", files["one"][1],
               "--tls-client-ca", authorities]
    with Daemon("--sysfs", sysfs, "serve", *options, "--listen-health",
                "unix:" + probes, scheme="https") as daemon:
        for name, client, path, want in (
                ("none", None, "/metrics", 0),
                ("another authority's", files["one"], "/metrics", 0),
                ("this authority's", files["two"], "/metrics", 200)):
            got = ask(daemon, path, client)
            tap.ok(got[0] == want, "client certificates: %s: %d" % (name, want),
                   [repr(got[:2])])
        tap.ok(ask(daemon)[0] == 0, "/livez needs one there as well")
        got = [ask_unix(probes, path)[0] for path in
               ("/livez", "/readyz", "/healthz", "/metrics", "/", "/events")]
        tap.ok(got == [200] * 3 + [404] * 3,
               "a listener for probes answers these, without one", [repr(got)])
        write(authorities, "garbage")
        daemon.send(signal.SIGHUP)
        output = daemon.more("stays")
        got = [ask(daemon, "/metrics", files[name])[0] for name in ("one", "two")]
        tap.ok(got == [0, 200] and authorities in output,
               "authorities replaced by garbage: those before stay",
               [output, repr(got)])
        replace(files["one"][:1], [authorities])
        daemon.send(signal.SIGHUP)
        output = daemon.more("loaded again")
        got = [ask(daemon, "/metrics", files[name])[0] for name in ("one", "two")]
        tap.ok(got == [200, 0], "others replace them", [output, repr(got)])
        status, _ = daemon.end()
        tap.ok(status == 0 and not os.path.exists(probes), "it ends as ever",
               ["status %d" % status])
    with Daemon("--sysfs", sysfs, "serve", "--listen-health", "127.0.0.1:0") as daemon:
        tap.ok(daemon.request("/livez")[0] == 200 and up(daemon.scrape()) == 1,
               "a listener for probes changes nothing without TLS")
    one_line(tap, "authorities: none", run(
        "--sysfs", sysfs, "serve", "--listen", "127.0.0.1:0", *options[:5],
        folder + "/no.crt"), 1, "no.crt")


def test_tls(tap, folder, sysfs):
    if not shutil.which("openssl"):
        tap.skip("HTTPS", "no openssl here")
        return
    files = certificates(folder, ("one", "two"))
    test_reload(tap, folder, sysfs, files)
    test_client_certificates(tap, folder, sysfs, files)
    certificate, key = files["one"]
    with Daemon("--sysfs", sysfs, "serve", "--tls-cert", certificate,
                "--tls-key", key, scheme="https") as daemon:
        context = ssl.create_default_context(cafile=certificate)
        with socket.create_connection(("127.0.0.1", daemon.port),
                                      timeout=LIMIT) as plain, \
                context.wrap_socket(plain, server_hostname="127.0.0.1") as connection:
            connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n"
                               b"Connection: close\r\n\r\n")
            text = b""
            while part := connection.recv(4096):
                text += part
            tap.ok(text.startswith(b"HTTP/1.1 200") and
                   text.endswith(b"\r\n\r\nok\n") and
                   connection.version() in ("TLSv1.2", "TLSv1.3"),
                   "HTTPS, by %s" % connection.version(), [repr(text)])
        send(daemon.port, b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        attack(daemon, 50, 1)
        status, _ = daemon.end()
        tap.ok(status == 0, "it ends after plain HTTP was sent to it")
    listen = ["--sysfs", sysfs, "serve", "--listen", "127.0.0.1:0"]
    for name, crt, key_path, words in (
            ("none", folder + "/no.crt", key, ["no.crt"]),
            ("no key", certificate, folder + "/no.key", ["no.key"]),
            ("a folder", folder, key, [folder]),
            ("another's key", certificate, files["two"][1], ["certificate"]),
            ("an empty file", "/dev/null", key, ["/dev/null", "empty"]),
            ("an empty key", certificate, "/dev/null", ["/dev/null", "empty"]),
            ("no certificate", "/proc/version", key, ["certificate"])):
        one_line(tap, "a certificate: " + name,
                 run(*listen, "--tls-cert", crt, "--tls-key", key_path), 1, *words)
