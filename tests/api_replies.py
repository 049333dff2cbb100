# SPDX-License-Identifier: MIT
"""Replies of the live server in files here, compared: api_replies.py TEST, of check_api_graph or
check_api_tracker."""
import glob
import json
import statistics
import sys


def load(name):
    with open(name + ".json", encoding="utf-8") as file:
        return json.load(file)


def around_a_task():
    g = load('b')
    names = [n['name'] for n in g['nodes']]
    assert sorted(names) == ['a', 'b', 'c', 'd'], names
    edges = {(names[e['from']], names[e['to']]) for e in g['edges'] if e['kind'] == 'target'}
    assert edges == {('d', 'c'), ('c', 'b'), ('b', 'a')}, edges
    layer = {n['name']: n['layer'] for n in g['nodes']}
    assert layer['d'] < layer['c'] < layer['b'] < layer['a'], layer
    assert {n['name']: n['distance'] for n in g['nodes']} == {'a': 1, 'b': 0, 'c': -1, 'd': -2}
    assert (g['needs'], g['needed_by'], g['hidden']) == (1, 1, 0)
    for n in g['nodes']:
        assert 0 <= n['x'] <= g['width'] - g['node_width'] and 0 <= n['y'] <= g['height'] - g['node_height']
        assert n['state'] == 'done' and n['task'] and n['wall_us'] >= 0
    up = load('up')
    assert sorted(n['name'] for n in up['nodes']) == ['b', 'c']
    one = load('one')
    tasks = [n for n in one['nodes'] if n['more'] is None]
    assert [n['name'] for n in tasks] == ['c'] and one['hidden'] == 3, one
    assert sorted((n['distance'], n['more']) for n in one['nodes'][1:]) == [(-1, 1), (1, 2)], one


def what_need_not_be():
    g = load('garbage')
    c = g['cycles']
    assert c['has_output'] and c['n_items'] == 1 and c['n_reported'] == 1, c
    i = c['items'][0]
    assert sorted(i['names']) == ['a', 'b', 'c'] and i['n_objects'] == 3 and i['n_tasks'] == 3 and i['whole'], i
    o = g['outputs']
    assert o['known'] and sorted(x['name'] for x in o['items']) == ['a', 'unread'], o
    cycle = load('cycle')
    names = [n['name'] for n in cycle['nodes']]
    edges = {(names[e['from']], names[e['to']], e['kind']) for e in cycle['edges']}
    assert edges == {('a', 'c', 'reported'), ('c', 'b', 'recorded'), ('b', 'a', 'recorded')}, edges
    assert sum(e['upwards'] for e in cycle['edges']) == 1
    p = g['processes']
    assert p['n_recorded'] > 5, p
    if p['n_items']:
        assert any(x['command'] == 'sleep 1' and x['of']['name'] == 'd' for x in p['items']), p


def agrees_with_show():
    show = load('show')
    views = [load(f[:-5]) for f in sorted(glob.glob('*-*.json'))]
    assert len(views) == 30
    for v in views:
        what = v['metric'], v['by']
        assert len(v['total']) == v['points'] <= 300, what
        own = [s for s in v['series'] if s['role'] != 'buildbeat']
        for i, total in enumerate(v['total']):
            parts = sum(s['values'][i] for s in own)
            assert abs(parts - total) <= 6 + 1e-3 * total, (what, i, parts, total)
        assert max(v['total']) == v['total'][v['peak']['point']], what
        assert sum(s['role'] == 'group' for s in v['series']) <= 5, what
        of = {s['name']: s['colour'] for s in v['series']}
        assert v['by'] != 'kind' or of.get('compile', 0) == 0, of
        assert v['by'] == 'kind' or all(c is None for c in of.values()), of
        span = v['until_us'] - v['from_us']
        if v['metric'] == 'memory':
            assert v['peak']['total'] == show['memory']['tasks_peak_kb'] * 1024, v['peak']
            assert v['peak']['time_us'] == show['memory']['tasks_peak_time_us'], v['peak']
        if v['metric'] == 'running':
            assert abs(v['mean'] * span - show['parallelism']['task_wall_us']) < span / 500, what
        if v['metric'] == 'cpu':
            assert abs(v['mean'] * span - show['totals']['cpu_us']) < span / 5000, what


def classes_and_instances():
    show = load('show')
    kinds = {k['kind']: k for k in show['kinds']}
    classes = load('classes')
    assert abs(sum(c['share'] for c in classes['classes']) - 1) < 1e-3
    assert {c['name'] for c in classes['classes']} <= set(kinds)
    a, b, c = map(load, 'abc')
    tasks = a['tasks'] + b['tasks']
    assert len({t['task'] for t in tasks}) == len(tasks) == min(2000, a['n_tasks'])
    assert a['n_tasks'] == kinds['compile']['tasks'], a['n_tasks']
    assert a['values']['wall_us']['count'] == a['n_tasks']
    starts = [t['start_us'] for t in tasks]
    assert starts == sorted(starts)
    if len(tasks) == a['n_tasks']:
        walls = sorted(t['wall_us'] for t in tasks)
        w = a['values']['wall_us']
        assert (w['min'], w['max'], w['sum']) == (walls[0], walls[-1], sum(walls))
        assert w['sum'] == kinds['compile']['wall_us'], w
        assert w['median'] == int(statistics.median(walls)) and w['mean'] == sum(walls) // len(walls)
        assert [t['wall_us'] for t in c['tasks']] == walls[:-8:-1]
    mean = next(k for k in classes['classes'] if k['name'] == 'compile')['total']
    over = [p['total'] for p in b['over_time']]
    assert abs(sum(over) / len(over) - mean) < 1e-2, (sum(over) / len(over), mean)


globals()[sys.argv[1]]()
