# SPDX-License-Identifier: MIT
"""The tasks of all replies about one recording: replies_states.py ASK RECORDING

Prints their states, after a check that replies agree."""

import json
import subprocess
import sys

ASK, RECORDING = sys.argv[1:]
PATHS = ['/api/v1/now', '/api/v1/overview', '/api/v1/table', '/api/v1/table?state=running', '/api/v1/table?state=unfinished',
         '/api/v1/garbage', '/metrics']
KEYS = ['task', 'name', 'kind', 'directory', 'tool', 'state', 'exit_status', 'signal', 'hosting', 'pid', 'queued_us',
        'start_us', 'end_us']


def replies(paths):
    out = subprocess.run([ASK, RECORDING], input='\n'.join(paths).encode(), stdout=subprocess.PIPE, check=True).stdout
    for path in paths:
        head, out = out.split(b'\n', 1)
        status, length = map(int, head.split())
        assert status == 200, (path, out)
        yield out[:length].decode()
        out = out[length:]


*parts, metrics = replies(PATHS)
now, overview, table, running, unfinished, garbage = map(json.loads, parts)
states = [row['state'] for row in table['tasks']]
gauges = dict(line.rsplit(' ', 1) for line in metrics.splitlines() if line[0] != '#')

assert now['ended'] is not overview['is_running'] is table['is_running'], (now, overview)
for word in 'running', 'unfinished', 'queued':
    assert float(gauges['buildbeat_tasks{state="%s"}' % word]) == states.count(word), (word, states, metrics)
for word in 'done', 'failed', 'killed':
    assert now['tasks_' + word] == states.count(word), (word, states, now)
    assert float(gauges['buildbeat_tasks_ended_total{result="%s"}' % word]) == states.count(word), (word, metrics)
assert running['n_tasks'] == len(now['running']) == len(overview['running']) == states.count('running')
assert unfinished['n_tasks'] == states.count('unfinished')

same = {t['task']: {key: t[key] for key in KEYS} for t in table['tasks']}
first = next(iter(same))
task, graph, one = map(json.loads, replies(['/api/v1/task?task=' + first, '/api/v1/graph?task=' + first,
                                            '/api/v1/class?by=kind&count=1000&name=' + same[first]['kind']]))
for t in now['running'] + now['failures'] + overview['running'] + overview['failures'] + [task] + task['children'] + \
        [n for n in graph['nodes'] if n['more'] is None] + one['tasks']:
    assert {key: t[key] for key in KEYS} == same[t['task']], (t, same[t['task']])
# what waits for an output may begin later
assert garbage['is_running'] is table['is_running']
assert not garbage['is_running'] or not garbage['outputs']['known'] and not garbage['outputs']['items'], garbage
# the overview has what other replies have, and does not read earlier recordings itself
show, log, before, remaining, after = map(json.loads, replies(['/api/v1/show', '/api/v1/log', '/api/v1/overview', '/api/v1/remaining',
                                                                '/api/v1/overview']))
assert overview['output_recorded'] is log['recorded'], (overview, log)
assert overview['summary'].keys() == {'build', 'result', 'exit_status', 'signal', 'reason', 'complete', 'warnings', 'answer', 'totals',
                                      'parallelism', 'memory'}, overview['summary']
assert overview['summary']['build'] == show['build'] and overview['summary']['result'] == show['result'], (overview, show)
assert before['has_learnt'] is not before['is_running'] and after['has_learnt'] and after['remaining'] == remaining['remaining']
if overview['is_running']:
    changing = {'elapsed_us', 'events', 'samples'}
    assert {k: v for k, v in overview['now'].items() if k not in changing} == {k: v for k, v in now.items() if k not in changing}
    assert overview['pressure'] is not None and not overview['pressure'].keys() - {
        'cpu_some_percent', 'memory_some_percent', 'memory_full_percent', 'io_some_percent', 'io_full_percent'}, overview['pressure']
else:
    assert overview['now'] is None and overview['pressure'] is None, overview
    assert all(show[key] == value for key, value in overview['summary'].items()), (overview, show)

print('running' if overview['is_running'] else 'ended', *states)
