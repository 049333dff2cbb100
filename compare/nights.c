#include "nights.h"

#include "arena.h"

#include <stdlib.h>

void nights_release(struct nights *nights)
{
	if (nights->end)
		nights->end(nights);
	free(nights->night);
	free(nights->task);
	arena_free(nights->texts);
	*nights = (struct nights){ 0 };
}
