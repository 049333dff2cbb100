# SPDX-License-Identifier: MIT
# What protoc prints of a message, for the tests of formats of protobuf.
import os
import re
import subprocess


class Wrong(Exception):
    pass


def check(condition, what):
    if not condition:
        raise Wrong(what)


ESCAPES = {"n": 10, "t": 9, "r": 13, '"': 34, "'": 39, "\\": 92}


def unquote(text):
    out = bytearray()
    for octal, letter, plain in re.findall(r'\\([0-7]{3})|\\(.)|([^\\]+)', text[1:-1]):
        if octal:
            out.append(int(octal, 8))
        elif letter:
            out.append(ESCAPES[letter])
        else:
            out += plain.encode()
    return bytes(out)


def parse(lines):
    """Fields in a dictionary of lists; a text is bytes, a number a string."""
    message = {}
    for line in lines:
        line = line.strip()
        if line == "}":
            return message
        if line.endswith("{"):
            message.setdefault(line[:-1].strip(), []).append(parse(lines))
        else:
            key, value = line.split(": ", 1)
            message.setdefault(key, []).append(unquote(value) if value[0] == '"' else value)
    return message


def decode(proto, message, path):
    with open(path, "rb") as f:
        r = subprocess.run(["protoc", "-I", os.path.dirname(proto), "--decode=" + message,
                            os.path.basename(proto)], stdin=f, capture_output=True)
    check(r.returncode == 0 and not r.stderr, r.stderr.decode())
    text = r.stdout.decode()
    check(not re.search(r"^\s*\d+[:{ ]", text, re.M), "a field that the schema does not have")
    return parse(iter(text.splitlines()))
