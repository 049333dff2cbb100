#include "nights.h"

#include "arena.h"

#include <math.h>
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

double night_total(const struct night *night, enum metric m)
{
	return night->total[TOTAL_STATUS] > 0 ? NAN : metric_total(night->total, m);
}
