/* SPDX-License-Identifier: MIT */
/*
 * Names of code addresses, beside those of libdwfl and addr2line, in one run: the tables of 14
 * modules of a compiler, a linker and Python, and random addresses of their code. Each value is
 * the cheapest of several runs, CPU time.
 */
#include "base/array.h"
#include "symbols/symbol_cache.h"
#include "symbols/symbolizer.h"
#include "tests/recorded.h"
#include "tests/support.h"

#include <elfutils/libdwfl.h>
#include <inttypes.h>
#include <sys/resource.h>
#include <time.h>

#define LIB "/usr/lib/x86_64-linux-gnu/"
#define ADDRESSES 1000000
#define SLOW_ADDRESSES 2000	/* for the others */
#define RUNS 9

static const char *const candidates[] = {
	"/usr/lib/gcc/x86_64-linux-gnu/12/cc1plus", "/usr/bin/ld.bfd", "/usr/bin/as", "/usr/bin/python3.11",
	"/usr/bin/make", "/usr/bin/cmake", LIB "libstdc++.so.6", LIB "libc.so.6", LIB "libm.so.6",
	LIB "libgcc_s.so.1", LIB "libmpfr.so.6", LIB "libgmp.so.10", LIB "libisl.so.23", LIB "libzstd.so.1",
	LIB "libz.so.1", LIB "libelf.so.1", LIB "libssl.so.3", LIB "libcrypto.so.3", "/usr/bin/bash",
};

static struct module {
	const char *path;
	struct symbolizer s;
	uint64_t start, end;	/* of .text */
} module[14];
static size_t n_modules;

struct place { size_t module; uint64_t address; };
static struct place place[ADDRESSES];

static int64_t cpu_ns(int who)
{
	struct rusage usage;
	struct timespec t;

	if (who == RUSAGE_SELF) {
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
		return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
	}
	getrusage(who, &usage);
	return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * INT64_C(1000000000) +
	       (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * INT64_C(1000);
}

static void find_modules(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(candidates) && n_modules < ARRAY_SIZE(module); i++) {
		struct elf_file f;
		GElf_Shdr head;

		if (elf_file_open(&f, candidates[i]))
			continue;
		if (elf_file_section(&f, ".text", &head)) {
			module[n_modules] = (struct module){ .path = candidates[i], .start = head.sh_addr,
							     .end = head.sh_addr + head.sh_size };
			n_modules++;
		}
		elf_file_close(&f);
	}
}

static void choose_addresses(void)
{
	uint64_t state = 1;

	for (size_t i = 0; i < ADDRESSES; i++) {
		size_t at = random_below(&state, n_modules);

		place[i] = (struct place){ at, module[at].start +
					   random_below(&state, module[at].end - module[at].start) };
	}
}

static void close_all(void)
{
	for (size_t i = 0; i < n_modules; i++) {
		symbolizer_close(&module[i].s);
		module[i].s = (struct symbolizer){ 0 };
	}
}

static int64_t open_all(int cache_fd)
{
	int64_t start_ns = cpu_ns(RUSAGE_SELF);

	for (size_t i = 0; i < n_modules; i++) {
		module[i].s.files.path = module[i].path;
		if (symbolizer_open(&module[i].s, cache_fd))
			exit(1);
	}
	return cpu_ns(RUSAGE_SELF) - start_ns;
}

static double load_ms(int cache_fd)
{
	int64_t best_ns = INT64_MAX;

	for (int i = 0; i < RUNS; i++) {
		int64_t took_ns;

		close_all();
		took_ns = open_all(cache_fd);
		best_ns = took_ns < best_ns ? took_ns : best_ns;
	}
	return (double)best_ns / 1e6;
}

static double lookups_per_s(size_t *named, size_t *known)
{
	int64_t best_ns = INT64_MAX;

	for (int i = 0; i < RUNS; i++) {
		int64_t start_ns = cpu_ns(RUSAGE_SELF), took_ns;

		*named = *known = 0;
		for (size_t j = 0; j < ADDRESSES; j++) {
			uint64_t start;
			const char *name = symtab_find(&module[place[j].module].s.symtab,
						       place[j].address, &start);

			*named += name != NULL;
			*known += name || start;
		}
		took_ns = cpu_ns(RUSAGE_SELF) - start_ns;
		best_ns = took_ns < best_ns ? took_ns : best_ns;
	}
	return ADDRESSES / ((double)best_ns / 1e9);
}

static double dwfl_per_s(size_t *named)
{
	static const Dwfl_Callbacks callbacks = { .find_debuginfo = dwfl_standard_find_debuginfo,
						  .section_address = dwfl_offline_section_address };
	Dwfl *dwfl = dwfl_begin(&callbacks);
	Dwfl_Module *found[ARRAY_SIZE(module)] = { 0 };
	int64_t start_ns;
	GElf_Addr bias;

	dwfl_report_begin(dwfl);
	for (size_t i = 0; i < n_modules; i++)
		found[i] = dwfl_report_offline(dwfl, module[i].path, module[i].path, -1);
	dwfl_report_end(dwfl, NULL, NULL);
	for (size_t i = 0; i < n_modules; i++) {	/* its tables are read at the first look-up */
		dwfl_module_getelf(found[i], &bias);
		dwfl_module_addrname(found[i], bias + module[i].start);
	}
	*named = 0;
	start_ns = cpu_ns(RUSAGE_SELF);
	for (size_t j = 0; j < SLOW_ADDRESSES; j++) {
		dwfl_module_getelf(found[place[j].module], &bias);
		*named += dwfl_module_addrname(found[place[j].module], bias + place[j].address) != NULL;
	}
	start_ns = cpu_ns(RUSAGE_SELF) - start_ns;
	dwfl_end(dwfl);
	return SLOW_ADDRESSES / ((double)start_ns / 1e9);
}

/* Programs with the addresses of each module on their standard input. */
static double command_ms(const char *dir, bool ours)
{
	int64_t start_ns = cpu_ns(RUSAGE_CHILDREN);
	char command[1024];

	for (size_t i = 0; i < n_modules; i++) {
		if (ours)
			snprintf(command, sizeof command, TOP_BUILDDIR "/symbols/buildbeat-symbols"
				 " < %s/r%zu > /dev/null", dir, i);
		else
			snprintf(command, sizeof command, "addr2line -f -e %s < %s/a%zu > /dev/null",
				 module[i].path, dir, i);
		if (system(command))
			fprintf(stderr, "bench_symbols: failed: %s\n", command);
	}
	return (double)(cpu_ns(RUSAGE_CHILDREN) - start_ns) / 1e6;
}

static void write_addresses(const char *dir)
{
	for (size_t i = 0; i < n_modules; i++) {
		FILE *plain = fopen(support_path("%s/a%zu", dir, i), "w");
		FILE *request = fopen(support_path("%s/r%zu", dir, i), "w");

		fprintf(request, "module - %s\n", module[i].path);
		for (size_t j = 0; j < SLOW_ADDRESSES; j++) {
			if (place[j].module == i) {
				fprintf(plain, "0x%" PRIx64 "\n", place[j].address);
				fprintf(request, "a %" PRIx64 "\n", place[j].address);
			}
		}
		fclose(plain);
		fclose(request);
	}
}

TEST_UNTIMED(bench)
{
	const char *dir = support_tmpdir();
	size_t named, known, dwfl_named, bytes = 0;
	double fresh_ms, cached_ms, per_s, dwfl_s, ours_ms, addr2line_ms;
	int cache_fd;

	setenv("XDG_CACHE_HOME", dir, 1);
	cache_fd = symbol_cache_open();
	find_modules();
	choose_addresses();
	write_addresses(dir);
	fresh_ms = load_ms(-1);
	open_all(cache_fd);
	cached_ms = load_ms(cache_fd);
	for (size_t i = 0; i < n_modules; i++)
		bytes += module[i].s.symtab.size;
	per_s = lookups_per_s(&named, &known);
	dwfl_s = dwfl_per_s(&dwfl_named);
	ours_ms = command_ms(dir, true);
	addr2line_ms = command_ms(dir, false);

	printf("symbols: tables of %zu modules: %.1f ms, from the cache %.1f ms (bar 20 ms), %.1f MB\n",
	       n_modules, fresh_ms, cached_ms, (double)bytes / 1e6);
	printf("symbols: %.1f million addresses a second (bar 1), %.0f times those of libdwfl (%.0f)\n",
	       per_s / 1e6, per_s / dwfl_s, dwfl_s);
	printf("symbols: %.1f %% of random addresses have a name (libdwfl %.1f %%), %.1f %% a function\n",
	       100.0 * (double)named / ADDRESSES, 100.0 * (double)dwfl_named / SLOW_ADDRESSES,
	       100.0 * (double)known / ADDRESSES);
	printf("symbols: %d addresses, each module in its own process: buildbeat-symbols %.0f ms, "
	       "addr2line %.0f ms\n", SLOW_ADDRESSES, ours_ms, addr2line_ms);
	close(cache_fd);
	close_all();
}

int main(void)
{
	return support_main();
}
