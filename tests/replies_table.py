# SPDX-License-Identifier: MIT
"""/api/v1/table beside sorting and filtering all of its rows here: replies_table.py ASK RECORDING"""

import json
import subprocess
import sys

ASK, RECORDING = sys.argv[1:]

server = subprocess.Popen([ASK, RECORDING], stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def ask(query, path='/api/v1/table?'):
    server.stdin.write((path + query + '\n').encode())
    server.stdin.flush()
    status, length = map(int, server.stdout.readline().split())
    body = server.stdout.read(length)
    assert status == 200, (query, body)
    return json.loads(body)


def ordered(values, down):
    known = [v for v in values if v is not None]
    return sorted(known, reverse=down) == known and values[:len(known)] == known


every = ask('count=1000')
rows = {row['task']: row for row in every['tasks']}
assert every['n_all'] == every['n_tasks'] == len(rows) > 400

keys = {v['word']: v['key'] for v in ask('', '/api/v1/')['values']}
assert set(every['known']) == {w for w, key in keys.items() if any(row[key] is not None for row in rows.values())}
for word, key in {'name': 'name', 'kind': 'kind', **keys}.items():
    for sign in '', '-':
        whole = ask('count=1000&sort=' + sign + word)['tasks']
        assert {row['task']: row for row in whole} == rows, word
        if word != 'name':      # whose place is compared apart
            assert ordered([row[key] for row in whole], sign == '-'), (sign, word)
        parts = sum((ask('from=%d&count=97&sort=%s%s' % (i, sign, word))['tasks']
                     for i in range(0, len(rows), 97)), [])
        assert parts == whole, (sign, word)

for text in '3', 'CORE', '.o', 'nothing of it':
    some = ask('count=1000&filter=' + text)
    found = {row['task'] for row in some['tasks']}
    assert some['n_tasks'] == len(found)
    assert found >= {t for t, row in rows.items() if text.lower() in (row['name'] + '\n' + row['kind']).lower()}, text
    assert bool(found) == (text != 'nothing of it')
server.stdin.close()
assert server.wait() == 0
