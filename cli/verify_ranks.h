/* SPDX-License-Identifier: Apache-2.0 */
/* verify_ranks.h - what verifying a redistribution and verifying an op share: what the
   ranks found, and how it is said. */
#ifndef CLI_VERIFY_RANKS_H
#define CLI_VERIFY_RANKS_H

#include "cli.h"

/* Verdicts of all ranks: structs of `size` bytes without pointers, that begin with an int32_t which
   is not 0 for a fault. */
typedef struct verify_book {
    int n_ranks;
    size_t size;
    void *verdicts; /* [n_ranks], written by the first rank only; for free() */
    bool failed;    /* some rank found a fault; on every process */
} verify_book;

/* Room for the verdicts; gives an exit status. */
int verify_book_open(verify_book *book, int n_ranks, size_t size);

/* The rank that --spoil names, -1 without it; gives an exit status. */
int verify_spoil_rank(const cli_args *args, int n_ranks, int *rank);
/* Change one element of this rank's part, to see that the comparison finds it. */
void verify_spoil(tsr_tensor *y);

/* Collective, at the end of a job: all ranks' verdicts into the book. */
tsr_status verify_gather(tsr_mesh *world, const void *verdict, verify_book *book);

/* The answer in JSON: `more` (taken) are the fields of the one result after these. */
int verify_print_json(const char *text, bool pass, int n_ranks, json_t *more);

/* "[2,0]" */
const char *verify_indices_text(const int64_t *at, int n, char buf[256]);

#endif
