# SPDX-License-Identifier: MIT
"""The recipes of buildbeat-ci(7) and README.md work: their commands run in a place like a runner's
(tests/ci.py).

recipes.py SRCDIR       in the build directory

A recipe is a code block after a comment <!-- try: EXAMPLE -->, in a page a literal display after
.\\" try: LANGUAGE EXAMPLE. After "recorded" it needs a
recording, after "archived" an archive with a build of main. Files of GitHub and GitLab are parsed,
checked and run as their runners do; of Groovy the arguments of sh run. Docker is a stub that runs
the command here.
"""
import os
import re
import shutil
import sys
import tempfile

import ci

NEEDS = {"make": "make cc", "cmake": "cmake ninja cc", "meson": "meson ninja cc"}
DOCKER = """#!/bin/sh
while [ "$1" != buildbeat ]; do shift; done
shift
exec "$@"
"""
BEFORE = {
    "recorded": "buildbeat record -- make",
    "archived": 'buildbeat record -o ../earlier -- make && buildbeat archive --repo "$BUILDS" '
                "--host runner --branch main ../earlier/latest && git clean -qfdx",
}
GITLAB = {"CI_COMMIT_BRANCH": "main", "CI_MERGE_REQUEST_IID": "7",
          "CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "main"}


def github(place, doc, action):
    """(what is wrong, status, output)"""
    found, status, log = ci.check_workflow(doc), 0, ""
    for job in () if found else doc["jobs"].values():
        environment = dict(job.get("env", {}), BUILDS=place.environment["BUILDS"])
        run = ci.Job(place, action)
        status = status or run.run(job["steps"], {}, environment)
        log += run.log
        found += ["nothing is uploaded from " + path for path in run.uploaded
                  if not os.path.exists(path)]
    return found, status, log


def gitlab(place, doc):
    found, status, log = ci.check_gitlab(doc), 0, ""
    for job in () if found else doc.values():
        lines = job.get("before_script", []) + job["script"]
        variables = {k: re.sub(r"\$(\w+)", lambda m: GITLAB.get(m.group(1), ""), v)
                     for k, v in job.get("variables", {}).items()}
        status, said = place.run(["bash", "-euo", "pipefail", "-c", "\n".join(lines)],
                                 dict(GITLAB, CI_PROJECT_DIR=place.work, **variables))
        log += said
        artifacts = job.get("artifacts", {})
        for path in artifacts.get("paths", []) + list(artifacts.get("reports", {}).values()):
            if not os.path.exists(place.work + "/" + path):
                found.append("no artifact " + path)
    return found, status, log


def try_it(src, action, recipe, language, text):
    example, *words = recipe.split()
    if not all(shutil.which(p) for p in NEEDS[example].split()):
        return True
    with tempfile.TemporaryDirectory() as top:
        place = ci.Place(top, src, os.getcwd(), example)
        place.program("docker", DOCKER)
        found, status, log = [], 0, ""
        for word in words:
            status, log = place.run(["sh", "-euc", BEFORE[word]])
        if not status and language == "yaml":
            doc = ci.read(text)
            found, status, log = github(place, doc, action) if "jobs" in doc else gitlab(place, doc)
        elif not status:
            if language == "groovy":
                text = "\n".join(re.findall(r"\bsh '([^']*)'", text))
            status, log = place.run(["sh", "-euc", text])
        made = any(os.path.isdir(directory) for directory in (
            place.work + "/buildstats", top + "/builds/stats", top + "/runner/buildbeat"))
        if found or status or not made:
            print("this recipe failed with status %d: %s\n%s\n%s" % (
                status, "; ".join(found), text, log))
            return False
    return True


def unescape(display):
    return display.replace("\\(aq", "'").replace("\\-", "-").replace("\\&", "").replace("\\e", "\\")


def main():
    src = os.path.abspath(sys.argv[1])
    with open(src + "/README.md", encoding="utf-8") as f:
        text = f.read()
    with open(src + "/action.yml", encoding="utf-8") as f:
        action = ci.read(f.read())
    with open(src + "/man/buildbeat-ci.7", encoding="utf-8") as f:
        page = f.read()
    recipes = re.findall(r"<!-- try: (.*?) -->\n```([a-z]*)\n(.*?)^```$", text, re.S | re.M)
    recipes += [(example, language, unescape(body)) for language, example, body in
                re.findall(r'^\.\\" try: (\w+) (.*?)\n\.Bd [^\n]*\n(.*?)^\.Ed$', page, re.S | re.M)]
    bad = sum(not try_it(src, action, *recipe) for recipe in recipes)
    with open(src + "/examples/nightly/gitlab-ci.yml", encoding="utf-8") as f:
        found = ci.check_gitlab(ci.read(f.read()))
    for what in found:
        print("examples/nightly/gitlab-ci.yml: " + what)
    tried = [text for _, _, text in recipes]
    for display in re.findall(r"^\.Bd [^\n]*\n(.*?)^\.Ed$", page, re.S | re.M):
        if re.search(r"^ *(script|steps):", display, re.M) and unescape(display) not in tried:
            bad += 1
            print("buildbeat-ci.7: a YAML file is not tried:\n" + display)
    if not recipes:
        sys.exit("no recipes found")
    sys.exit(bool(bad or found))


main()
