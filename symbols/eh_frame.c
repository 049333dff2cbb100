/* SPDX-License-Identifier: MIT */
#include "symbols/eh_frame.h"

#include "base/array.h"

#include <dwarf.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

/* The section, and the entry that is read. */
struct place {
	const uint8_t *start, *p, *end;
	uint64_t address;	/* of start */
	unsigned word_size;	/* of a pointer: 4 or 8 */
};

static bool take_bytes(struct place *at, void *to, size_t size)
{
	if ((size_t)(at->end - at->p) < size)
		return false;
	memcpy(to, at->p, size);
	at->p += size;
	return true;
}

static bool take_uleb(struct place *at, uint64_t *value)
{
	unsigned shift = 0;
	uint8_t byte;

	*value = 0;
	do {
		if (!take_bytes(at, &byte, 1))
			return false;
		if (shift < 64)
			*value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	return true;
}

/* The size of a pointer with this encoding, 0 if the size is not fixed. */
static unsigned pointer_size(const struct place *at, uint8_t encoding)
{
	switch (encoding & 0x0f) {
	case DW_EH_PE_absptr: return at->word_size;
	case DW_EH_PE_udata2: case DW_EH_PE_sdata2: return 2;
	case DW_EH_PE_udata4: case DW_EH_PE_sdata4: return 4;
	case DW_EH_PE_udata8: case DW_EH_PE_sdata8: return 8;
	}
	return 0;
}

/* Only what linkers write: absolute values and those relative to their place. */
static bool take_pointer(struct place *at, uint8_t encoding, uint64_t *value)
{
	uint64_t here = at->address + (uint64_t)(at->p - at->start);
	unsigned size = pointer_size(at, encoding);
	uint16_t two;
	uint32_t four;
	bool ok;

	if (size == 2 && (ok = take_bytes(at, &two, 2)))
		*value = encoding & 8 ? (uint64_t)(int16_t)two : two;
	else if (size == 4 && (ok = take_bytes(at, &four, 4)))
		*value = encoding & 8 ? (uint64_t)(int32_t)four : four;
	else
		ok = size == 8 && take_bytes(at, value, 8);
	if ((encoding & 0x70) == DW_EH_PE_pcrel)
		*value += here;
	else if (encoding & 0xf0)
		return false;
	if (at->word_size == 4)
		*value = (uint32_t)*value;
	return ok;
}

/* Pass the length of an entry, whose content *entry becomes. */
static bool take_entry(struct place *at, struct place *entry)
{
	uint32_t small;
	uint64_t length;

	if (!take_bytes(at, &small, 4) || !small)
		return false;
	length = small;
	if (small == UINT32_MAX && !take_bytes(at, &length, 8))
		return false;
	if (length > (uint64_t)(at->end - at->p))
		return false;
	*entry = *at;
	entry->end = at->p + length;
	at->p = entry->end;
	return true;
}

/* The encoding of the pointers of the FDEs that have the CIE at `offset`. */
static bool read_cie(const struct place *section, size_t offset, uint8_t *encoding)
{
	struct place at = *section, cie;
	uint64_t ignored, length;
	const char *letters;
	uint8_t version, byte;
	uint32_t id;

	*encoding = DW_EH_PE_absptr;
	at.p = at.start + offset;
	if (!take_entry(&at, &cie) || !take_bytes(&cie, &id, 4) || id || !take_bytes(&cie, &version,
										     1))
		return false;
	letters = (const char *)cie.p;
	if (!memchr(letters, '\0', (size_t)(cie.end - cie.p)))
		return false;
	cie.p += strlen(letters) + 1;
	if (*letters != 'z')
		return !*letters;
	if (!take_uleb(&cie, &ignored) || !take_uleb(&cie, &ignored) ||
	    !(version == 1 ? take_bytes(&cie, &byte, 1) : take_uleb(&cie, &ignored)) ||
	    !take_uleb(&cie, &length))
		return false;
	for (letters++; *letters; letters++) {
		if (*letters == 'R')
			return take_bytes(&cie, encoding, 1);
		if (*letters == 'P') {
			if (!take_bytes(&cie, &byte, 1) || !pointer_size(&cie, byte) ||
			    (size_t)(cie.end - cie.p) < pointer_size(&cie, byte))
				return false;
			cie.p += pointer_size(&cie, byte);
		} else if (*letters == 'L') {
			if (!take_bytes(&cie, &byte, 1))
				return false;
		} else if (!strchr("SBG", *letters)) {
			return false;
		}
	}
	return true;
}

int eh_frame_functions(struct code_range **interval, size_t *n, const uint8_t *data, size_t size,
		       uint64_t address, unsigned word_size)
{
	struct place at = { data, data, data + size, address, word_size }, fde;
	size_t cie = SIZE_MAX;	/* offset of the CIE that was read last */
	uint8_t encoding = 0;
	bool known = false;

	while (take_entry(&at, &fde)) {
		size_t here = (size_t)(fde.p - fde.start);
		uint64_t start, length;
		uint32_t back;
		struct code_range *item;

		if (!take_bytes(&fde, &back, 4) || !back || back > here)
			continue;
		if (here - back != cie) {
			cie = here - back;
			known = read_cie(&at, cie, &encoding);
		}
		if (!known || !take_pointer(&fde, encoding, &start) ||
		    !take_pointer(&fde, encoding & 0x0f, &length) || !start || start + length < start)
			continue;
		item = array_add(interval, n, sizeof *item);
		if (!item)
			return -ENOMEM;
		*item = (struct code_range){ start, start + length, (uint32_t)(*n - 1) };
	}
	return 0;
}
