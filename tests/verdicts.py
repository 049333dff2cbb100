#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reads what check writes as other programs do.

usage: verdicts.py junit XML         the counts agree with the cases; prints the suites' counts
       verdicts.py json JSON         the counts agree with the findings; prints them
       verdicts.py limits XML JSON   each limit has a case, which agrees; prints which are exceeded
"""
import json
import sys
import xml.etree.ElementTree


def suites(path):
    return xml.etree.ElementTree.parse(path).getroot()


def junit(path):
    top = suites(path)
    assert top.tag == "testsuites", top.tag
    for suite in top:
        cases = suite.findall("testcase")
        assert len(cases) == int(suite.get("tests")), len(cases)
        for kind, count in (("failure", "failures"), ("skipped", "skipped")):
            assert len(suite.findall("testcase/" + kind)) == int(suite.get(count)), kind
        assert suite.get("errors") == "0" and suite.get("timestamp")
        assert all(c.get("name") and c.get("classname") and c.get("time") for c in cases)
        print(suite.get("failures"), suite.get("skipped"), cases[0].get("classname"))


def verdict(path):
    with open(path) as file:
        found = json.load(file)
    worse = [f for f in found["findings"] if f["worse"] and f["of"] != "host"]
    for state in "confirmed", "known", "suspected":
        assert found[state] == sum(f["state"] == state for f in worse), state
    for f in found["findings"]:
        assert f["interval"][0] <= f["effect"] <= f["interval"][1]
        assert f["false_rate"] <= found["rate"]
    groups = [g for g in found["groups"] if g["fails"]]
    assert found["causes"] == len({g["cause"] for g in groups}) <= len(groups)
    print(found["causes"], len(groups) - found["causes"] + found["known"] + found["suspected"], found["ref"])


def limits(xml_path, json_path):
    with open(json_path) as file:
        listed = json.load(file)["limits"]
    cases = list(suites(xml_path).iter("testcase"))
    assert len({(c.get("classname"), c.get("name")) for c in cases}) == len(cases)
    cases = [c for c in cases if c.get("classname").endswith("/limits")]
    assert len(cases) == len(listed) == 3, len(cases)
    for case, limit in zip(cases, listed):
        assert case.get("name").startswith((limit["tasks"] or "build") + ": ")
        assert (case.find("failure") is not None) == bool(limit["exceeded"])
        assert (case.find("skipped") is not None) == (limit["values"] == 0)
        assert all(v["value"] > limit["limit"] for v in limit["exceeded"])
        assert limit["of"] == ("task" if limit["tasks"] else "build")
    print([len(limit["exceeded"]) > 0 for limit in listed])


{"junit": junit, "json": verdict, "limits": limits}[sys.argv[1]](*sys.argv[2:])
