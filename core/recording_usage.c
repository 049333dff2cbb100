#include "reader.h"

int reader_usage(struct reader *r, const char *file, char *text, size_t len)
{
	struct slice rest;
	struct cursor c;
	int error;

	cursor_init(&c, text, len);
	error = reader_header(r, &c, file, "proc_tasks", &rest);
	return error < 0 ? error : 0;
}

int reader_finish_usage(struct reader *r)
{
	for (size_t i = 0; i < r->rec->n_tasks; i++)
		r->rec->task[i].first_usage = r->rec->n_usage;
	return 0;
}
