# SPDX-License-Identifier: GPL-2.0-or-later
"""
The manifests for Kubernetes, of the same tables as Prometheus' files. monitoring/
is a kustomize base: kubectl apply -k monitoring.
"""

import glob
import json
import os

PORT = 10331
CGROUPS = 50            # pods of a node that have series
USER = 65534
CAPABILITIES = "PERFMON", "BPF"
NAME = "uncore-serve"

DAEMON_SET = """\
apiVersion: apps/v1
kind: DaemonSet
metadata:
  name: %(name)s
  labels: &labels
    app.kubernetes.io/name: %(name)s
spec:
  selector:
    matchLabels: *labels
  updateStrategy:
    rollingUpdate:
      maxUnavailable: 10%%
  template:
    metadata:
      labels: *labels
    spec:
      automountServiceAccountToken: false
      nodeSelector:
        kubernetes.io/arch: amd64
        kubernetes.io/os: linux
      # Processors that are supported, where Node Feature Discovery labels nodes.
      affinity:
        nodeAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
            nodeSelectorTerms:
              - matchExpressions:
                  - key: feature.node.kubernetes.io/cpu-model.id
                    operator: DoesNotExist
              - matchExpressions:
                  - key: feature.node.kubernetes.io/cpu-model.vendor_id
                    operator: In
                    values: ["Intel"]
                  - key: feature.node.kubernetes.io/cpu-model.family
                    operator: In
                    values: ["%(family)s"]
                  - key: feature.node.kubernetes.io/cpu-model.id
                    operator: In
                    values: [%(models)s]
      tolerations:
        - operator: Exists
      securityContext:
        runAsNonRoot: true
        runAsUser: %(user)d
        runAsGroup: %(user)d
        seccompProfile:
          type: RuntimeDefault
      containers:
        - name: uncore
          image: localhost/uncore:latest
          args:
            - --listen=0.0.0.0:%(port)d
            - --cgroups=%(cgroups)d
            - --pods=/var/log/containers
          ports:
            - name: metrics
              containerPort: %(port)d
          securityContext:
            allowPrivilegeEscalation: false
            privileged: false
            readOnlyRootFilesystem: true
            capabilities:
              drop: ["ALL"]
              add: [%(capabilities)s]
          livenessProbe:
            httpGet:
              path: /livez
              port: metrics
            periodSeconds: 30
          readinessProbe:
            httpGet:
              path: /readyz
              port: metrics
            periodSeconds: 30
          resources:
            requests:
              cpu: 10m
              memory: 32Mi
            limits:
              memory: 128Mi
          volumeMounts:
            - name: cgroup
              mountPath: /host/cgroup
              readOnly: true
            - name: containers
              mountPath: /var/log/containers
              readOnly: true
      volumes:
        # Paths of the node's cgroups, by which pods are known.
        - name: cgroup
          hostPath:
            path: /sys/fs/cgroup
            type: Directory
        # Names of pods, in the names of files.
        - name: containers
          hostPath:
            path: /var/log/containers
            type: DirectoryOrCreate
"""

POD_MONITOR = """\
apiVersion: monitoring.coreos.com/v1
kind: PodMonitor
metadata:
  name: %(name)s
  labels:
    app.kubernetes.io/name: %(name)s
spec:
  # The job's name, by which alerts find targets that are down.
  jobLabel: app.kubernetes.io/name
  selector:
    matchLabels:
      app.kubernetes.io/name: %(name)s
  podMetricsEndpoints:
    - port: metrics
      interval: 30s
      relabelings:
        - sourceLabels: [__meta_kubernetes_pod_node_name]
          targetLabel: node
        # The operator gives each series the exporter's namespace, pod and container.
        # Cgroups have series with those of their pods, and others have none.
        - sourceLabels: [namespace]
          targetLabel: exporter_namespace
        - sourceLabels: [pod]
          targetLabel: exporter_pod
        - action: labeldrop
          regex: namespace|pod|container
"""

RULE = """\
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata:
  name: %(name)s
  labels:
    app.kubernetes.io/name: %(name)s
spec:
"""

KUSTOMIZATION = """\
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources:
  - kubernetes/daemonset.yaml
  - kubernetes/podmonitor.yaml
  - kubernetes/prometheusrule.yaml
# Grafana's sidecar loads what has this label.
configMapGenerator:
  - name: uncore-dashboards
    files:
      - grafana/uncore.json
      - grafana/uncore-fleet.json
      - grafana/uncore-pods.json
    options:
      disableNameSuffixHash: true
      labels:
        grafana_dashboard: "1"
"""


FAMILY = "6"


def models(events):
    """Of that family, which the driver supports."""
    found = set()
    for path in glob.glob(os.path.join(events, "*", "boxes.json")):
        with open(path, encoding="utf-8") as file:
            boxes = json.load(file)
        if boxes.get("Family") == FAMILY:
            found.add(int(boxes["Model"]))
    return ", ".join('"%d"' % model for model in sorted(found))


def manifests(head, groups, events):
    """{file: text}; @groups: of rules, as Prometheus' files have them; @events: the
    folder of the catalogue."""
    values = {"name": NAME, "user": USER, "port": PORT, "cgroups": CGROUPS,
              "family": FAMILY, "models": models(events),
              "capabilities": ", ".join('"%s"' % one for one in CAPABILITIES)}
    rules = "groups:\n" + "".join(
        text.split("groups:\n", 1)[1] for text in groups)
    return {
        "kustomization.yaml": head + KUSTOMIZATION,
        "kubernetes/daemonset.yaml": head + DAEMON_SET % values,
        "kubernetes/podmonitor.yaml": head + POD_MONITOR % values,
        "kubernetes/prometheusrule.yaml": head + RULE % values + "".join(
            "  " + line + "\n" if line else "\n" for line in rules.splitlines()),
    }
