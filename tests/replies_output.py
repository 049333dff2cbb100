# SPDX-License-Identifier: MIT
"""Windows of a build's output, of check_replies: replies_output.py ASK DIRECTORY."""
import json
import random
import subprocess
import sys

SERVER = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def ask(path, **query):
    text = path + "?" + "&".join("%s=%s" % q for q in query.items())
    SERVER.stdin.write(text.encode() + b"\n")
    SERVER.stdin.flush()
    status, size = map(int, SERVER.stdout.readline().split())
    body = SERVER.stdout.read(size)
    assert status == 200, (text, body)
    return json.loads(body)


def everything(**query):
    lines, first = [], ask("/api/v1/log", count=2000, **query)
    for at in range(0, first["n_lines"], 2000):
        lines += ask("/api/v1/log", **{"from": at}, count=2000, **query)["lines"]
    return lines, first["n_lines"]


def main():
    lines, n = everything(width=400)
    assert [l["line"] for l in lines] == list(range(1, n + 1)), n
    draw = random.Random(7)
    for at in [draw.randrange(n) for _ in range(200)] + [0, n - 1]:
        count = draw.choice((1, 3, 700))
        window = ask("/api/v1/log", **{"from": at}, count=count, width=400)
        assert window["lines"] == lines[at:at + count] and window["n_lines"] == n, at
    assert not ask("/api/v1/log", **{"from": n})["lines"]

    # the parts of a long line, in place of its beginning
    long = next(l for l in lines if l["text"].startswith("xxx"))
    assert long["continues"] and len(long["text"]) == 400, long
    whole = ask("/api/v1/log", **{"from": long["line"] - 1}, count=1)["lines"]
    assert "".join(l["text"] for l in whole) == 200000 * "x" and not whole[-1]["continues"], len(whole)
    assert [l["text"] for l in lines if "begun" in l["text"]] == ["begun more"]

    # colours stay if they are asked for, and nothing is shortened within them
    red = next(l for l in lines if l["text"].startswith("red"))
    shown = ask("/api/v1/log", **{"from": red["line"] - 1}, count=1, colours=1)["lines"][0]["text"]
    assert shown.startswith("\033[31mred") and shown.endswith("\033[0m") and "\0" not in shown, shown
    for width in range(1, 12):
        text = ask("/api/v1/log", **{"from": red["line"] - 1}, count=1, colours=1, width=width)["lines"][0]["text"]
        assert text in ("", "\033[31m" + text[5:]) and shown.startswith(text), (width, text)

    # each line belongs to one task or to none, in order
    tasks = ask("/api/v1/log/tasks")
    assert (tasks["n_lines"], tasks["n_tasks"], tasks["n_failed"]) == (n, len(tasks["tasks"]), 1), tasks
    assert tasks["tasks"][0]["name"] == "b" and tasks["tasks"][0]["state"] == "failed", tasks
    error = next(l["line"] for l in lines if l.get("is") == "error")
    assert tasks["error_lines"][0] == tasks["tasks"][0]["error_line"] == error, (error, tasks)
    rest = list(lines)
    for task in [*tasks["tasks"], {"task": "-", "n_lines": n - tasks["n_with_task"]}]:
        own, of_task = everything(task=task["task"], width=400)
        wanted = [l for l in lines if (l["task"] or {"task": "-"})["task"] == task["task"]]
        assert own == wanted and of_task == len(own) == task["n_lines"], task
        assert not own or task.get("first_line", own[0]["line"]) == own[0]["line"], task
        rest = [l for l in rest if l not in own]
    assert not rest, rest

    with_text, found = everything(filter="99", width=400)
    assert with_text == [l for l in lines if "99" in l["text"]] and found == len(with_text), found
    of_both, _ = everything(filter="99", task=tasks["tasks"][0]["task"], width=400)
    assert of_both == [l for l in with_text if (l["task"] or {"task": ""})["task"] == tasks["tasks"][0]["task"]]
    print("same")


main()
