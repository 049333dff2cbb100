# SPDX-License-Identifier: MIT
"""Prometheus scrapes /metrics of a real build: metrics.py BUILDBEAT, in an empty directory."""
import json
import os
import re
import socket
import subprocess
import urllib.parse
import urllib.request

from serve_streams import BUILDBEAT, DEADLINE, Server, until

CONFIGURATION = """
global: {scrape_interval: 1s, scrape_timeout: 1s}
scrape_configs:
- job_name: build
  authorization: {credentials_file: token}
  static_configs: [{targets: ['127.0.0.1:%s']}]
"""
TASKS = 20


def free_port():
    """Prometheus does not say which port it got for 0."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Prometheus:
    def __init__(self, server):
        with open("prometheus.yml", "w") as f:
            f.write(CONFIGURATION % server.port)
        with open("token", "w") as f:
            f.write(server.token)
        self.port = free_port()
        self.process = subprocess.Popen(["prometheus", "--config.file=prometheus.yml", "--storage.tsdb.path=data",
                                         "--web.listen-address=127.0.0.1:%d" % self.port, "--log.level=error"],
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def __enter__(self):
        return self

    def __exit__(self, *failed):
        self.process.kill()
        self.process.wait()

    def ask(self, path, **parameters):
        assert self.process.poll() is None, "Prometheus has ended"
        url = "http://127.0.0.1:%d/api/v1/%s?%s" % (self.port, path, urllib.parse.urlencode(parameters))
        try:
            with urllib.request.urlopen(url, timeout=DEADLINE) as reply:
                return json.load(reply)["data"]
        except OSError:
            return None

    def value(self, series):
        found = (self.ask("query", query=series) or {"result": []})["result"]
        return float(found[0]["value"][1]) if len(found) == 1 else None


def text_of(server):
    q = urllib.request.Request("http://127.0.0.1:%s/metrics" % server.port,
                               headers={"Authorization": "Bearer " + server.token})
    with urllib.request.urlopen(q, timeout=DEADLINE) as reply:
        return reply.read().decode()


def good_text(server):
    """The rules of OpenMetrics; and promtool, which knows the older format: its counters have _total in
    their TYPE and HELP."""
    text = text_of(server)
    assert text.endswith("# EOF\n") and "\n\n" not in text
    types = dict(re.findall(r"^# TYPE (\S+) (\S+)$", text, re.M))
    assert set(types) == set(re.findall(r"^# HELP (\S+) .", text, re.M))
    for name, unit in re.findall(r"^# UNIT (\S+) (\S+)$", text, re.M):
        assert name.endswith("_" + unit), name
    for name in re.findall(r"^([a-z_]+)[{ ]", text, re.M):
        assert types.get(name) == "gauge" or types[name.removesuffix("_total")] == "counter", name
    older = re.sub(r"^(# (?:TYPE|HELP) )(\S+)", lambda m: m[1] + m[2] + "_total" * (types[m[2]] == "counter"),
                   text, flags=re.M)
    older = re.sub(r"^# (EOF|UNIT.*)\n", "", older, flags=re.M)
    tool = subprocess.run(["promtool", "check", "metrics"], input=older, capture_output=True, text=True)
    assert not tool.returncode, tool.stderr


def main():
    names = " ".join("t%d" % i for i in range(TASKS))
    with open("Makefile", "w") as f:
        f.write("all: last bad\n%s: ; @true\nbad: ; false\nlast: %s\n\t@until test -e go; do sleep 0.05; done\n"
                ".PHONY: all\n" % (names, names))
    env = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")}
    make = subprocess.Popen([BUILDBEAT, "record", "--no-git", "--", "make", "-s", "-k", "-j2"], env=env,
                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        until("no recording", lambda: os.path.exists("buildstats/latest/tasks.log"))
        recording = os.path.realpath("buildstats/latest")
        with Server(recording) as server, Prometheus(server) as p:
            until("not scraped while it runs", lambda:
                  p.value('buildbeat_tasks_ended_total{result="done"}') == TASKS and
                  p.value('buildbeat_tasks_ended_total{result="failed"}') == 1 and
                  p.value("buildbeat_active_tasks") == 1)
            assert p.value("cicd_pipeline_run_active") == 1 and p.value("up") == 1
            good_text(server)
            types = {k: (v[0]["type"], v[0]["unit"]) for k, v in p.ask("metadata").items()}
            # with or without _total, which depends on the version of Prometheus
            assert "counter" in [t for k, (t, _) in types.items() if k.startswith("buildbeat_tasks_ended")], types
            assert types["buildbeat_build_elapsed_seconds"] == ("gauge", "seconds")
            open("go", "w").close()
            assert make.wait(DEADLINE) == 2
            until("its end", lambda: p.value("buildbeat_build_exit_status") == 2)
            show = json.loads(subprocess.run([BUILDBEAT, "show", "--json", recording], capture_output=True,
                                             check=True).stdout)
            totals = show["totals"]
            for result in ("done", "failed", "killed"):
                assert p.value('buildbeat_tasks_ended_total{result="%s"}' % result) == totals["tasks_" + result]
            assert p.value("cicd_pipeline_run_active") == 0 and p.value("buildbeat_active_tasks") == 0
            assert abs(p.value("buildbeat_build_elapsed_seconds") - totals["wall_us"] / 1e6) < 1e-6
            assert abs(p.value("buildbeat_build_start_time_seconds") - show["build"]["start_wall_ns"] / 1e9) < 1e-2
            good_text(server)
        # the first reply of a new server, too
        with Server(recording) as server:
            assert 'executing"} 0\n' in text_of(server)
    finally:
        open("go", "w").close()
        make.wait(DEADLINE)


main()
