# SPDX-License-Identifier: MIT
"""The states of tasks in all replies about one recording: replies_states.py ASK RECORDING

Prints them, after a check that replies agree."""

import json
import subprocess
import sys

ASK, RECORDING = sys.argv[1:]
PATHS = ['/api/v1/now', '/api/v1/overview', '/api/v1/table', '/api/v1/table?state=running', '/api/v1/table?state=unfinished',
         '/api/v1/garbage', '/metrics']


def replies():
    out = subprocess.run([ASK, RECORDING], input='\n'.join(PATHS).encode(), stdout=subprocess.PIPE, check=True).stdout
    for path in PATHS:
        head, out = out.split(b'\n', 1)
        status, length = map(int, head.split())
        assert status == 200, (path, out)
        yield out[:length].decode()
        out = out[length:]


*parts, metrics = replies()
now, overview, table, running, unfinished, garbage = map(json.loads, parts)
states = [row['state'] for row in table['rows']]
gauges = dict(line.rsplit(' ', 1) for line in metrics.splitlines() if line[0] != '#')

assert now['ended'] is not overview['is_running'] is table['is_running'], (now, overview)
for word in 'running', 'unfinished', 'queued':
    assert float(gauges['buildbeat_tasks{state="%s"}' % word]) == states.count(word), (word, states, metrics)
for word in 'done', 'failed', 'killed':
    assert now['tasks_' + word] == states.count(word), (word, states, now)
    assert float(gauges['buildbeat_tasks_ended_total{result="%s"}' % word]) == states.count(word), (word, metrics)
assert running['matches'] == len(now['running']) == len(overview['running']) == states.count('running')
assert unfinished['matches'] == states.count('unfinished')
# what waits for an output may begin later
assert garbage['running'] is table['is_running']
assert not garbage['running'] or not garbage['outputs']['known'] and not garbage['outputs']['items'], garbage
print('running' if overview['is_running'] else 'ended', *states)
