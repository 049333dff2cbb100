# SPDX-License-Identifier: MIT
"""What files of CI systems may have, and a place like theirs to run what is in them.

The rules cover what our files use; a key that is not in a table is a finding.
"""
import os
import re
import shutil
import subprocess

import yaml

# key -> required
WORKFLOW = {"name": 0, "on": 1, "permissions": 0, "env": 0, "concurrency": 0, "jobs": 1}
EVENTS = {"schedule", "push", "pull_request", "workflow_dispatch"}
JOB = {"name": 0, "runs-on": 1, "needs": 0, "if": 0, "env": 0, "permissions": 0, "container": 0,
       "timeout-minutes": 0, "steps": 1}
STEP = {"id": 0, "name": 0, "if": 0, "uses": 0, "with": 0, "run": 0, "shell": 0, "env": 0,
        "working-directory": 0}
ACTION = {"name": 1, "description": 1, "author": 0, "inputs": 0, "outputs": 0, "runs": 1,
          "branding": 0}
INPUT = {"description": 1, "required": 0, "default": 0}
OUTPUT = {"description": 1, "value": 1}
GITLAB_JOB = {"script": 1, "before_script": 0, "after_script": 0, "rules": 0, "variables": 0,
              "artifacts": 0, "image": 0, "stage": 0, "tags": 0, "needs": 0, "cache": 0}
RULE = {"if": 1, "when": 0, "variables": 0}
ARTIFACTS = {"when": 0, "paths": 0, "expire_in": 0, "name": 0, "reports": 0}
REPORTS = {"junit": 0, "dotenv": 0}


class Strings(yaml.SafeLoader):
    """Scalars are strings, as `on` would be a boolean. A duplicate key is an error."""

    def construct_mapping(self, node, deep=False):
        seen = set()
        for key, _ in node.value:
            if key.value in seen:
                raise yaml.MarkedYAMLError(problem="duplicate key " + key.value,
                                           problem_mark=key.start_mark)
            seen.add(key.value)
        return super().construct_mapping(node, deep)


Strings.yaml_implicit_resolvers = {}


def read(text):
    return yaml.load(text, Strings)


def keys(found, what, value, allowed):
    """Whether it is a mapping; says which keys are missing or unknown."""
    if not isinstance(value, dict):
        found.append("%s is not a mapping" % what)
        return False
    found += ["%s: unknown key '%s'" % (what, k) for k in value if k not in allowed]
    found += ["%s: no key '%s'" % (what, k) for k in allowed if allowed[k] and k not in value]
    return True


def listed(found, what, value):
    if isinstance(value, list) and value:
        return value
    found.append("%s is not a list" % what)
    return []


def strings(found, what, value):
    if not isinstance(value, dict) or not all(isinstance(v, str) for v in value.values()):
        found.append("%s is not a mapping of strings" % what)


def check_steps(found, what, steps, composite):
    ids = set()
    for i, step in enumerate(listed(found, what, steps)):
        at = "%s, step %d" % (what, i + 1)
        if not keys(found, at, step, STEP):
            continue
        if ("run" in step) == ("uses" in step):
            found.append(at + ": exactly one of 'run' and 'uses' is required")
        if composite and "run" in step and "shell" not in step:
            found.append(at + ": 'run' in an action requires 'shell'")
        if "uses" in step and not re.fullmatch(r"[\w.-]+/[\w./-]+@[\w.-]+|\./\S*", step["uses"]):
            found.append("%s: '%s' is not OWNER/NAME@VERSION" % (at, step["uses"]))
        if "${{" in step.get("run", ""):
            found.append(at + ": an expression in the text of a script can be code; use env")
        for name in ("env", "with"):
            if name in step:
                strings(found, at + ", " + name, step[name])
        for used in re.findall(r"\bsteps\.([\w-]+)\.", repr(step)):
            if used not in ids:
                found.append("%s: no earlier step has the id '%s'" % (at, used))
        if "id" in step:
            if step["id"] in ids:
                found.append("%s: duplicate id '%s'" % (at, step["id"]))
            ids.add(step["id"])


def check_workflow(doc):
    found = []
    if not keys(found, "workflow", doc, WORKFLOW):
        return found
    on = doc.get("on")
    events = {on: None} if isinstance(on, str) else on
    for event in events if isinstance(events, (dict, list)) else [repr(on)]:
        if event not in EVENTS:
            found.append("on: unknown event '%s'" % event)
    if isinstance(on, dict) and "schedule" in on:
        for entry in listed(found, "on.schedule", on["schedule"]):
            field = r"(\*|\d+)(-\d+)?(/\d+)?(,\d+)*"
            if not re.fullmatch(" ".join([field] * 5), entry.get("cron", "")):
                found.append("on.schedule: cron needs five fields")
    for name, job in (doc.get("jobs") or {}).items():
        if keys(found, "job " + name, job, JOB):
            check_steps(found, "job " + name, job.get("steps"), False)
            if "env" in job:
                strings(found, "env of job " + name, job["env"])
    return found


def check_action(doc):
    found = []
    if not keys(found, "action", doc, ACTION):
        return found
    for kind, allowed in (("inputs", INPUT), ("outputs", OUTPUT)):
        for name, value in doc.get(kind, {}).items():
            if keys(found, "%s.%s" % (kind, name), value, allowed) and kind == "inputs":
                if (value.get("required") == "true") == ("default" in value):
                    found.append("inputs.%s: either required or with a default" % name)
    if keys(found, "runs", doc.get("runs"), {"using": 1, "steps": 1}):
        if doc["runs"].get("using") != "composite":
            found.append("runs.using is not composite")
        check_steps(found, "runs", doc["runs"].get("steps"), True)
    used = set(re.findall(r"\binputs\.([\w-]+)", repr(doc)))
    for name in used ^ set(doc.get("inputs", {})):
        found.append("input '%s' is not declared or not used" % name)
    return found


def check_gitlab(doc):
    found = []
    for name, job in doc.items() if isinstance(doc, dict) else [("the file", doc)]:
        if not keys(found, "job " + name, job, GITLAB_JOB):
            continue
        for script in ("script", "before_script", "after_script"):
            for line in listed(found, "%s of %s" % (script, name), job[script]) if script in job else ():
                if not isinstance(line, str):
                    found.append("%s of %s: a line is not a string: %r" % (script, name, line))
        for rule in listed(found, "rules of " + name, job["rules"]) if "rules" in job else ():
            keys(found, "rule of " + name, rule, RULE)
        if "variables" in job:
            strings(found, "variables of " + name, job["variables"])
        if "artifacts" in job and keys(found, "artifacts of " + name, job["artifacts"], ARTIFACTS):
            if job["artifacts"].get("when", "always") not in ("always", "on_success", "on_failure"):
                found.append("artifacts of %s: unknown 'when'" % name)
            if "reports" in job["artifacts"]:
                keys(found, "reports of " + name, job["artifacts"]["reports"], REPORTS)
    return found


class Place:
    """Like the container of a runner: a clone of an example as another user, with no network, its
    own processes, another HOME and no terminal. Without root the user stays the same."""

    USER = 12345

    def __init__(self, top, src, build, example):
        self.top, self.work = top, top + "/builds/project"
        os.chmod(top, 0o755)
        for directory in ("bin", "builds", "home", "runner"):
            os.mkdir(top + "/" + directory)
        self.environment = {
            "PATH": top + "/bin:" + os.environ["PATH"], "HOME": top + "/home", "CI": "true",
            # meson would look for a compiler cache
            "CC": "cc", "LANG": "C.UTF-8", "TMPDIR": top + "/runner", "BUILDS": top + "/home/builds.git",
        }
        self.program("buildbeat", '#!/bin/sh\nexec "%s/buildbeat" "$@"\n' % build)
        shutil.copytree(src + "/examples", top + "/examples")
        subprocess.run(["chmod", "-R", "u+w", top + "/examples"], check=True)
        # a smaller corpus
        for name in ("Makefile", "CMakeLists.txt", "meson.build"):
            path = "%s/examples/%s/%s" % (top, example, name)
            if os.path.exists(path):
                with open(path, encoding="utf-8") as f:
                    text = f.read().replace("4000000", "20000")
                with open(path, "w", encoding="utf-8") as f:
                    f.write(text)
        if example != "make":       # its sources are those of make
            shutil.copytree(top + "/examples/make", top + "/builds/make")
        self.enter = self.namespaces(build)
        commit = ["git", "-c", "user.name=ci", "-c", "user.email=ci@example.org", "-c",
                  "init.defaultBranch=main", "-c", "safe.directory=*"]
        origin = "%s/examples/%s" % (top, example)
        for command in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "first"]):
            subprocess.run(commit + ["-C", origin] + command, check=True)
        subprocess.run(commit + ["clone", "-q", origin, self.work], check=True)
        if self.enter[-1:] == ["--"]:
            subprocess.run(["chown", "-R", "%d:%d" % (self.USER, self.USER), top], check=True)

    def namespaces(self, build):
        """The command that enters them, or [] where that is not permitted."""
        own = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--net", "--mount-proc"]
        if os.geteuid() == 0:
            user = str(self.USER)
            enter = own + ["setpriv", "--reuid", user, "--regid", user, "--clear-groups",
                           "--no-new-privs", "--"]
        else:
            enter = own[:1] + ["--user", "--map-current-user"] + own[1:]
        try:
            r = subprocess.run(enter + [build + "/buildbeat", "--version"], check=False,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        except OSError:
            return []
        return [] if r.returncode else enter

    def program(self, name, text):
        with open(self.top + "/bin/" + name, "w", encoding="utf-8") as f:
            f.write(text)
        os.chmod(self.top + "/bin/" + name, 0o755)

    def run(self, command, environment=None, directory=None):
        """(status, output)"""
        r = subprocess.run(self.enter + command, cwd=directory or self.work, text=True,
                           env=dict(self.environment, **(environment or {})), errors="replace",
                           stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT, start_new_session=True, check=False)
        return r.returncode, r.stdout


# What the runner of GitHub starts for a value of shell:, and where there is none.
SHELLS = {"bash": ["bash", "--noprofile", "--norc", "-eo", "pipefail"], None: ["bash", "-e"]}


class Job:
    """Runs the steps of a job on GitHub, or of an action."""

    def __init__(self, place, action):
        self.place, self.action = place, action
        self.log, self.uploaded, self.steps = "", [], 0
        self.command_files = {}
        for name in ("GITHUB_OUTPUT", "GITHUB_PATH", "GITHUB_STEP_SUMMARY", "GITHUB_ENV"):
            self.command_files[name] = "%s/runner/%s" % (place.top, name)
            with open(self.command_files[name], "w", encoding="utf-8"):
                os.chmod(self.command_files[name], 0o666)

    def values(self, text, context):
        """Puts the value of each expression in it."""
        def value(m):
            if m.group(1) not in context:
                raise KeyError("unknown expression " + m.group(1))
            return context[m.group(1)]
        return re.sub(r"\$\{\{ *(.*?) *\}\}", value, text)

    def read_file(self, name):
        with open(self.command_files[name], encoding="utf-8") as f:
            return f.read()

    def run(self, steps, context, environment=None):
        """The status of the first step that failed, or 0."""
        status, context = 0, dict(context)
        for step in steps:
            always = "always()" in step.get("if", "")
            condition = re.sub(r"always\(\) *(&& *)?", "", step.get("if", ""))
            m = re.fullmatch(r"([\w.-]+) != ''", condition)
            if (status and not always) or (m and not context.get(m.group(1))):
                continue
            self.steps += 1
            for line in self.read_file("GITHUB_PATH").split():
                if not self.place.environment["PATH"].startswith(line):
                    self.place.environment["PATH"] = line + ":" + self.place.environment["PATH"]
            new = self.step(step, context, environment or {})
            for line in self.read_file("GITHUB_OUTPUT").splitlines():
                name, _, value = line.partition("=")
                context["steps.%s.outputs.%s" % (step.get("id"), name)] = value
            with open(self.command_files["GITHUB_OUTPUT"], "w", encoding="utf-8"):
                pass
            status = status or new
        return status

    def step(self, step, context, environment):
        uses = step.get("uses", "")
        given = {k: self.values(v, context) for k, v in step.get("with", {}).items()}
        if uses.startswith("actions/upload-artifact@"):
            path = os.path.join(self.place.work, given["path"])
            self.uploaded.append(path)
            return 0 if os.path.exists(path) else 1
        if re.match(r"[\w.-]+/buildbeat@", uses):
            inner = {"github.action_path": "/nonexistent", "runner.temp": self.place.top + "/runner"}
            for name, value in self.action["inputs"].items():
                inner["inputs." + name] = given.get(name, value.get("default", ""))
            return self.run(self.action["runs"]["steps"], inner, environment)
        if uses:
            return 0        # checkout: the clone is there
        script = self.place.top + "/runner/script"
        with open(script, "w", encoding="utf-8") as f:
            f.write(step["run"] + "\n")
        own = {k: self.values(v, context) for k, v in step.get("env", {}).items()}
        where = self.values(step.get("working-directory", "."), context)
        status, said = self.place.run(
            SHELLS[step.get("shell")] + [script], dict(environment, **self.command_files, **own),
            os.path.join(self.place.work, where))
        self.log += "$ %s\n%s" % (step["run"], said)
        return status
