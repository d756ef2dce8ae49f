#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Test the manifests for Kubernetes and the container image. The objects match their
schemas, the capabilities are those of the systemd service, and the rules are those of
Prometheus' files. The image's last stage is built without a container runtime, and
"uncore serve" counts in it with exactly the manifest's rights. No uncore PMU
(lib/python/fake_pmu.py) and no cluster is needed.

With the argument "guest", in a VM: the container counts known traffic of the simulated
hardware exactly. Then it runs as a node's DaemonSet, with pods of three runtimes, and a
real Prometheus scrapes it with the Prometheus operator's configuration.
"""

import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from lib.python import container  # noqa: E402
from lib.python.command import LIMIT, PATIENCE, started  # noqa: E402
from lib.python.exposition import Daemon, value  # noqa: E402
from lib.python.fake_pmu import make_pmu  # noqa: E402
from lib.python.prometheus import find  # noqa: E402
from lib.python.top import hold_tracepoint  # noqa: E402
from lib.python.uncore import TOP, Machine, Tap  # noqa: E402
from exporter.prometheus import Prometheus  # noqa: E402
from exporter.serve import LABEL, test_exact  # noqa: E402
from exporter.serve_cgroups import CGROUPS, cgroups_in, work_in  # noqa: E402

FOLDER = os.path.join(TOP, "userspace", "monitoring")
UNIT = os.path.join(TOP, "userspace", "cli", "systemd", "uncore-serve.service.in")
PORT = 10331
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.path.join(TOP, "selftests")}
# A program that prints the differences of objects from the models of Debian's Kubernetes
# client.
CHECK = """
import json, sys
import kubernetes.client.models as models

def wrong(kind, value, where):
    if kind.startswith("list["):
        if not isinstance(value, list):
            return ["%s is not a list" % where]
        return sum((wrong(kind[5:-1], one, "%s[%d]" % (where, i))
                    for i, one in enumerate(value)), [])
    if kind.startswith("dict("):
        return [] if isinstance(value, dict) and all(
            isinstance(one, str) for one in value.values()) else \\
            ["%s is not a map of texts" % where]
    simple = {"str": str, "int": int, "bool": bool, "float": (int, float),
              "object": (str, int)}.get(kind)
    if simple:
        good = isinstance(value, simple) and (kind == "bool") == isinstance(value, bool)
        return [] if good else ["%s is %r, not %s" % (where, value, kind)]
    model = getattr(models, kind)
    names = {json_name: name for name, json_name in model.attribute_map.items()}
    found = []
    for key, one in value.items():
        if key not in names:
            found.append("%s has no %s" % (where, key))
        else:
            found += wrong(model.openapi_types[names[key]], one,
                           where + "." + key)
    try:
        model(**{names[key]: one for key, one in value.items() if key in names})
    except ValueError as error:
        found.append("%s: %s" % (where, error))
    return found

print(json.dumps([wrong("V1DaemonSet", one, "") for one in json.load(sys.stdin)]))
"""
POD_MONITOR = {
    "type": "object", "additionalProperties": False,
    "required": ["apiVersion", "kind", "metadata", "spec"],
    "properties": {
        "apiVersion": {"const": "monitoring.coreos.com/v1"},
        "kind": {"const": "PodMonitor"},
        "metadata": {"type": "object", "required": ["name"]},
        "spec": {
            "type": "object", "additionalProperties": False,
            "required": ["selector", "podMetricsEndpoints"],
            "properties": {
                "jobLabel": {"type": "string"},
                "selector": {"type": "object", "required": ["matchLabels"]},
                "podMetricsEndpoints": {"type": "array", "minItems": 1, "items": {
                    "type": "object", "additionalProperties": False,
                    "required": ["port"],
                    "properties": {
                        "port": {"type": "string"},
                        "interval": {"type": "string", "pattern": "^[0-9]+[sm]$"},
                        "relabelings": {"type": "array", "items": {
                            "type": "object", "additionalProperties": False,
                            "oneOf": [
                                {"required": ["sourceLabels", "targetLabel"]},
                                {"required": ["action", "regex"]}],
                            "properties": {
                                "action": {"enum": ["replace", "labeldrop"]},
                                "regex": {"type": "string"},
                                "sourceLabels": {"type": "array",
                                                 "items": {"type": "string"}},
                                "targetLabel": {"type": "string"}}}}}}}}}}}
LOAD = """
import json, sys, yaml
print(json.dumps([yaml.safe_load(open(path)) for path in sys.argv[1:]]))
"""
VALIDATE = """
import json, jsonschema, sys
schema, document = json.load(sys.stdin)
print(json.dumps([str(list(one.absolute_path)) for one in
                  jsonschema.Draft7Validator(schema).iter_errors(document)]))
"""


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def python(program, *arguments, given=None):
    """Run a program by Debian's Python, which has the packages that tests need, with
    @given as JSON on standard input. Return the JSON that the program prints."""
    result = subprocess.run(
        ["/usr/bin/python3", "-c", program, *arguments],
        input=json.dumps(given), stdout=subprocess.PIPE, encoding="utf-8",
        timeout=LIMIT, check=True)
    return json.loads(result.stdout)


def load(*paths):
    """Return the documents of YAML files in userspace/monitoring/."""
    return python(LOAD, *[os.path.join(FOLDER, path) for path in paths])


def security_of(daemon_set):
    """Return the security context of the manifest's container."""
    pod = daemon_set["spec"]["template"]["spec"]
    return {**pod["securityContext"], **pod["containers"][0]["securityContext"]}


def mounts_of(daemon_set, folders):
    """Return [folder of the node, folder of the container] of each mount. @folders
    replaces folders of the node by folders of this machine."""
    pod = daemon_set["spec"]["template"]["spec"]
    paths = {volume["name"]: volume["hostPath"]["path"] for volume in pod["volumes"]}
    assert all(mount["readOnly"] for mount in pod["containers"][0]["volumeMounts"])
    return [[folders.get(paths[mount["name"]], paths[mount["name"]]), mount["mountPath"]]
            for mount in pod["containers"][0]["volumeMounts"]]


def test_objects(tap):
    kustomization, = load("kustomization.yaml")
    files = kustomization["resources"] + [
        name for generator in kustomization["configMapGenerator"]
        for name in generator["files"]]
    missing = [name for name in files
               if not os.path.exists(os.path.join(FOLDER, name))]
    tap.ok(len(files) == 6 and not missing, "the base's files exist", missing)
    daemon_set, monitor, rule = load(*kustomization["resources"])
    broken = json.loads(json.dumps(daemon_set))
    pod = broken["spec"]["template"]["spec"]
    pod["containers"][0]["securityContext"]["readOnlyRootFileSystem"] = True
    pod["hostPid"] = True
    pod["containers"][0]["ports"][0]["containerPort"] = "10331"
    del broken["spec"]["selector"]
    wrong, noticed = python(CHECK, given=[daemon_set, broken])
    tap.ok(not wrong, "the DaemonSet is as Kubernetes' model has it", wrong)
    tap.ok(len(noticed) == 4, "which notices four things that are wrong", noticed)
    labels = daemon_set["spec"]["template"]["metadata"]["labels"]
    ports = [port["name"] for port in
             daemon_set["spec"]["template"]["spec"]["containers"][0]["ports"]]
    tap.ok(daemon_set["spec"]["selector"]["matchLabels"] == labels and
           monitor["spec"]["selector"]["matchLabels"] == labels and
           [endpoint["port"]
            for endpoint in monitor["spec"]["podMetricsEndpoints"]] == ports and
           "uncore" in labels[monitor["spec"]["jobLabel"]],
           "selectors and ports meet, and the job has a name that alerts find")
    wrong = python(VALIDATE, given=[POD_MONITOR, monitor])
    tap.ok(not wrong, "the PodMonitor has what one may have", wrong)
    alone = sum((rules["groups"] for rules in load(
        "prometheus/uncore.rules.yml", "prometheus/uncore.alerts.yml")), [])
    tap.ok(rule["kind"] == "PrometheusRule" and rule["spec"]["groups"] == alone,
           "the PrometheusRule has the rules and alerts of Prometheus' files")
    promtool, reason = find("promtool")
    if not promtool:
        tap.skip("Prometheus takes them", reason)
    else:
        with tempfile.NamedTemporaryFile("w", suffix=".yml") as file:
            json.dump(rule["spec"], file)
            file.flush()
            result = subprocess.run([promtool, "check", "rules", file.name],
                                    stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                    encoding="utf-8", check=False)
        tap.ok(result.returncode == 0, "Prometheus takes them",
               result.stdout.splitlines())
    return daemon_set


def test_rights(tap, security):
    unit = re.search(r"^CapabilityBoundingSet=(.*)$", read(UNIT), re.M)[1].split()
    add = ["CAP_" + name for name in security["capabilities"]["add"]]
    stage = container.last_stage()
    tap.ok(unit == add and security["capabilities"]["drop"] == ["ALL"] and
           stage["setcap"] == (",".join(add).lower() + "+ep", container.PROGRAM),
           "capabilities are the service's, for pod and file", [repr(unit), repr(add)])
    tap.ok(security["runAsNonRoot"] and security["runAsUser"] == stage["user"] > 0 and
           security["readOnlyRootFilesystem"] and not security["privileged"] and
           not security["allowPrivilegeEscalation"] and
           security["seccompProfile"] == {"type": "RuntimeDefault"},
           "no root, nothing to write, no way to more", [repr(security)])


def status_of(pid):
    """Return the fields of a process's /proc/PID/status."""
    return dict(line.split(":\t", 1) for line in
                read("/proc/%d/status" % pid).splitlines() if ":\t" in line)


class Container(Daemon):
    """uncore serve in the manifest's container. If @folders is None, without the
    manifest's mounts and without the options --cgroups and --pods, which need them."""

    def __init__(self, root, sysfs, daemon_set, folders=None):  # pylint: disable=W0231
        pod = daemon_set["spec"]["template"]["spec"]
        security = security_of(daemon_set)
        arguments = pod["containers"][0]["args"]
        if folders is None:
            arguments = [argument for argument in arguments
                         if not argument.startswith(("--cgroups", "--pods"))]
        else:
            security["mounts"] = mounts_of(daemon_set, folders)
            for _, target in security["mounts"]:
                os.makedirs(root + target, exist_ok=True)
        self.port = PORT
        self.process = subprocess.Popen(
            [sys.executable, container.__file__, root, sysfs, json.dumps(security),
             container.PROGRAM, *arguments], stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, encoding="utf-8", env=ENVIRONMENT)
        deadline = time.monotonic() + PATIENCE
        while self.process.poll() is None and time.monotonic() < deadline:
            try:
                self.request("/livez")
                return
            except OSError:
                time.sleep(0.1)
        self.process.kill()
        raise RuntimeError("it does not serve: " + self.process.communicate()[1])


def test_running(tap, root, sysfs, daemon_set, machine=None):
    """Start the container with the manifest's arguments and rights: it counts, and the
    process has the two capabilities and nothing else."""
    security = security_of(daemon_set)
    with Container(root, sysfs, daemon_set) as daemon:
        samples = daemon.scrape()
        counts = [name for name, _ in samples if name == "uncore_memory_bytes_total"]
        tap.ok(value(samples, "uncore_up") == 1 and len(counts) >= 2, "it counts",
               sorted(name for name, _ in samples)[:3])
        if machine:
            test_exact(tap, machine, daemon, LABEL, "in a container")
        status = status_of(daemon.process.pid)
        mask = sum(1 << container.CAPABILITIES[name]
                   for name in security["capabilities"]["add"])
        tap.ok(int(status["CapEff"], 16) == int(status["CapPrm"], 16) ==
               int(status["CapBnd"], 16) == mask and status["NoNewPrivs"] == "1" and
               set(status["Uid"].split()) == {str(security["runAsUser"])} and
               set(status["Gid"].split()) == {str(security["runAsGroup"])},
               "with the two capabilities, as a user without any other right",
               ["%s: %s" % (name, status[name]) for name in (
                   "CapEff", "CapPrm", "CapBnd", "NoNewPrivs", "Uid", "Gid")])
        mounts = {line.split()[4]: line.split()[5] for line in
                  read("/proc/%d/mountinfo" % daemon.process.pid).splitlines()}
        tap.ok("ro" in mounts["/"].split(",") and "ro" in mounts["/sys"].split(","),
               "and its files can only be read", [repr(mounts)])
        status, output = daemon.end()
        tap.ok(status == 0, "SIGTERM ends it", output.splitlines())


def test_without(tap, root, sysfs, daemon_set):
    """A manifest that does not add the capabilities: uncore serve does not start."""
    security = {**security_of(daemon_set),
                "capabilities": {"drop": ["ALL"], "add": []}}
    result = subprocess.run(
        [sys.executable, container.__file__, root, sysfs, json.dumps(security),
         container.PROGRAM, "--json", "-d", "0.1"],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8",
        timeout=LIMIT, check=False, env=ENVIRONMENT)
    tap.ok(result.returncode != 0, "a container without the capabilities does not "
           "start", result.stdout.splitlines())


# --- a node with pods

# For each pod its container runtime, and the cgroup that the runtime creates.
PODS = (
    ("containerd", "/kubepods.slice/kubepods-burstable.slice/"
     "kubepods-burstable-pod%(slice)s.slice/cri-containerd-%(id)s.scope"),
    ("cri-o", "/kubepods.slice/kubepods-besteffort.slice/"
     "kubepods-besteffort-pod%(slice)s.slice/crio-%(id)s.scope"),
    ("docker", "/kubepods/burstable/pod%(uid)s/%(id)s"))
NODE, EXPORTER = "node-1", ("monitoring", "uncore-serve-x7k2p", "uncore")
# The relabelling that the Prometheus operator writes before a PodMonitor's own.
OPERATORS = (
    {"source_labels": ["__meta_kubernetes_namespace"], "target_label": "namespace"},
    {"source_labels": ["__meta_kubernetes_pod_container_name"],
     "target_label": "container"},
    {"source_labels": ["__meta_kubernetes_pod_name"], "target_label": "pod"},
    {"target_label": "job", "replacement": "monitoring/uncore-serve"},
    {"source_labels": ["__meta_kubernetes_pod_label_app_kubernetes_io_name"],
     "target_label": "job", "regex": "(.+)", "replacement": "${1}"},
    {"target_label": "endpoint", "replacement": "metrics"})
NAMES = {"sourceLabels": "source_labels", "targetLabel": "target_label"}


def scrape_config(monitor):
    """Return Prometheus' configuration for the exporter's pod, as the Prometheus operator
    generates it from the PodMonitor."""
    endpoint, = monitor["spec"]["podMetricsEndpoints"]
    namespace, pod, name = EXPORTER
    return json.dumps({"global": {"scrape_interval": "1s"}, "scrape_configs": [{
        "job_name": "podMonitor/monitoring/uncore-serve/0", "honor_labels": False,
        "static_configs": [{"targets": ["127.0.0.1:%d" % PORT], "labels": {
            "__meta_kubernetes_namespace": namespace,
            "__meta_kubernetes_pod_name": pod,
            "__meta_kubernetes_pod_container_name": name,
            "__meta_kubernetes_pod_node_name": NODE,
            "__meta_kubernetes_pod_label_app_kubernetes_io_name":
                monitor["metadata"]["name"]}}],
        "relabel_configs": [*OPERATORS, *(
            {NAMES.get(key, key): value for key, value in relabeling.items()}
            for relabeling in endpoint["relabelings"])]}]})


def make_pods(logs):
    """Create a cgroup and the kubelet's log file for each pod. Return
    {cgroup: (namespace, pod, container)}."""
    pods = {}
    for number, (runtime, path) in enumerate(PODS):
        uid = "0f8d3c1e-7a55-4b8f-9c39-3f1f3f6f2a1%d" % number
        ident = "%d" % number * 64
        cgroup = path % {"uid": uid, "slice": uid.replace("-", "_"), "id": ident}
        names = "team-%d" % number, "web-%s" % runtime, "nginx"
        os.makedirs(CGROUPS + cgroup)
        with open(os.path.join(logs, "%s_%s_%s-%s.log" % (
                names[1], names[0], names[2], ident)), "w", encoding="ascii"):
            pass
        pods[cgroup] = names
    return pods


def test_node(tap, root, daemon_set, monitor):
    """The series of each pod's cgroup have the pod's names in Prometheus; a cgroup that
    belongs to no pod has no such labels."""
    program, reason = find("prometheus")
    if not program:
        tap.skip("pods in Prometheus", reason)
        return
    other_cgroup = "/uncore-test.slice"
    with tempfile.TemporaryDirectory() as logs, \
            tempfile.TemporaryDirectory() as folder:
        os.chmod(logs, 0o755)
        pods = make_pods(logs)
        os.makedirs(CGROUPS + other_cgroup)
        prometheus = Prometheus(program, folder, config=scrape_config(monitor))
        with Container(root, "/sys", daemon_set, {"/var/log/containers": logs}) as \
                daemon, started(prometheus.command) as process:
            rounds = 0
            while not {*pods, other_cgroup} <= cgroups_in(daemon.fresh()) and rounds < 20:
                for cgroup in (*pods, other_cgroup):
                    work_in(cgroup)
                rounds += 1
            expr = 'uncore_cgroup_memory_bytes_total{socket="0",direction="read"}'
            answer = prometheus.wait_for(expr, lambda got: {*pods, other_cgroup} <= {
                labels["cgroup"] for labels, _ in got})
            shown = {labels["cgroup"]: labels for labels, _ in answer}
            for cgroup, names in pods.items():
                got = tuple(shown.get(cgroup, {}).get(name) for name in
                            ("namespace", "pod", "container"))
                tap.ok(got == names, "%s in Prometheus: %s/%s, %s" %
                       (names[1].removeprefix("web-"), *names), [repr(shown)])
            wrong = [labels for labels in shown.values()
                     if (labels["cgroup"] in pods) != ("pod" in labels) or
                     any(name.startswith("exported_") for name in labels) or
                     (labels["node"], labels["exporter_namespace"],
                      labels["exporter_pod"]) != (NODE, *EXPORTER[:2])]
            tap.ok(other_cgroup in shown and not wrong,
                   "%d other cgroups have no pod; all "
                   "have the node and the exporter's pod" % (len(shown) - len(pods)),
                   [repr(wrong)])
            process.terminate()
            daemon.end()
        for cgroup in (*pods, other_cgroup):
            path = CGROUPS + cgroup
            while path != CGROUPS:
                with contextlib.suppress(OSError):     # has cgroups of other pods
                    os.rmdir(path)
                path = os.path.dirname(path)


def guest():
    """Run the tests in a VM: exact counts, and a node with pods."""
    tap = Tap()
    # Debian's level 3 refuses perf_event_open with CAP_PERFMON, too.
    with open("/proc/sys/kernel/perf_event_paranoid", "w", encoding="ascii") as file:
        file.write("2")
    with Machine(tap) as machine, tempfile.TemporaryDirectory() as root:
        os.chmod(root, 0o755)
        container.copy(root)
        daemon_set, monitor = load("kubernetes/daemonset.yaml",
                                   "kubernetes/podmonitor.yaml")
        test_running(tap, root, "/sys", daemon_set, machine)
        test_without(tap, root, "/sys", daemon_set)
        hold_tracepoint()
        test_node(tap, root, daemon_set, monitor)
    tap.end()


def main():
    if sys.argv[1:] == ["guest"]:
        guest()
        return
    tap = Tap()
    daemon_set = test_objects(tap)
    test_rights(tap, security_of(daemon_set))
    if os.geteuid():
        tap.skip("the image", "this user may not build one")
        tap.end()
    if not shutil.which("mmdebstrap"):
        tap.skip("the image", "mmdebstrap is not installed")
        tap.end()
    release = re.search(r'^VERSION_ID="?(\d+)', read("/etc/os-release"), re.M)
    if not release or release[1] != container.last_stage()["release"]:
        tap.skip("the image", "the command is built on another release of Debian "
                 "than the image's")
        tap.end()
    with tempfile.TemporaryDirectory() as folder:
        root, sysfs = os.path.join(folder, "root"), os.path.join(folder, "sys")
        failed = container.build(root)
        if failed:
            tap.skip("the image", "no Debian mirror here: " + failed)
            tap.end()
        tap.ok(True, "the image's last stage is built")
        make_pmu(sysfs)
        os.chmod(folder, 0o755)
        test_running(tap, root, sysfs, daemon_set)
        test_without(tap, root, sysfs, daemon_set)
    tap.end()


if __name__ == "__main__":
    main()
