/* SPDX-License-Identifier: Apache-2.0 */
/* clicks_data.h - which Debian package depends on which (see data/README.md): the data of clicks.c.
   One dependency of every package is held out, and one that it does not have beside it; ranking
   the former above the latter is the task. */
#ifndef EXAMPLES_CLICKS_DATA_H
#define EXAMPLES_CLICKS_DATA_H

#include <tessera_train.h>

/* What is looked up for a pair of package and dependency. */
enum {
    CLICKS_PACKAGE,
    CLICKS_SOURCE, /* of the package, as the next ones */
    CLICKS_MAINTAINER,
    CLICKS_SECTION,
    CLICKS_PIECES, /* of its name, up to CLICKS_BAG of them; 0: none */
    CLICKS_DEPENDENCY,
    CLICKS_ITS_MAINTAINER,
    CLICKS_ITS_SECTION,
    CLICKS_ITS_PIECES,
    CLICKS_TABLES
};
enum { CLICKS_BAG = 4 };

typedef struct clicks_data clicks_data;

/* Collective. */
tsr_status clicks_open(tsr_mesh *mesh, const char *folder, clicks_data **out);
void clicks_close(clicks_data *d);
int64_t clicks_rows(const clicks_data *d, int table); /* how many there are of each kind */
int64_t clicks_train_pairs(const clicks_data *d);
int64_t clicks_held_pairs(const clicks_data *d);

/* Pairs of a batch, and whether the package has the dependency. */
typedef struct clicks_pairs {
    int64_t n;
    int32_t *package, *dependency;
    float *has;
} clicks_pairs;
clicks_pairs clicks_pairs_new(int64_t n);
void clicks_pairs_free(clicks_pairs *p);

/* Does a batch of n pairs with these placements give every rank one? An error if not. */
tsr_status clicks_check(const clicks_data *d, int64_t n, const char *placements);
/* The step's batch: of every 1 + negatives pairs the first is one of the packages', in the order of
   an epoch, the others are the same package with dependencies that it does not have. A function of
   seed and step. n must be a multiple of 1 + negatives. */
void clicks_draw(const clicks_data *d, uint64_t seed, int64_t step, int negatives,
                 clicks_pairs *out);
/* Held-out pairs from `first` on, as many as fit; those behind the last are the first again. */
void clicks_held(const clicks_data *d, bool has, int64_t first, clicks_pairs *out);
/* Ids of a table for pairs, n of them, or n times CLICKS_BAG for pieces. */
void clicks_ids(const clicks_data *d, int table, const clicks_pairs *p, int32_t *ids);

/* How likely it is that a score of the first list is above one of the second. */
double clicks_auc(const double *has, const double *has_not, int64_t n);
/* The same for ranking by how many packages have a dependency, whatever the package. */
double clicks_popularity_auc(const clicks_data *d);

#endif
