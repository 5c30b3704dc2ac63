/* SPDX-License-Identifier: Apache-2.0 */
/* verify_ranks.c - what the ranks of verify found, and how it is said. Called by
   cmd_verify.c and cmd_verify_op.c. */
#include "verify_ranks.h"
#include "values.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

int verify_book_open(verify_book *book, int n_ranks, size_t size)
{
    *book = (verify_book){.n_ranks = n_ranks, .size = size};
    book->verdicts = calloc((size_t)n_ranks, size);
    return book->verdicts ? CLI_OK : cli_failed("out of memory");
}

int verify_spoil_rank(const cli_args *args, int n_ranks, int *rank)
{
    const char *text = cli_option_of(args, "spoil");
    char *end;
    long value;

    *rank = -1;
    if (!text)
        return CLI_OK;
    value = strtol(text, &end, 10);
    if (end == text || *end || value < 0 || value >= n_ranks)
        return cli_bad("verify: --spoil is \"%s\"; there are ranks 0 to %d", text, n_ranks - 1);
    *rank = (int)value;
    return CLI_OK;
}

void verify_spoil(tsr_tensor *y)
{
    const tsr_spec *spec = tsr_tensor_spec(y);
    tsr_local view;

    if (tsr_local_view(y, &view) == TSR_OK && view.data && tsr_shape_count(&view.shape) > 0)
        value_put(spec->dtype, view.data, 0, value_get(spec->dtype, view.data, 0) == 0);
}

tsr_status verify_gather(tsr_mesh *world, const void *verdict, verify_book *book)
{
    bool first = tsr_mesh_rank(world) == 0, failed = false;
    char *all = calloc((size_t)book->n_ranks, book->size);
    tsr_status st = TSR_ERR_MEMORY;

    if (all)
        st = tsr_all_gather(world, TSR_U8, verdict, (int64_t)book->size, all);
    for (int r = 0; r < book->n_ranks && st == TSR_OK; r++) {
        int32_t fault;

        memcpy(&fault, all + (size_t)r * book->size, sizeof fault);
        failed |= fault != 0;
    }
    if (st == TSR_OK && first)
        memcpy(book->verdicts, all, (size_t)book->n_ranks * book->size);
    /* thread ranks share the book; under MPI every process gives the exit status */
    if (first || tsr_mesh_world(world) == TSR_WORLD_MPI)
        book->failed = failed;
    free(all);
    return st;
}

int verify_print_json(const char *text, bool pass, int n_ranks, json_t *more)
{
    json_t *result = json_pack("{s:s, s:b, s:i}", "problem", text, "pass", pass, "ranks", n_ranks);

    json_object_update(result, more);
    json_decref(more);
    return cli_print_json(json_pack("{s:s, s:b, s:[o]}", "command", "verify", "pass", pass,
                                    "results", result)) == CLI_OK &&
                   pass
               ? CLI_OK
               : CLI_FAILED;
}

const char *verify_indices_text(const int64_t *at, int n, char buf[256])
{
    size_t used = (size_t)snprintf(buf, 256, "[");

    for (int d = 0; d < n && used < 256; d++)
        used += (size_t)snprintf(buf + used, 256 - used, "%s%" PRId64, d ? "," : "", at[d]);
    if (used < 256)
        snprintf(buf + used, 256 - used, "]");
    return buf;
}
