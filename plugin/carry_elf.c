#include "carry.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define HEAD_MAX 4096		/* ELF header, program headers, mostly the loader's name */
#define SCRIPTS_MAX 4		/* an interpreter may be a script */

/* The program headers of this very process begin with the executable's. */
static int take_loader(struct dl_phdr_info *info, size_t size, void *data)
{
	const char **loader = data;

	(void)size;
	for (size_t i = 0; i < info->dlpi_phnum; i++) {
		if (info->dlpi_phdr[i].p_type == PT_INTERP)
			*loader = (const char *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
	}
	return 1;
}

static bool is_our_loader(const char *name, size_t len)
{
	const char *own = NULL;

	dl_iterate_phdr(take_loader, &own);
	return own && len == strlen(own) + 1 && !memcmp(name, own, len);
}

static bool is_like_us(const ElfW(Ehdr) *e)
{
	static const unsigned char class = sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32;
#if defined __x86_64__ && !defined __ILP32__
	static const ElfW(Half) machine = EM_X86_64;
#elif defined __aarch64__
	static const ElfW(Half) machine = EM_AARCH64;
#elif defined __riscv
	static const ElfW(Half) machine = EM_RISCV;
#else
	static const ElfW(Half) machine = EM_NONE;
#endif

	return e->e_ident[EI_CLASS] == class && e->e_machine == machine &&
	       e->e_phentsize == sizeof(ElfW(Phdr));
}

static bool has_our_loader(int fd, const char *head, size_t len)
{
	ElfW(Ehdr) e;
	ElfW(Phdr) p;
	char name[PATH_MAX];

	memcpy(&e, head, sizeof e);
	if (!is_like_us(&e))
		return false;
	for (size_t i = 0; i < e.e_phnum; i++) {
		size_t at = e.e_phoff + i * sizeof p;

		if (at > len || len - at < sizeof p)
			return false;
		memcpy(&p, head + at, sizeof p);
		if (p.p_type == PT_INTERP)
			return p.p_filesz <= sizeof name &&
			       pread(fd, name, p.p_filesz, (off_t)p.p_offset) == (ssize_t)p.p_filesz &&
			       is_our_loader(name, p.p_filesz);
	}
	return false;
}

/* Behind "#!", ended in place. */
static const char *interpreter(char *head)
{
	char *p = head + 2 + strspn(head + 2, " \t");

	p[strcspn(p, " \t\n")] = '\0';
	return p;
}

static ssize_t read_head(int fd, char *head)
{
	struct stat st;
	ssize_t n;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || (st.st_mode & (S_ISUID | S_ISGID)))
		return -1;
	n = pread(fd, head, HEAD_MAX, 0);
	head[n > 0 ? n : 0] = '\0';
	return n;
}

bool carry_is_script(const char *path)
{
	char head[2];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool is = fd >= 0 && read(fd, head, 2) == 2 && head[0] == '#' && head[1] == '!';

	if (fd >= 0)
		close(fd);
	return is;
}

bool carry_can_preload(const char *path)
{
	char head[HEAD_MAX + 1];

	for (int i = 0; i < SCRIPTS_MAX; i++) {
		int fd = open(path, O_RDONLY | O_CLOEXEC);
		ssize_t n = fd < 0 ? -1 : read_head(fd, head);
		bool elf = n >= (ssize_t)sizeof(ElfW(Ehdr)) && !memcmp(head, ELFMAG, SELFMAG);
		bool ok = elf && has_our_loader(fd, head, (size_t)n);

		if (fd >= 0)
			close(fd);
		if (elf || n < 2 || head[0] != '#' || head[1] != '!')
			return ok;
		path = interpreter(head);
	}
	return false;
}
