# SPDX-License-Identifier: MIT
"""Write a large C++ file, whose compilation needs some seconds and hundreds of MB:
python3 gen_compile.py CLASSES >FILE."""
import random
import sys

HEAD = """#include <algorithm>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <regex>
#include <sstream>
#include <string>
#include <tuple>
#include <unordered_map>
#include <variant>
#include <vector>
"""

CLASS = """
namespace n%(i)d {
struct Key { int a; std::string b; bool operator<(const Key &o) const { return std::tie(a, b) < std::tie(o.a, o.b); } };
template <class T, int N> struct Node : std::enable_shared_from_this<Node<T, N>> {
	std::map<Key, std::vector<T>> items; std::variant<int, std::string, T> value; std::function<T(const T &)> f;
	template <class F> auto each(F &&g) { for (auto &p : items) std::transform(p.second.begin(), p.second.end(), p.second.begin(), g); return items.size() + N; }
	T find(const Key &k, T d) { auto it = items.find(k); return it == items.end() || it->second.empty() ? f ? f(d) : d : it->second.front(); }
};
struct Value%(i)d { double x[%(w)d]; std::string s; Value%(i)d operator+(const Value%(i)d &o) const { Value%(i)d r = *this; for (int i = 0; i < %(w)d; i++) r.x[i] += o.x[i] * %(c)d; r.s += o.s; return r; } };
std::string use(int n) {
	Node<Value%(i)d, %(c)d> node; std::unordered_map<std::string, std::shared_ptr<Node<int, %(c)d>>> table; std::ostringstream out;
	for (int i = 0; i < n; i++) { node.items[Key{i, std::to_string(i)}].push_back(Value%(i)d{}); table[std::to_string(i * %(c)d)] = std::make_shared<Node<int, %(c)d>>(); }
	node.f = [n](const Value%(i)d &v) { return v + v; };
	auto total = node.each([](const Value%(i)d &v) { return v + v; });
	for (auto &p : table) out << p.first << p.second->find(Key{n, "x"}, %(c)d) << '\\n';
	std::vector<std::pair<int, Value%(i)d>> sorted; for (int i = 0; i < n; i++) sorted.emplace_back(i ^ %(c)d, Value%(i)d{});
	std::sort(sorted.begin(), sorted.end(), [](const auto &a, const auto &b) { return a.first < b.first; });
	switch (n %% 7) { case 0: return out.str(); case 1: return out.str() + std::to_string(total); default: return node.find(Key{1, "k"}, Value%(i)d{}).s + std::to_string(sorted.size()); }
}
}
"""

rng = random.Random(1)
print(HEAD)
for number in range(int(sys.argv[1])):
    print(CLASS % {"i": number, "w": rng.randint(2, 9), "c": rng.randint(1, 1000)})
