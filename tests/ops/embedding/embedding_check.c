/* SPDX-License-Identifier: Apache-2.0 */
/* embedding_check.c - see embedding_check.h. */
#include <float.h>
#include <inttypes.h>

#include "support/test.h"
#include "embedding_check.h"

/* ---- problems ---- */

static void *values(tsr_dtype dtype, int64_t n, bool integers, bool special, uint64_t *seed)
{
    static const double specials[] = {0.0, -0.0, INFINITY, -INFINITY, NAN, 1e-42};
    void *x = exact_memory(dtype, n);

    for (int64_t i = 0; i < n; i++) {
        if ((int)dtype == TSR__FIELD)
            ((uint64_t *)x)[i] = next_random(seed) * 0x1234567 % TSR__FIELD_P;
        else if (integers)
            tsr__put(dtype, x, i, (double)(below(seed, 7) - 3));
        else if (special && below(seed, 4) == 0)
            tsr__put(dtype, x, i, specials[below(seed, 6)]);
        else
            tsr__put(dtype, x, i, (double)below(seed, 1 << 20) / (1 << 16) - 8);
    }
    return x;
}

static void *random_ids(tsr_ids *ids, uint64_t *seed)
{
    const int64_t few = ids->vocab && below(seed, 2) ? 1 + below(seed, ids->vocab) : ids->vocab;
    void *data = exact_memory(ids->dtype, ids->n);

    for (int64_t i = 0; i < ids->n; i++)
        tsr__put(ids->dtype, data, i, (double)below(seed, few));
    return data;
}

static int64_t *random_begin(int64_t n_bags, int64_t n, uint64_t *seed)
{
    int64_t *begin = exact_memory(TSR_I64, n_bags + 1), at = 0;

    for (int64_t b = 0; b <= n_bags; b++) {
        begin[b] = at;
        at += below(seed, 3) ? below(seed, 2 * n / (n_bags + 1) + 2) : 0;
        at = at > n ? n : at;
    }
    return begin;
}

problem random_problem(tsr_dtype dtype, tsr_dtype index, bool integers, bool special,
                       uint64_t *seed)
{
    static const int64_t dims[] = {1, 3, 8, 16, 17, 31, 64, 65, 100, 129};
    problem p = {.dtype = dtype, .dim = below(seed, 20) ? dims[below(seed, 10)] : 0};
    tsr_ids *ids = &p.bags.ids;

    p.keep = below(seed, 2);
    p.last = below(seed, 2);
    p.scaled = below(seed, 3) == 0;
    ids->dtype = index;
    ids->vocab = ids->n_rows = below(seed, 8) ? 1 + below(seed, 60) : 0;
    ids->n = ids->vocab && below(seed, 10) ? below(seed, below(seed, 12) ? 80 : 700) : 0;
    ids->padding = ids->vocab && below(seed, 2) ? below(seed, ids->vocab) : -1;
    ids->data = random_ids(ids, seed);
    p.bags.n_bags = below(seed, 10) ? below(seed, 20) : 0;
    if (below(seed, 2))
        p.bags.length = p.bags.n_bags ? ids->n / p.bags.n_bags : 0;
    else
        p.bags.begin = random_begin(p.bags.n_bags, ids->n, seed);
    p.table = values(dtype, ids->n_rows * p.dim, integers, special, seed);
    p.grad_rows = values(dtype, ids->n * p.dim, integers, false, seed);
    p.grad_bags = values(dtype, p.bags.n_bags * p.dim, integers, false, seed);
    p.weights = below(seed, 2) ? values(dtype, ids->n, integers, false, seed) : NULL;
    complete(&p);
    return p;
}

static void *frequencies(const tsr_ids *ids)
{
    void *counts = exact_memory(ids->dtype, ids->n_rows);

    memset(counts, 0, (size_t)ids->n_rows * tsr_dtype_size(ids->dtype));
    tsr__embedding_count(ids, ids->dtype, counts);
    return counts;
}

void complete(problem *p)
{
    const tsr_ids *ids = &p->bags.ids;
    const int64_t n = p->bags.n_bags * p->dim;

    p->counts = exact_memory(TSR_I64, p->bags.n_bags);
    tsr__bag_counts(&p->bags, p->counts);
    p->freq = frequencies(ids);
    p->winners = exact_memory(ids->dtype, n);
    if ((int)p->dtype != TSR__FIELD) {
        int64_t *position = exact_memory(TSR_I64, n);

        free(run(p, TSR_EMBEDDING_BAG_MAX, TSR_VARIANT_REFERENCE, false, position));
        tsr__bag_winners(ids, n, position, ids->dtype, p->winners);
        free(position);
    } else
        for (int64_t i = 0; i < n; i++) /* there is no max: any rows */
            tsr__put(ids->dtype, p->winners, i, (double)(ids->vocab ? i * 7 % ids->vocab : -1));
}

void free_problem(problem *p)
{
    free((void *)p->bags.ids.data);
    free((void *)p->bags.begin);
    free(p->table);
    free(p->weights);
    free(p->grad_rows);
    free(p->grad_bags);
    free(p->counts);
    free(p->freq);
    free(p->winners);
}

problem cut(const problem *p, int64_t first, int64_t n)
{
    problem c = *p;

    c.bags.ids.row_first = first;
    c.bags.ids.n_rows = n;
    c.table = (char *)p->table + (size_t)(first * p->dim) * tsr_dtype_size(p->dtype);
    c.freq = frequencies(&c.bags.ids);
    return c;
}

void free_cut(problem *p)
{
    free(p->freq);
}

static void *absolute_of(tsr_dtype dtype, const void *x, int64_t n)
{
    double *y = x ? exact_memory(TSR_F64, n) : NULL;

    for (int64_t i = 0; x && i < n; i++)
        y[i] = fabs(tsr__get(dtype, x, i));
    return y;
}

problem absolute(const problem *p)
{
    const int64_t n = p->bags.ids.n;
    problem a = *p;

    a.dtype = TSR_F64;
    a.table = absolute_of(p->dtype, p->table, p->bags.ids.n_rows * p->dim);
    a.weights = absolute_of(p->dtype, p->weights, n);
    a.grad_rows = absolute_of(p->dtype, p->grad_rows, n * p->dim);
    a.grad_bags = absolute_of(p->dtype, p->grad_bags, p->bags.n_bags * p->dim);
    return a;
}

const char *describe(const problem *p, int what, tsr_kernel_variant variant, char *buf, size_t n)
{
    const tsr_ids *ids = &p->bags.ids;
    const tsr_kernel_sku sku = {TSR_CATEGORY_EMBEDDING, (uint16_t)what, p->dtype, ids->dtype,
                                variant};
    char name[TSR_SKU_TEXT_LEN];

    snprintf(buf, n,
             "%s table [%" PRId64 ",%" PRId64 "] rows from %" PRId64 " of %" PRId64 ", %" PRId64
             " ids, padding %" PRId64 "%s, %" PRId64 " bags%s%s%s",
             tsr_kernel_sku_text(&sku, name, sizeof name), ids->n_rows, p->dim, ids->row_first,
             ids->vocab, ids->n, ids->padding, p->keep ? " kept" : "", p->bags.n_bags,
             p->bags.begin ? "" : " of one length", p->weights ? ", weights" : "",
             p->scaled ? ", scaled" : "");
    return buf;
}

/* ---- running ---- */

int64_t out_count(const problem *p, int what)
{
    switch (what) {
    case TSR_EMBEDDING: return p->bags.ids.n * p->dim;
    case TSR_EMBEDDING_BAG_SUM:
    case TSR_EMBEDDING_BAG_MEAN:
    case TSR_EMBEDDING_BAG_MAX: return p->bags.n_bags * p->dim;
    case WEIGHTS_BACKWARD: return p->bags.ids.n;
    default: return p->bags.ids.n_rows * p->dim;
    }
}

static tsr_ids winner_ids(const problem *p)
{
    tsr_ids ids = p->bags.ids;

    ids.data = p->winners;
    ids.n = p->bags.n_bags * p->dim;
    ids.padding = -1;
    return ids;
}

static tsr_table_grad table_grad(const problem *p, int what, tsr_kernel_variant variant, void *out)
{
    return (tsr_table_grad){.dtype = p->dtype,
                            .dim = p->dim,
                            .n_rows = p->bags.ids.n_rows,
                            .grad_out =
                                what == TSR_EMBEDDING_BACKWARD ? p->grad_rows : p->grad_bags,
                            .freq_dtype = p->bags.ids.dtype,
                            .freq = p->scaled ? p->freq : NULL,
                            .variant = variant,
                            .out = out};
}

static void run_backward(const problem *p, int what, tsr_kernel_variant variant, bool touched,
                         void *out)
{
    const size_t bytes = (size_t)p->dim * tsr_dtype_size(p->dtype);
    const tsr_ids winners = winner_ids(p), *ids = &p->bags.ids;
    const bool mean = what == TSR_EMBEDDING_BAG_MEAN_BACKWARD;
    tsr_table_grad call = table_grad(p, what, variant, out);
    void *scratch = exact_memory(
        TSR_U8,
        (int64_t)tsr__scatter_bytes(what == TSR_EMBEDDING_BAG_MAX_BACKWARD ? winners.n : ids->n));
    tsr_scattered s;

    if (what == TSR_EMBEDDING_BAG_MAX_BACKWARD)
        tsr__bag_max_scatter(&winners, scratch, &s);
    else if (what == TSR_EMBEDDING_BACKWARD)
        tsr__embedding_scatter(ids, scratch, &s);
    else
        tsr__bag_scatter(&p->bags, p->dtype, mean ? NULL : p->weights, mean ? p->counts : NULL,
                         scratch, &s);
    if (touched) {
        call.out = exact_memory(p->dtype, s.n_distinct * p->dim);
        tsr__row_sparse_scatter(&s, &call);
        memset(out, 0, (size_t)call.n_rows * bytes);
        for (int64_t k = 0; k < s.n_distinct; k++)
            memcpy((char *)out + (size_t)s.row[k] * bytes, (char *)call.out + (size_t)k * bytes,
                   bytes);
        free(call.out);
    } else
        tsr__scatter_dense(&s, &call);
    free(scratch);
}

static void run_reference_backward(const problem *p, int what, void *out)
{
    const tsr_table_grad call = table_grad(p, what, TSR_VARIANT_REFERENCE, out);
    const tsr_bags single = {.ids = p->bags.ids, .n_bags = p->bags.ids.n, .length = 1};
    const tsr_ids winners = winner_ids(p);

    if (what == TSR_EMBEDDING_BAG_MAX_BACKWARD)
        tsr__reference_bag_max_backward(&winners, &call);
    else if (what == TSR_EMBEDDING_BACKWARD)
        tsr__reference_bag_backward(&single, NULL, NULL, &call);
    else if (what == TSR_EMBEDDING_BAG_SUM_BACKWARD)
        tsr__reference_bag_backward(&p->bags, p->weights, NULL, &call);
    else
        tsr__reference_bag_backward(&p->bags, NULL, p->counts, &call);
}

void *run(const problem *p, int what, tsr_kernel_variant variant, bool touched, int64_t *position)
{
    const bool reference = variant == TSR_VARIANT_REFERENCE;
    void *out = exact_memory(p->dtype, out_count(p, what)),
         *scratch = exact_memory(TSR_U8, (int64_t)tsr__bag_bytes(&p->bags));
    const tsr_lookup lookup = {.dtype = p->dtype,
                               .dim = p->dim,
                               .ids = p->bags.ids,
                               .padding_keep = p->keep,
                               .variant = variant,
                               .table = p->table,
                               .out = out};
    const tsr_bag_pool pool = {.dtype = p->dtype,
                               .dim = p->dim,
                               .bags = p->bags,
                               .table = p->table,
                               .weights = p->weights,
                               .counts = p->scaled ? p->counts : NULL, /* or counted */
                               .last = p->last,
                               .variant = variant,
                               .scratch = scratch,
                               .out = out,
                               .position = position};

    switch (what) {
    case TSR_EMBEDDING:
        (reference ? tsr__reference_embedding : tsr__embedding_forward)(&lookup);
        break;
    case TSR_EMBEDDING_BAG_SUM: (reference ? tsr__reference_bag_sum : tsr__bag_sum)(&pool); break;
    case TSR_EMBEDDING_BAG_MEAN:
        (reference ? tsr__reference_bag_mean : tsr__bag_mean)(&pool);
        break;
    case TSR_EMBEDDING_BAG_MAX: (reference ? tsr__reference_bag_max : tsr__bag_max)(&pool); break;
    case WEIGHTS_BACKWARD:
        (reference ? tsr__reference_bag_weights_backward
                   : tsr__bag_weights_backward)(&pool, p->grad_bags, out);
        break;
    default:
        if (reference)
            run_reference_backward(p, what, out);
        else
            run_backward(p, what, variant, touched, out);
    }
    free(scratch);
    return out;
}

static void add_to(tsr_dtype dtype, int64_t n, const void *x, void *sum)
{
    for (int64_t i = 0; i < n; i++)
        if ((int)dtype == TSR__FIELD)
            ((uint64_t *)sum)[i] = tsr__field_add(((uint64_t *)sum)[i], ((const uint64_t *)x)[i]);
        else
            tsr__put(dtype, sum, i, tsr__get(dtype, sum, i) + tsr__get(dtype, x, i));
}

void *run_cut(const problem *p, int what, tsr_kernel_variant variant, int pieces,
              const int64_t *cuts, int64_t *position)
{
    const bool gradient = what == TSR_EMBEDDING_BACKWARD ||
                          (what > TSR_EMBEDDING_BAG_MEAN && what != TSR_EMBEDDING_BAG_MAX &&
                           what != WEIGHTS_BACKWARD);
    const bool max = what == TSR_EMBEDDING_BAG_MAX;
    const size_t size = tsr_dtype_size(p->dtype);
    const int64_t n = out_count(p, what);
    void *all = exact_memory(p->dtype, n);

    memset(all, 0, (size_t)n * size);
    for (int64_t i = 0; max && i < n; i++)
        position[i] = -1;
    for (int k = 0; k < pieces; k++) {
        problem c = cut(p, cuts[k], cuts[k + 1] - cuts[k]);
        int64_t *at = max ? exact_memory(TSR_I64, n) : NULL;
        void *part = run(&c, what, variant, false, at);

        if (max)
            tsr__bag_max_merge(p->dtype, n, p->last, part, at, all, position);
        else if (gradient) /* stays with its rows */
            memcpy((char *)all + (size_t)(cuts[k] * p->dim) * size, part,
                   (size_t)out_count(&c, what) * size);
        else
            add_to(p->dtype, n, part, all);
        free(part);
        free(at);
        free_cut(&c);
    }
    return all;
}

/* ---- comparing ---- */

static double eps_of(tsr_dtype dtype)
{
    return dtype == TSR_F32   ? FLT_EPSILON
           : dtype == TSR_F64 ? DBL_EPSILON
           : dtype == TSR_F16 ? 0x1p-10
                              : 0x1p-7;
}

void compare(const problem *p, int what, tsr_kernel_variant variant, const void *got,
             const void *want, double ulps)
{
    problem a = absolute(p);
    double *bound = ulps > 0 ? run(&a, what, TSR_VARIANT_REFERENCE, false, NULL) : NULL;
    char text[512];

    for (int64_t i = 0; i < out_count(p, what); i++) {
        const double x = tsr__get(p->dtype, got, i), y = tsr__get(p->dtype, want, i);
        const double tiny = p->dtype == TSR_F16 ? 0x1p-24 : 0;
        bool good = x == y || (isnan(x) && isnan(y));

        if ((int)p->dtype == TSR__FIELD)
            good = ((const uint64_t *)got)[i] == ((const uint64_t *)want)[i];
        else if (!good && ulps > 0)
            good = fabs(x - y) <= ulps * eps_of(p->dtype) * bound[i] + tiny;
        if (!good)
            fail_msg("%s: element %" PRId64 " is %.9g, not %.9g",
                     describe(p, what, variant, text, sizeof text), i, x, y);
    }
    free(bound);
    free(a.table);
    free(a.weights);
    free(a.grad_rows);
    free(a.grad_bags);
}
