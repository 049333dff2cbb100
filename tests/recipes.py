# SPDX-License-Identifier: MIT
"""The recipes of README.md work: their commands run in a copy of an example.

recipes.py SRCDIR       in the build directory

A recipe is a code block after a comment <!-- try: EXAMPLE -->, or <!-- try: EXAMPLE recorded -->
for one that needs a recording. What runs of YAML are the items of script: and the values of
run:, of Groovy the arguments of sh. Docker is a stub that runs the command here.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

NEEDS = {"make": "make cc", "cmake": "cmake ninja cc", "meson": "meson ninja cc"}
DOCKER = """#!/bin/sh
while [ "$1" != buildbeat ]; do shift; done
shift
exec "$@"
"""


def commands_of_yaml(text):
    lines, out, i = text.split("\n"), [], 0
    in_script = None
    while i < len(lines):
        line = lines[i]
        indent = len(line) - len(line.lstrip())
        m = re.match(r"\s*(?:- )?run: (.*)", line)
        if in_script is not None and (indent <= in_script or not line.lstrip().startswith("- ")):
            in_script = None
        if m and m.group(1) == "|":
            i += 1
            while i < len(lines) and len(lines[i]) - len(lines[i].lstrip()) > indent + 2:
                out.append(lines[i].strip())
                i += 1
            continue
        if m:
            out.append(m.group(1))
        elif re.match(r"\s*script:$", line):
            in_script = indent
        elif in_script is not None:
            out.append(line.strip()[2:])
        i += 1
    return "\n".join(out)


def commands_of(language, text):
    if language == "yaml":
        return commands_of_yaml(text)
    if language == "groovy":
        return "\n".join(re.findall(r"\bsh '([^']*)'", text))
    return text


def try_it(src, build, recipe, language, text):
    example, *words = recipe.split()
    commands = commands_of(language, text)
    if not all(shutil.which(p) for p in NEEDS[example].split()):
        return True
    with tempfile.TemporaryDirectory() as top:
        os.mkdir(top + "/bin")
        os.symlink(build + "/buildbeat", top + "/bin/buildbeat")
        with open(top + "/bin/docker", "w") as f:
            f.write(DOCKER)
        os.chmod(top + "/bin/docker", 0o755)
        shutil.copytree(src + "/examples", top + "/examples")
        subprocess.run(["chmod", "-R", "u+w", top + "/examples"], check=True)
        work = top + "/examples/" + example
        # a smaller corpus
        for name in ("Makefile", "CMakeLists.txt", "meson.build"):
            if os.path.exists(work + "/" + name):
                with open(work + "/" + name) as f:
                    changed = f.read().replace("4000000", "20000")
                with open(work + "/" + name, "w") as f:
                    f.write(changed)
        environment = dict(os.environ, PATH=top + "/bin:" + os.environ["PATH"], HOME=top,
                           BUILDS=top + "/builds.git", GITHUB_STEP_SUMMARY=top + "/summary.md",
                           CI_COMMIT_BRANCH="main")
        if "recorded" in words:
            commands = "buildbeat record -- make\n" + commands
        r = subprocess.run(["sh", "-euc", commands], cwd=work, env=environment, text=True,
                           stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        made = os.listdir(work + "/buildstats") if os.path.isdir(work + "/buildstats") else []
        if r.returncode or not commands.strip() or not made:
            print("README.md: this recipe failed with status %d:\n%s\n%s" % (r.returncode, commands, r.stdout))
            return False
    return True


def main():
    src, build = os.path.abspath(sys.argv[1]), os.getcwd()
    with open(src + "/README.md", encoding="utf-8") as f:
        text = f.read()
    recipes = re.findall(r"<!-- try: (.*?) -->\n```([a-z]*)\n(.*?)^```$", text, re.S | re.M)
    bad = sum(not try_it(src, build, *recipe) for recipe in recipes)
    if not recipes:
        sys.exit("README.md: no recipes found")
    sys.exit(bad > 0)


main()
