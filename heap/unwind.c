/* SPDX-License-Identifier: MIT */
#include "heap/unwind.h"

#include "base/minmax.h"
#include "heap/sandbox.h"
#include "heap/unwind_rule.h"
#include "heap/unwind_table.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGE 4096		/* the smallest page of any machine: larger ones are multiples */
#define WORD sizeof(uintptr_t)

/* The functions that count are the innermost frames and are left out of the result. They are fewer
 * than this, so more frames without the caller mean a wrong walk. */
#define SKIPPED_MAX 32

/*
 * A cache of rules by address; each slot keeps the rule that was looked up last. It needs no lock:
 * when two threads write to a slot at once, its two words do not belong together, and the slot then
 * looks like that of another address. The generation is part of the key, because a new generation
 * empties all slots at once.
 */
#define SLOT_BITS 15

struct slot {
	_Atomic uint64_t key;	/* address and generation, xor the rule */
	_Atomic uint64_t rule;
};

static struct slot slots[1 << SLOT_BITS];
static _Atomic uint64_t generation;

#define SPREAD UINT64_C(0x9e3779b97f4a7c15)	/* odd: no generation comes twice */

void unwind_flush(void)
{
	atomic_fetch_add_explicit(&generation, SPREAD, memory_order_release);
}

/* Find the pages from start on that can be read, and return their end, which is at most `end`. The
 * kernel is asked to read a set of signals there and to do something with it that does not exist:
 * it reads first and refuses then. Many sandboxes forbid the other calls that check memory, few
 * forbid this one. In a sandbox, probe() asks nothing. */
static uintptr_t probe(uintptr_t start, uintptr_t end)
{
	const int nothing = -1;
	const size_t set_size = 8;
	uintptr_t at = start & ~(uintptr_t)(PAGE - 1);
	int saved = errno;

	if (sandbox_is(SANDBOX_FILTER))
		return start;
	while (at < end && syscall(SYS_rt_sigprocmask, nothing, at, NULL, set_size) &&
	       errno != EFAULT)
		at += PAGE;
	errno = saved;
	return MIN(at, end);
}

/* The kernel writes the frame of a signal, so no rule describes it. It is
 * recognised by the return address of the handler, the code that calls sigreturn(). */
static uint64_t or_signal(uint64_t rule, uintptr_t address)
{
#if UNWIND_HAS_LINK
	if (address % sizeof(uint32_t) == 0 && address < UINTPTR_MAX - PAGE &&
	    probe(address, address + WORD) == address + WORD &&
	    unwind_is_sigreturn((const uint32_t *)address))
		return unwind_rule(UNWIND_SIGNAL, UNWIND_SIGNAL_AT(sp), UNWIND_SIGNAL_AT(regs[29]), 0);
#endif
	(void)address;
	return rule;
}

static __attribute__((noinline)) uint64_t find_rule(struct slot *slot, uint64_t key,
						    uintptr_t address)
{
	struct unwind_table table;
	uint64_t rule;

	if (unwind_table_find(&table, address))
		table = (struct unwind_table){ 0 };
	rule = unwind_rule_find(&table, address);
	if (unwind_rule_kind(rule) == UNWIND_END || unwind_rule_kind(rule) == UNWIND_CHAIN)
		rule = or_signal(rule, address + 1);
	atomic_store_explicit(&slot->rule, rule, memory_order_relaxed);
	atomic_store_explicit(&slot->key, key ^ rule, memory_order_relaxed);
	return rule;
}

static inline uint64_t rule_of(uintptr_t address, uint64_t now)
{
	struct slot *slot = &slots[address * SPREAD >> (64 - SLOT_BITS)];
	uint64_t rule = atomic_load_explicit(&slot->rule, memory_order_relaxed);
	uint64_t key = atomic_load_explicit(&slot->key, memory_order_relaxed);

	if ((key ^ rule) == address + now && rule)
		return rule;
	return find_rule(slot, address + now, address);
}

/* Stacks */

/*
 * The parts of memory in which this thread may read a stack. The stack that the thread was started
 * with ends at `end` and has no holes from `low` on, except that the first thread's may not have
 * grown to `low` yet. A thread can also run on the stack of a signal or a coroutine. Of
 * such a foreign stack it is known only which pages around it can be read.
 */
struct stack {
	uintptr_t end, low;
	uintptr_t foreign_start, foreign_end;
};

static __thread struct stack own __attribute__((tls_model("initial-exec")));

#define PROBED_PAGES 16

static uintptr_t thread_pointer(void)
{
#ifdef __x86_64__
	uintptr_t p;

	__asm__("mov %%fs:0, %0" : "=r"(p));
	return p;
#else
	return (uintptr_t)__builtin_thread_pointer();
#endif
}

extern void *__libc_stack_end;

/* With a larger limit, or without one, the kernel maps other things this far below the stack. */
#define MAIN_STACK_MAX ((rlim_t)128 << 20)

/* The first thread's stack grows down to its limit by itself, so nothing else is mapped there. */
void unwind_begin(void)
{
	struct rlimit limit;
	rlim_t size = 0;

	if (!syscall(SYS_prlimit64, 0, RLIMIT_STACK, NULL, &limit))
		size = MIN(limit.rlim_cur, MAIN_STACK_MAX);
	own.end = (uintptr_t)__libc_stack_end;
	own.low = own.end - (uintptr_t)size;
	unwind_find_program();
}

struct walk {
	uintptr_t pc;		/* the address whose rule says how to leave this frame */
	uintptr_t sp, fp;	/* the registers in this frame; sp is 0 if it is unknown */
	uintptr_t link;		/* the link register; 0 if it is unknown, as after each call */
	uintptr_t low, high;	/* the memory that can be read without asking the kernel */
};

/* In a sandbox, only the page of the innermost frame is known to be readable, and the known part of
 * the thread's own stack if that page reaches it. */
static void guess_stack(struct walk *w)
{
	w->high = (w->sp & ~(uintptr_t)(PAGE - 1)) + PAGE;
	if (w->sp < own.low && w->high >= own.low)
		w->high = own.end;
}

/* Ask the kernel once how far the stack can be read. Later walks on it need no question. */
static __attribute__((noinline)) void look_at_stack(struct walk *w)
{
	uintptr_t readable;

	w->high = w->low;
	/* libc puts the data of a thread at the end of the stack that it allocates for the thread */
	if (!own.end)
		own.end = own.low = thread_pointer() & ~(WORD - 1);
	if (sandbox_is(SANDBOX_FILTER)) {
		guess_stack(w);
		return;
	}
	if (w->sp >= own.end || (w->sp >= own.foreign_start && w->sp < own.foreign_end))
		return;
	readable = probe(w->sp, own.low);
	if (readable == own.low) {
		own.low = w->low = w->sp & ~(uintptr_t)(PAGE - 1);
		w->high = own.end;
	} else {
		own.foreign_start = w->sp & ~(uintptr_t)(PAGE - 1);
		own.foreign_end = readable;
	}
}

static inline void find_stack(struct walk *w)
{
	w->low = w->sp;
	w->high = own.end;
	if (w->sp < own.low || w->sp >= own.end)
		look_at_stack(w);
}

/* The same while walking, when a frame leads to a stack that is not known. */
static __attribute__((noinline)) bool reach(struct walk *w, uintptr_t at)
{
	uintptr_t end;

	if (at % WORD || at < PAGE || at > UINTPTR_MAX - (PROBED_PAGES + 1) * PAGE)
		return false;
	end = probe(at, (at & ~(uintptr_t)(PAGE - 1)) + PROBED_PAGES * PAGE);
	if (end < at + WORD)
		return false;
	if (at < w->low || at > w->high)
		w->low = at;
	w->high = end;
	return true;
}

static inline bool word_at(struct walk *w, uintptr_t at, uintptr_t *value)
{
	if ((at < w->low || at >= w->high || at % WORD) && !reach(w, at))
		return false;
	*value = *(const uintptr_t *)at;
	return true;
}

/* Steps */

/* Continue in the caller. The return address is behind the call and may already belong to another
 * line or, after a call that does not return, to another function. One byte less is inside the
 * call, whose rule and line are wanted. */
static inline bool return_to(struct walk *w, uintptr_t address)
{
#if UNWIND_HAS_LINK
	address = unwind_plain_address(address);
	w->link = 0;
#endif
	w->pc = address - 1;
	return address;
}

/* Leave the frame; cfa is the stack pointer of the caller. */
static inline bool leave(struct walk *w, uintptr_t cfa, int64_t fp_offset, int64_t link_offset)
{
	uintptr_t ret = w->link;

	if (link_offset != UNWIND_KEPT && !word_at(w, cfa + (uintptr_t)link_offset, &ret))
		return false;
	if (fp_offset == UNWIND_LOST)
		w->fp = 0;
	else if (fp_offset != UNWIND_KEPT && !word_at(w, cfa + (uintptr_t)fp_offset, &w->fp))
		return false;
	w->sp = cfa;
	return return_to(w, ret);
}

/* A step along the chain of frame pointers leaves sp unknown. Then fp is the address at which it
 * was saved, from which the rule leads to the same place. */
static inline uintptr_t cfa_from_sp(const struct walk *w, uint64_t rule)
{
	if (UNWIND_HAS_LINK && !w->sp)
		return w->fp - (uintptr_t)unwind_rule_b(rule);
	return w->sp + (uintptr_t)unwind_rule_a(rule);
}

static bool leave_realigned(struct walk *w, uint64_t rule)
{
	uintptr_t cfa, fp;

	if (!word_at(w, w->fp + (uintptr_t)unwind_rule_a(rule), &cfa) ||
	    !word_at(w, w->fp + (uintptr_t)unwind_rule_b(rule), &fp) || !leave(w, cfa, UNWIND_KEPT, -UNWIND_WORD))
		return false;
	w->fp = fp;
	return true;
}

/* Leave the frame of a signal. The interrupted instruction was not a call, so its address is taken
 * as it is: one byte less would be the instruction before. */
static bool leave_signal(struct walk *w, uint64_t rule)
{
	uintptr_t at = w->sp + (uintptr_t)unwind_rule_a(rule), sp;

	if (!word_at(w, w->sp + (uintptr_t)unwind_rule_b(rule), &w->fp) ||
	    !word_at(w, at + WORD, &w->pc) || !word_at(w, at, &sp))
		return false;
#if UNWIND_HAS_LINK
	if (!word_at(w, w->sp + UNWIND_SIGNAL_AT(regs[30]), &w->link))
		return false;
#endif
	w->sp = sp;
	return w->pc;
}

static bool leave_chain(struct walk *w)
{
	uintptr_t fp, ret, at = w->fp;

	if (!word_at(w, at, &fp) || !word_at(w, at + WORD, &ret))
		return false;
	w->fp = fp;
	w->sp = UNWIND_HAS_LINK ? 0 : at + 2 * WORD;	/* the chain may be anywhere in the frame */
	return return_to(w, ret);
}

/* Go to the caller. False if this was the last frame. */
static inline bool step(struct walk *w, uint64_t rule)
{
	switch (unwind_rule_kind(rule)) {
	case UNWIND_SP:
		return leave(w, cfa_from_sp(w, rule), unwind_rule_b(rule), unwind_rule_c(rule));
	case UNWIND_FP:
		return leave(w, w->fp + (uintptr_t)unwind_rule_a(rule), unwind_rule_b(rule),
			     unwind_rule_c(rule));
	case UNWIND_REALIGNED: return leave_realigned(w, rule);
	case UNWIND_SIGNAL: return leave_signal(w, rule);
	case UNWIND_CHAIN: return leave_chain(w);
	case UNWIND_UNKNOWN: case UNWIND_END: break;
	}
	return false;
}

/* A frame that does not lead upward is on another stack, or the walk is lost. So few of them are
 * followed, and the walk always ends. */
#define SWITCHES_MAX 16

/* Begin at the caller of the function into which this is inlined. */
static inline __attribute__((always_inline)) void begin_walk(struct walk *w, uint64_t now)
{
#if UNWIND_HAS_LINK
	struct unwind_registers here = unwind_registers_here();

	*w = (struct walk){ .pc = here.pc, .sp = here.sp, .fp = here.fp, .link = here.link };
	find_stack(w);
	step(w, rule_of(w->pc, now));
#else
	const uintptr_t *frame = __builtin_frame_address(0);

	(void)now;
	*w = (struct walk){ .pc = frame[1] - 1, .sp = (uintptr_t)(frame + 2), .fp = frame[0] };
	find_stack(w);
#endif
}

__attribute__((noinline)) size_t unwind_stack(uintptr_t from, uintptr_t *address, size_t max)
{
	struct walk w;
	uint64_t now = atomic_load_explicit(&generation, memory_order_acquire);
	unsigned skipped = 0, switches = 0;
	size_t n = 0;

	begin_walk(&w, now);
	while (from && w.pc + 1 != from) {
		if (++skipped > SKIPPED_MAX || !step(&w, rule_of(w.pc, now))) {
			if (max)
				address[0] = from - 1;
			return max ? 1 : 0;
		}
	}
	while (n < max) {
		uintptr_t sp = w.sp;

		address[n++] = w.pc;
		if (!step(&w, rule_of(w.pc, now)) || (w.sp <= sp && ++switches > SWITCHES_MAX))
			break;
	}
	return n;
}
