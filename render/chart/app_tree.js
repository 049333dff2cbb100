/* SPDX-License-Identifier: MIT */
/*
 * Where the time went, as a tree: directory > target > phase > program. A node is an index; its
 * parent has a smaller one. Tasks that run a build of other directories, such as makes, are
 * leaves beside what they ran; tasks within a link, a recipe's task and the like are below it.
 */

const DIRECTORY = 0, TARGET = 1, PHASE = 2;
const THROUGH = ["make", "shell", "script", "other"];	/* kinds of hosts that only pass on */

function Tree() {
	this.parent = [-1];
	this.name = [""];
	this.kind = [DIRECTORY];
	this.ids = new Map();		/* texts to numbers */
	this.nodes = new Map();		/* of a parent, kind and name */
	this.named = new Int32Array(tasks.names.length).fill(-1);	/* the last target of a name */
	this.same = [];			/* of a target: another one of its name, or -1 */
}

/* There are as many of these as tasks: no map is as quick. */
Tree.prototype.target = function (parent, name) {
	const last = this.named[name];

	for (let node = last; node >= 0; node = this.same[node]) {
		if (this.parent[node] === parent)
			return node;
	}
	const node = this.parent.length;

	this.same[node] = last;
	this.named[name] = node;
	this.parent.push(parent);
	this.name.push(tasks.names[name]);
	this.kind.push(TARGET);
	return node;
};

Tree.prototype.id = function (text) {
	let id = this.ids.get(text);

	if (id === undefined) {
		id = this.ids.size;
		this.ids.set(text, id);
	}
	return id;
};

Tree.prototype.node = function (parent, kind, id, name) {
	const key = (parent * 4 + kind) * 2 ** 21 + id;
	let node = this.nodes.get(key);

	if (node === undefined) {
		node = this.parent.length;
		this.nodes.set(key, node);
		this.parent.push(parent);
		this.name.push(name);
		this.kind.push(kind);
		this.same[node] = -1;
	}
	return node;
};

Tree.prototype.directory = function (from, path) {
	const words = [];

	for (const w of path.split("/").filter(w => w && w !== ".")) {
		if (w === ".." && words.length && words[words.length - 1] !== "..")
			words.pop();
		else
			words.push(w);
	}
	if (path[0] === "/" && words.length)
		words[0] = "/" + words[0];
	return words.reduce((node, w) => this.node(node, DIRECTORY, this.id(w), w), from);
};

/* Below which node a task's directories are: the root, or the task whose build it is part of. */
function hostsOf(tree, at) {
	const base = new Int32Array(tasks.n), host = new Int32Array(tasks.n).fill(-1);
	const through = tasks.kinds.map(k => THROUGH.includes(k.name));

	return i => {
		const p = tasks.parent[i];

		if (p < 0 || p >= i)
			return 0;
		host[i] = through[tasks.kind[p]] ? host[p] : p;
		base[i] = host[i] < 0 ? 0 : at[host[i]];
		return base[i];
	};
}

/* Directories of tasks: most have one that another task had before. */
function directoriesOf(tree) {
	const known = new Map();
	let last_base = -1, last_place = -2, at = null;

	return (i, base) => {
		const name = tasks.names[tasks.name[i]], index = tasks.place[i];
		/* "pytest tests/unit" is a command, not a file */
		const last = name.lastIndexOf("/"), slash = name.lastIndexOf(" ", last) >= 0 ? -1 : last;

		if (base !== last_base || index !== last_place) {
			const key = base * 2 ** 20 + index + 1;

			last_base = base;
			last_place = index;
			at = known.get(key) || new Map();
			known.set(key, at);
		}
		const inside = slash < 0 ? "" : name.slice(0, slash || 1);
		let node = at.get(inside);

		if (node === undefined) {
			node = directoryNode(tree, base, index < 0 ? "" : tasks.places[index], inside);
			at.set(inside, node);
		}
		return node;
	};
}

/* What a link makes of temporary files needs no directory. */
function directoryNode(tree, base, place, inside) {
	if (head.recipes && place)
		return tree.node(base, DIRECTORY, tree.id(place), clean(withoutVersion(place)));
	if (inside[0] === "/")
		return base || tree.directory(0, inside);
	return tree.directory(base, base && base === hostPlace(tree, base, place) || !place ? inside :
		place + "/" + inside);
}

/* The node itself if the task at it ran in this place: that is not said again. */
function hostPlace(tree, base, place) {
	const p = tree.first[base];

	return p !== undefined && (tasks.place[p] < 0 ? "" : tasks.places[tasks.place[p]]) === place ? base : -1;
}

/* {parent, name, kind, n, at: the node of each task's own time, spans} */
function growTree() {
	const tree = new Tree(), n = tasks.n, at = new Int32Array(n);

	tree.first = [];		/* the first task of a target */
	const baseOf = hostsOf(tree, at), find_directory = directoriesOf(tree);

	for (let i = 0; i < n; i++) {
		const node = tree.target(find_directory(i, baseOf(i)), tasks.name[i]);

		at[i] = node;
		if (tree.first[node] === undefined)
			tree.first[node] = i;
	}
	tree.at = at;
	tree.leaf = at.slice();
	growPhases(tree);
	growPrograms(tree);
	tree.n = tree.parent.length;
	tree.parent = Int32Array.from(tree.parent);
	linkChildren(tree);
	return tree;
}

/* Phases and processes of tasks; of a task that ran a build, those beside its tasks. */
function growPhases(tree) {
	const from = new Int32Array(tasks.n).fill(2 ** 31 - 1), until = new Int32Array(tasks.n).fill(-1);
	const list = [];

	for (let i = 0; i < tasks.n; i++) {
		const p = tasks.parent[i];

		if (p >= 0 && p < i) {
			from[p] = Math.min(from[p], tasks.start[i]);
			until[p] = Math.max(until[p], tasks.end[i]);
		}
	}
	for (const p of phases) {
		if (p.task >= 0 && p.until > p.from && (p.from >= until[p.task] || p.until <= from[p.task]))
			list.push(p);
	}
	list.sort((a, b) => a.task - b.task || a.from - b.from || b.until - a.until);
	const around = [];

	tree.spans = [];
	for (const p of list) {
		while (around.length && (around[around.length - 1].task !== p.task ||
					 around[around.length - 1].until < p.until))
			around.pop();
		const outer = around[around.length - 1], name = clean(p.name);
		const span = { task: p.task, from: p.from, until: p.until, outer,
			       node: tree.node(outer ? outer.node : tree.at[p.task], PHASE, tree.id(name), name) };

		tree.spans.push(span);
		around.push(span);
	}
}

/* The programs of targets that have several. */
function growPrograms(tree) {
	const spanned = new Uint8Array(tasks.n), first = new Int32Array(tree.parent.length).fill(-1);
	const several = new Uint8Array(tree.parent.length);

	for (const s of tree.spans)
		spanned[s.task] = 1;
	for (let i = 0; i < tasks.n; i++) {
		const node = tree.at[i], program = tasks.program[i];

		if (first[node] < 0)
			first[node] = program;
		else if (first[node] !== program)
			several[node] = 1;
	}
	for (let i = 0; i < tasks.n; i++) {
		const program = tasks.programs[tasks.program[i]];

		if (several[tree.at[i]] && program && !spanned[i] && !(tasks.marks[i] & HOSTS))
			tree.leaf[i] = tree.node(tree.at[i], PHASE, tree.id(program), clean(program));
	}
}

function linkChildren(tree) {
	tree.child = new Int32Array(tree.n).fill(-1);
	tree.next = new Int32Array(tree.n).fill(-1);
	for (let node = tree.n - 1; node > 0; node--) {
		tree.next[node] = tree.child[tree.parent[node]];
		tree.child[tree.parent[node]] = node;
	}
}

/*
 * sum: the time of each node with all below it, in units, between two times, of the tasks that match.
 * Tasks that ran at the same time count one by one. Phases have no CPU time of their own.
 * task: of each target, phase or program the task with most time, -1: none.
 */
function weighTree(tree, from, until, of_cpu) {
	const own = ownCosts(from, until), time = (of_cpu ? own.cpu : own.wall).slice();
	const sum = new Float64Array(tree.n), most = new Float64Array(tree.n);
	const task = new Int32Array(tree.n).fill(-1);

	const add = (node, i, v) => {
		sum[node] += v;
		if (task[node] < 0 || time[i] > most[node]) {
			most[node] = time[i];
			task[node] = i;
		}
	};
	for (let i = 0; i < tasks.n; i++) {
		if (search.match && !search.match[i])
			time[i] = 0;
		add(tree.leaf[i], i, time[i]);
	}
	if (!of_cpu)
		weighSpans(tree, from, until, add);
	for (let node = tree.n - 1; node > 0; node--) {
		const parent = tree.parent[node];

		sum[parent] += sum[node];
		if (tree.kind[node] === PHASE && (task[parent] < 0 || most[node] > most[parent])) {
			most[parent] = most[node];
			task[parent] = task[node];
		}
	}
	return { sum, task };
}

/* A span takes its time from what is around it; of several at once the first. */
function weighSpans(tree, from, until, add) {
	const covered = new Map();

	for (const s of tree.spans) {
		const outer = s.outer || s.task, done = covered.get(outer);
		const a = Math.max(s.from, from), b = Math.min(s.until, until);

		if (b <= a || (search.match && !search.match[s.task]))
			continue;
		const hidden = Math.max(0, b - Math.max(a, done === undefined ? a : done));

		add(s.node, s.task, b - a);
		add(s.outer ? s.outer.node : tree.leaf[s.task], s.task, -hidden);
		covered.set(outer, Math.max(b, done === undefined ? b : done));
	}
}
