/* SPDX-License-Identifier: Apache-2.0 */
/* words_text.c - a text in pieces. Words with the blank before them are split into letters, and the
   most frequent pair of neighbours becomes a piece of its own, until there are enough (byte-pair
   encoding: Sennrich and others, 2016). Ties go to the smaller numbers, so it is always the same.
   The 3-gram model is words_trigram.c. */
#include "words_text.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 100, BLOCKS = 20 }; /* lines of a block; one of so many is held out */

/* ---- words ---- */

/* A word of the text and how it is split so far. */
typedef struct word {
    const char *text;
    int length, pieces;
    int64_t count;
    int32_t *piece;
} word;

typedef struct words {
    word *list;
    int n, cap;
    int *slot; /* open hashing into list, -1: free */
    int slots;
} words;

static uint64_t hash_of(const char *text, int n)
{
    uint64_t h = UINT64_C(1469598103934665603);

    for (int i = 0; i < n; i++)
        h = (h ^ (unsigned char)text[i]) * UINT64_C(1099511628211);
    return h ^ h >> 29;
}

/* A word: letters with a blank before them, or one other character with a blank before it. */
static int word_length(const char *text)
{
    int n = text[0] == ' ';

    if (!isalpha((unsigned char)text[n]))
        return text[n] ? n + 1 : n;
    while (isalpha((unsigned char)text[n]))
        n++;
    return n;
}

/* Its place in the list, where it is put if it is new. */
static int find(words *w, const char *text, int n)
{
    uint64_t at = hash_of(text, n) % (uint64_t)w->slots;

    while (w->slot[at] >= 0) {
        const word *known = &w->list[w->slot[at]];

        if (known->length == n && memcmp(known->text, text, (size_t)n) == 0)
            return w->slot[at];
        at = (at + 1) % (uint64_t)w->slots;
    }
    if (w->n == w->cap)
        return -1;
    w->list[w->n] = (word){.text = text, .length = n, .pieces = n};
    return w->slot[at] = w->n++;
}

static bool make_words(words *w, const char *text)
{
    enum { MOST = 1 << 18 };

    *w = (words){.cap = MOST, .slots = 2 * MOST};
    w->list = calloc(MOST, sizeof *w->list);
    w->slot = malloc((size_t)w->slots * sizeof *w->slot);
    if (!w->list || !w->slot)
        return false;
    memset(w->slot, -1, (size_t)w->slots * sizeof *w->slot);
    for (const char *p = text; *p;) {
        const int n = word_length(p), at = find(w, p, n);

        if (at < 0)
            return false;
        w->list[at].count++;
        p += n;
    }
    for (int i = 0; i < w->n; i++) {
        w->list[i].piece = malloc((size_t)w->list[i].length * sizeof(int32_t));
        if (!w->list[i].piece)
            return false;
    }
    return true;
}

static void free_words(words *w)
{
    for (int i = 0; i < w->n && w->list; i++)
        free(w->list[i].piece);
    free(w->list);
    free(w->slot);
}

/* ---- pieces ---- */

typedef struct pairs {
    int64_t *count; /* of the pair a, b at a * vocabulary + b */
    int32_t *list;  /* those with a count, and some that lost it */
    bool *listed;
    int n;
    int64_t vocabulary;
} pairs;

static void count_pair(pairs *p, int32_t a, int32_t b, int64_t by)
{
    const int64_t pair = a * p->vocabulary + b;

    p->count[pair] += by;
    if (!p->listed[pair]) {
        p->listed[pair] = true;
        p->list[p->n++] = (int32_t)pair;
    }
}

static void count_word(pairs *p, const word *w, int64_t by)
{
    for (int i = 0; i + 1 < w->pieces; i++)
        count_pair(p, w->piece[i], w->piece[i + 1], by);
}

/* The most frequent pair; -1 if there is none. Pairs that are gone leave the list. */
static int32_t best_pair(pairs *p)
{
    int32_t best = -1;
    int kept = 0;

    for (int i = 0; i < p->n; i++) {
        const int32_t pair = p->list[i];
        const int64_t count = p->count[pair];

        p->listed[pair] = count > 0;
        if (count == 0)
            continue;
        p->list[kept++] = pair;
        if (best < 0 || count > p->count[best] || (count == p->count[best] && pair < best))
            best = pair;
    }
    p->n = kept;
    return best;
}

/* Wherever a and b are neighbours in the word, they become c. */
static void join(pairs *p, word *w, int32_t a, int32_t b, int32_t c)
{
    int n = 0;
    bool there = false;

    for (int i = 0; i + 1 < w->pieces && !there; i++)
        there = w->piece[i] == a && w->piece[i + 1] == b;
    if (!there)
        return;
    count_word(p, w, -w->count);
    for (int i = 0; i < w->pieces; i++) {
        const bool both = i + 1 < w->pieces && w->piece[i] == a && w->piece[i + 1] == b;

        w->piece[n++] = both ? c : w->piece[i];
        i += both;
    }
    w->pieces = n;
    count_word(p, w, w->count);
}

/* Characters come first, in the order of their codes. */
static int number_characters(words_text *t, words *w, char *letters)
{
    int number[256], n = 0;
    bool used[256] = {false};

    for (int i = 0; i < w->n; i++)
        for (int k = 0; k < w->list[i].length; k++)
            used[(unsigned char)w->list[i].text[k]] = true;
    for (int c = 0; c < 256; c++)
        if (used[c]) {
            letters[c] = (char)c;
            if (n < t->vocabulary)
                t->piece[n] = (words_piece){&letters[c], 1};
            number[c] = n++;
        }
    for (int i = 0; i < w->n; i++)
        for (int k = 0; k < w->list[i].length; k++)
            w->list[i].piece[k] = number[(unsigned char)w->list[i].text[k]];
    return n;
}

/* Where a piece stands in some word, for its text. */
static words_piece text_of(const words_text *t, const word *w, int32_t a, int32_t b)
{
    int at = 0;

    for (int i = 0; i + 1 < w->pieces; i++) {
        if (w->piece[i] == a && w->piece[i + 1] == b)
            return (words_piece){w->text + at, t->piece[a].length + t->piece[b].length};
        at += t->piece[w->piece[i]].length;
    }
    return (words_piece){NULL, 0};
}

static bool learn_pieces(words_text *t, words *w, char *letters)
{
    const int64_t v = t->vocabulary;
    pairs p = {.vocabulary = v};
    int n = number_characters(t, w, letters);
    bool good = n < t->vocabulary;

    p.count = calloc((size_t)(v * v), sizeof *p.count);
    p.list = calloc((size_t)(v * v), sizeof *p.list);
    p.listed = calloc((size_t)(v * v), sizeof *p.listed);
    good = good && p.count && p.list && p.listed;
    for (int i = 0; i < w->n && good; i++)
        count_word(&p, &w->list[i], w->list[i].count);
    for (; n < t->vocabulary && good; n++) {
        const int32_t pair = best_pair(&p);
        const int32_t a = (int32_t)(pair / v), b = (int32_t)(pair % v);

        if (pair < 0)
            break;
        for (int i = 0; i < w->n && !t->piece[n].text; i++)
            t->piece[n] = text_of(t, &w->list[i], a, b);
        for (int i = 0; i < w->n; i++)
            join(&p, &w->list[i], a, b, n);
    }
    free(p.count);
    free(p.list);
    free(p.listed);
    return good && n == t->vocabulary;
}

/* ---- the text ---- */

/* "Ge1:1 In the beginning" without what stands before the first blank. */
static char *read_lines(const char *path)
{
    FILE *f = fopen(path, "rb");
    char *text = NULL, line[1 << 13];
    size_t n = 0, cap = 0;

    while (f && fgets(line, sizeof line, f)) {
        const char *from = strchr(line, ' ') ? strchr(line, ' ') + 1 : line;
        const size_t more = strlen(from);

        if (n + more + 1 > cap) {
            char *larger = realloc(text, cap = 2 * cap + sizeof line);
            if (!larger)
                break;
            text = larger;
        }
        memcpy(text + n, from, more + 1);
        n += more;
    }
    if (!f)
        fprintf(stderr, "cannot open %s: %s (make data gets it)\n", path, strerror(errno));
    if (f)
        fclose(f);
    return text;
}

static void deal(words_text *t, words *w, const char *text)
{
    int64_t line = 0;

    for (const char *p = text; *p;) {
        const int n = word_length(p);
        const word *it = &w->list[find(w, p, n)];
        const bool held = line / BLOCK % BLOCKS == BLOCKS - 1;

        memcpy(held ? t->held + t->n_held : t->train + t->n_train, it->piece,
               (size_t)it->pieces * sizeof *it->piece);
        *(held ? &t->n_held : &t->n_train) += it->pieces;
        t->held_bytes += held ? n : 0;
        line += p[n - 1] == '\n';
        p += n;
    }
}

words_text *words_open(const char *path, int vocabulary)
{
    words_text *t = calloc(1, sizeof *t);
    char *text = read_lines(path);
    size_t n = text ? strlen(text) : 0;
    words w = {0};
    bool good = t && text;

    if (good) {
        t->vocabulary = vocabulary;
        t->memory = realloc(text, n + 1 + 256); /* letters stand behind the text */
        text = t->memory;
        t->piece = calloc((size_t)vocabulary, sizeof *t->piece);
        t->train = malloc((n + 1) * sizeof *t->train);
        t->held = malloc((n + 1) * sizeof *t->held);
        good = text && t->piece && t->train && t->held && make_words(&w, text) &&
               learn_pieces(t, &w, text + n + 1);
        if (good)
            deal(t, &w, text);
        else
            fprintf(stderr, "%s cannot be split into %d pieces\n", path, vocabulary);
    }
    free_words(&w);
    if (!good) {
        words_close(t);
        t = NULL;
    }
    return t;
}

void words_close(words_text *t)
{
    if (!t)
        return;
    free(t->memory);
    free(t->piece);
    free(t->train);
    free(t->held);
    free(t);
}

/* ---- writing ---- */

/* A number of 0 to 1 for the i-th piece that is drawn (splitmix64). */
static double chance(uint64_t seed, int64_t i)
{
    uint64_t z = seed + (uint64_t)(i + 1) * UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return (double)((z ^ z >> 31) >> 11) * 0x1p-53;
}

int32_t words_draw(const words_text *t, const double *logits, uint64_t seed, int64_t i)
{
    const double temperature = 0.8;
    double most = logits[0], left = 0;
    int32_t k;

    for (k = 0; k < t->vocabulary; k++)
        most = fmax(most, logits[k]);
    for (k = 0; k < t->vocabulary; k++)
        left += exp((logits[k] - most) / temperature);
    left *= chance(seed, i);
    for (k = 0; k < t->vocabulary - 1; k++)
        if ((left -= exp((logits[k] - most) / temperature)) <= 0)
            break;
    return k;
}
