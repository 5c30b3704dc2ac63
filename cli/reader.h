/* SPDX-License-Identifier: Apache-2.0 */
/* reader.h - a cursor over a problem's text, shared by problem.c (redistributions) and op_problem.c
   (ops): pieces of text, settings, and messages that mark the place. */
#ifndef CLI_READER_H
#define CLI_READER_H

#include "problem.h"

typedef struct reader {
    const char *command, *text, *p;
    problem *out;              /* takes the settings */
    char tensor[TSR_TEXT_LEN]; /* dtype and shape, "" if not given */
    char mesh[TSR_TEXT_LEN], target_mesh[TSR_TEXT_LEN];
    const char *mesh_at, *target_mesh_at;
    unsigned seen;       /* settings, by their number */
    const char *seed_at; /* "seed=7", NULL if not given */
} reader;

/* A cursor at the begin, and settings as they are when none is given; false: a sentence was
   printed, as for all of these. */
bool reader_open(reader *r, const char *command, const char *text, problem *out);
/* The sentence, then the text with a mark under the place; gives false. */
bool reader_wrong(const reader *r, const char *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

void reader_skip_blanks(reader *r);
bool reader_copy(const reader *r, const char *from, const char *end, char to[TSR_TEXT_LEN]);
/* "[...]" at the cursor */
bool reader_bracket(reader *r, const char *what, char to[TSR_TEXT_LEN]);
/* Letters, digits and _ at p, and those that are followed by =; 0 if there are none. */
size_t reader_word(const char *p);
size_t reader_name(const char *p);

/* The NAME=VALUE at the cursor, whose name has n letters, if it is a setting; else *known is false
   and the cursor stays. */
bool reader_setting(reader *r, size_t n, bool *known);
/* The names of all settings; gives how many. */
enum { READER_SETTINGS = 6 };
int reader_setting_names(const char *names[READER_SETTINGS]);
/* All NAME=VALUE at the cursor, which must be settings. */
bool reader_settings(reader *r);

/* The mesh of mesh=, and that of a text "2x2" or "2x2@4". */
bool reader_mesh(const reader *r, const char *text, const char *at, tsr_mesh_shape *out);
bool reader_needs_mesh(const reader *r);

#endif
