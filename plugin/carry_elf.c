/* SPDX-License-Identifier: MIT */
#include "plugin/carry_elf.h"

#include "base/array.h"
#include "base/minmax.h"

#include <link.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#define DYNAMIC_MAX 1024	/* entries */
#define DYNAMIC_CHUNK 16
#define NEEDED_MAX 64
#define NAME_MAX_LEN 64		/* of a library; the known ones are shorter */
#define CHAIN_MAX 1024

/* Runtimes */

bool carry_is_runtime(const char *name, size_t len)
{
	static const char *const libraries[] = {
		"libasan", "libtsan", "liblsan", "libhwasan", "libmsan", "libubsan", "librtsan",
		"libtysan", "libnsan", "libdfsan",
	};
	static const char llvm[] = "libclang_rt.", builtins[] = "libclang_rt.builtins";
	const char *slash = memrchr(name, '/', len);

	if (slash) {
		len -= (size_t)(slash + 1 - name);
		name = slash + 1;
	}
	if (len >= sizeof llvm - 1 && !memcmp(name, llvm, sizeof llvm - 1))
		return len < sizeof builtins - 1 || memcmp(name, builtins, sizeof builtins - 1);
	for (size_t i = 0; i < ARRAY_SIZE(libraries); i++) {
		size_t n = strlen(libraries[i]);

		if (len > n && !memcmp(name, libraries[i], n) &&
		    (name[n] == '.' || name[n] == '-' || name[n] == '_'))
			return true;
	}
	return false;
}

/* The symbols of such a runtime linked into the program, as clang does. */
static const char *const runtime_symbols[] = {
	"__asan_init", "__tsan_init", "__msan_init", "__hwasan_init", "__lsan_init",
};

/* The file */

struct elf {
	int fd;
	size_t n_phdrs;
	const char *phdrs;	/* in the head, not aligned */
};

static ElfW(Phdr) phdr_at(const struct elf *e, size_t i)
{
	ElfW(Phdr) p;

	memcpy(&p, e->phdrs + i * sizeof p, sizeof p);
	return p;
}

/* The first header of a type; false: there is none. */
static bool find_phdr(const struct elf *e, uint32_t type, ElfW(Phdr) *out)
{
	for (size_t i = 0; i < e->n_phdrs; i++) {
		*out = phdr_at(e, i);
		if (out->p_type == type)
			return true;
	}
	return false;
}

/* The relevant entries of the dynamic section; addresses, not offsets. */
struct dynamic {
	ElfW(Addr) strings, gnu_hash;
	uint64_t strings_size;
	bool preinit;
	size_t n_needed;
	uint64_t needed[NEEDED_MAX];	/* offsets in strings */
};

static bool read_at(const struct elf *e, void *to, size_t len, uint64_t offset)
{
	return offset <= INT64_MAX && pread(e->fd, to, len, (off_t)offset) == (ssize_t)len;
}

/* The offset in the file of len bytes at an address. */
static bool locate(const struct elf *e, uint64_t address, uint64_t len, uint64_t *offset)
{
	for (size_t i = 0; i < e->n_phdrs; i++) {
		ElfW(Phdr) p = phdr_at(e, i);
		uint64_t in = address - p.p_vaddr;

		if (p.p_type != PT_LOAD || address < p.p_vaddr || in > p.p_filesz ||
		    p.p_filesz - in < len || p.p_offset > INT64_MAX - in)
			continue;
		*offset = p.p_offset + in;
		return true;
	}
	return false;
}

static bool read_address(const struct elf *e, void *to, size_t len, uint64_t address)
{
	uint64_t offset;

	return locate(e, address, len, &offset) && read_at(e, to, len, offset);
}

/* The loader */

/* The kernel passes the program headers of the executable of this process. Unlike
 * dl_iterate_phdr(), this takes no lock. */
static const char *own_loader(void)
{
	const ElfW(Phdr) *phdr = (const ElfW(Phdr) *)getauxval(AT_PHDR);
	size_t n = getauxval(AT_PHNUM);
	ElfW(Addr) base = 0;

	for (size_t i = 0; phdr && i < n; i++) {
		if (phdr[i].p_type == PT_PHDR)
			base = (ElfW(Addr))phdr - phdr[i].p_vaddr;
	}
	for (size_t i = 0; phdr && i < n; i++) {
		if (phdr[i].p_type == PT_INTERP)
			return (const char *)(base + phdr[i].p_vaddr);
	}
	return NULL;
}

static bool has_our_loader(const struct elf *e)
{
	const char *own = own_loader();
	size_t size = own ? strlen(own) + 1 : 0;
	char name[256];
	ElfW(Phdr) p;

	return find_phdr(e, PT_INTERP, &p) && own && size <= sizeof name && p.p_filesz == size &&
	       read_at(e, name, size, p.p_offset) && !memcmp(name, own, size);
}

static bool is_like_us(const ElfW(Ehdr) *e)
{
	static const unsigned char class = sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32;
	static const unsigned char order =
		__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB;
#if defined __x86_64__ && !defined __ILP32__
	static const ElfW(Half) machine = EM_X86_64;
#elif defined __aarch64__
	static const ElfW(Half) machine = EM_AARCH64;
#elif defined __riscv
	static const ElfW(Half) machine = EM_RISCV;
#else
	static const ElfW(Half) machine = EM_NONE;
#endif

	return e->e_ident[EI_CLASS] == class && e->e_ident[EI_DATA] == order &&
	       e->e_machine == machine && e->e_phentsize == sizeof(ElfW(Phdr)) &&
	       (e->e_type == ET_EXEC || e->e_type == ET_DYN);
}

/* Linkers put the program headers into the head of the file. */
static bool take_phdrs(struct elf *e, const char *head, size_t len)
{
	ElfW(Ehdr) ehdr;
	size_t size;

	memcpy(&ehdr, head, sizeof ehdr);
	size = ehdr.e_phnum * sizeof(ElfW(Phdr));
	if (!is_like_us(&ehdr) || ehdr.e_phoff > len || len - ehdr.e_phoff < size)
		return false;
	e->n_phdrs = ehdr.e_phnum;
	e->phdrs = head + ehdr.e_phoff;
	return true;
}

/* The dynamic section */

static bool take_entry(struct dynamic *d, const ElfW(Dyn) *entry)
{
	switch (entry->d_tag) {
	case DT_STRTAB: d->strings = entry->d_un.d_ptr; break;
	case DT_STRSZ: d->strings_size = entry->d_un.d_val; break;
	case DT_GNU_HASH: d->gnu_hash = entry->d_un.d_ptr; break;
	case DT_PREINIT_ARRAYSZ: d->preinit = entry->d_un.d_val; break;
	case DT_NEEDED:
		if (d->n_needed == NEEDED_MAX)
			return false;
		d->needed[d->n_needed++] = entry->d_un.d_val;
		break;
	default: break;
	}
	return true;
}

static bool read_dynamic(const struct elf *e, struct dynamic *d)
{
	ElfW(Dyn) entry[DYNAMIC_CHUNK];
	ElfW(Phdr) p;
	size_t n;

	if (!find_phdr(e, PT_DYNAMIC, &p) || p.p_filesz / sizeof *entry > DYNAMIC_MAX)
		return false;
	n = p.p_filesz / sizeof *entry;
	for (size_t i = 0; i < n; i += DYNAMIC_CHUNK) {
		size_t chunk = MIN(n - i, DYNAMIC_CHUNK);

		if (!read_at(e, entry, chunk * sizeof *entry, p.p_offset + i * sizeof *entry))
			return false;
		for (size_t k = 0; k < chunk; k++) {
			if (entry[k].d_tag == DT_NULL)
				return true;
			if (!take_entry(d, &entry[k]))
				return false;
		}
	}
	return true;
}

static bool needs_runtime(const struct elf *e, const struct dynamic *d)
{
	for (size_t i = 0; i < d->n_needed; i++) {
		uint64_t left = d->needed[i] < d->strings_size ? d->strings_size - d->needed[i] : 0;
		size_t len = left < NAME_MAX_LEN ? (size_t)left : NAME_MAX_LEN;
		char name[NAME_MAX_LEN];

		if (read_address(e, name, len, d->strings + d->needed[i]) &&
		    carry_is_runtime(name, strnlen(name, len)))
			return true;
	}
	return false;
}

/* The GNU hash table: a header, a Bloom filter, the buckets, the chains of hashes. */

struct hash_table {
	uint32_t n_buckets, first_symbol, n_bloom, bloom_shift;
};

static uint32_t gnu_hash(const char *name)
{
	uint32_t h = 5381;

	for (; *name; name++)
		h = h * 33 + (unsigned char)*name;
	return h;
}

static bool may_have(const struct elf *e, const struct hash_table *t, uint64_t bloom, uint32_t h)
{
	const unsigned bits = 8 * sizeof(ElfW(Addr));
	ElfW(Addr) word, mask;

	mask = (ElfW(Addr))1 << h % bits | (ElfW(Addr))1 << (h >> t->bloom_shift) % bits;
	return read_address(e, &word, sizeof word, bloom + h / bits % t->n_bloom * sizeof word) &&
	       (word & mask) == mask;
}

/* Equal in 31 bits of the hash: this is the symbol. */
static bool has_symbol(const struct elf *e, const struct hash_table *t, uint64_t bloom, uint32_t h)
{
	uint64_t buckets = bloom + t->n_bloom * sizeof(ElfW(Addr)), chain;
	uint32_t at, found;

	if (!may_have(e, t, bloom, h) ||
	    !read_address(e, &at, sizeof at, buckets + h % t->n_buckets * sizeof at) ||
	    at < t->first_symbol)
		return false;
	chain = buckets + t->n_buckets * sizeof at + (uint64_t)(at - t->first_symbol) * sizeof found;
	for (int i = 0; i < CHAIN_MAX; i++, chain += sizeof found) {
		if (!read_address(e, &found, sizeof found, chain))
			return false;
		if ((found | 1) == (h | 1))
			return true;
		if (found & 1)
			return false;
	}
	return false;
}

static bool exports_runtime(const struct elf *e, const struct dynamic *d)
{
	struct hash_table t;

	if (!d->gnu_hash || !read_address(e, &t, sizeof t, d->gnu_hash) || !t.n_buckets ||
	    !t.n_bloom || t.bloom_shift >= 32)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(runtime_symbols); i++) {
		if (has_symbol(e, &t, d->gnu_hash + sizeof t, gnu_hash(runtime_symbols[i])))
			return true;
	}
	return false;
}

bool carry_elf_is(const char *head, size_t len)
{
	return len >= sizeof(ElfW(Ehdr)) && !memcmp(head, ELFMAG, SELFMAG);
}

/*
 * A program with functions that run before the constructors of all libraries must be first, too:
 * gcc's -static-libasan uses this and exports nothing.
 */
enum carry_fit carry_elf_fit(int fd, const char *head, size_t len)
{
	struct elf e = { .fd = fd };
	struct dynamic d;

	memset(&d, 0, sizeof d);
	if (!take_phdrs(&e, head, len) || !has_our_loader(&e) || !read_dynamic(&e, &d))
		return CARRY_CANNOT;
	if (d.preinit || needs_runtime(&e, &d) || exports_runtime(&e, &d))
		return CARRY_MUST_NOT;
	return CARRY_FITS;
}
