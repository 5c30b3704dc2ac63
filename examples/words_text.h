/* SPDX-License-Identifier: Apache-2.0 */
/* words_text.h - the text of words.c as numbers: pieces of words, learnt from the text itself, and
   what a 3-gram model of the same pieces achieves. Functions of the text alone. */
#ifndef EXAMPLES_WORDS_TEXT_H
#define EXAMPLES_WORDS_TEXT_H

#include <stdbool.h>
#include <stdint.h>

typedef struct words_piece {
    const char *text; /* not ended by 0 */
    int length;
} words_piece;

typedef struct words_text {
    int vocabulary;
    words_piece *piece;    /* of each number */
    int32_t *train, *held; /* numbers of the text to learn from, and of that held out */
    int64_t n_train, n_held;
    int64_t held_bytes; /* of the text that held is */
    char *memory;       /* of all these texts */
} words_text;

/* Reads a text of lines, of which blocks of 100 are held out, one of 20. NULL, and a sentence on
   standard error, if there is none. */
words_text *words_open(const char *path, int vocabulary);
void words_close(words_text *w);
/* Minus the mean logarithm of the probability that an interpolated Kneser-Ney 3-gram model of the
   text to learn from gives to the pieces of the text held out. */
double words_trigram_loss(const words_text *w);

/* The i-th piece of a text that is written, drawn by the logits of all pieces, likely ones rather
   than others. A function of these and the seed. */
int32_t words_draw(const words_text *w, const double *logits, uint64_t seed, int64_t i);

#endif
