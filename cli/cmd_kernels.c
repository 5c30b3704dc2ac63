/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_kernels.c - tessera kernels: the kernels that are known by SKU, and which variant of each
   this processor gets. */
#include "cli.h"

#include <stdlib.h>
#include <string.h>
#include <tessera_ext.h>

/* Kernels that differ in dtype and index only: a line of the table. */
typedef struct line {
    tsr_kernel_category category;
    uint16_t op;
    tsr_kernel_variant used;
    char dtypes[CLI_TEXT], index[CLI_TEXT], variants[CLI_TEXT];
} line;

static tsr_kernel_variant used_of(tsr_kernel_sku sku)
{
    sku.variant = TSR_VARIANT_AUTO;
    return tsr_kernel_variant_best(&sku);
}

/* By "pointwise", "add" or "pointwise.add"; "" means all. */
static bool is_meant(const char *filter, const tsr_kernel_sku *sku)
{
    const char *category = tsr_kernel_category_name(sku->category);
    const char *op = tsr_kernel_op_name(sku->category, sku->op);
    const size_t n = strlen(category);

    return !*filter || !strcmp(filter, category) || !strcmp(filter, op) ||
           (!strncmp(filter, category, n) && filter[n] == '.' && !strcmp(filter + n + 1, op));
}

static void add_word(char *list, size_t n, const char *word)
{
    size_t used = strlen(list);

    if (!strstr(list, word))
        snprintf(list + used, n - used, "%s%s", used ? " " : "", word);
}

typedef struct kernels {
    tsr_kernel_sku *sku;
    int n;
} kernels;

static int list_kernels(const char *filter, kernels *out)
{
    tsr_kernel_sku sku = tsr_kernel_at(0);

    *out = (kernels){.sku = calloc((size_t)tsr_kernel_count(), sizeof *out->sku)};
    if (!out->sku)
        return cli_failed("out of memory");
    do
        if (is_meant(filter, &sku))
            out->sku[out->n++] = sku;
    while (tsr_kernel_next(&sku));
    return CLI_OK;
}

/* All kernels of one op and dtype, from the i-th on; gives the next one. */
static int read_line(const kernels *k, int i, line *l)
{
    const tsr_kernel_sku *first = &k->sku[i];

    *l = (line){.category = first->category, .op = first->op, .used = used_of(*first)};
    snprintf(l->dtypes, sizeof l->dtypes, "%s", tsr_dtype_name(first->dtype));
    for (; i < k->n; i++) {
        const tsr_kernel_sku *sku = &k->sku[i];

        if (sku->category != first->category || sku->op != first->op || sku->dtype != first->dtype)
            break;
        add_word(l->index, sizeof l->index,
                 sku->index == TSR_NO_INDEX ? "-" : tsr_dtype_name((tsr_dtype)sku->index));
        add_word(l->variants, sizeof l->variants, tsr_kernel_variant_name(sku->variant));
    }
    return i;
}

static void print_line(cli_table *table, const line *l)
{
    char value[CLI_TEXT];

    snprintf(value, sizeof value, "%d", l->op);
    cli_table_row(table, (const char *[]){tsr_kernel_category_name(l->category), value,
                                          tsr_kernel_op_name(l->category, l->op), l->dtypes,
                                          l->index, l->variants, tsr_kernel_variant_name(l->used)});
}

static void print_table(const kernels *k)
{
    char text[TSR_SKU_TEXT_LEN];
    tsr_kernel_sku example = k->sku[0];
    line now, last = {0};
    cli_table table;

    cli_table_open(&table, "lrlllll");
    cli_table_row(&table, (const char *[]){"category", "value", "op", "dtype", "index", "variants",
                                           "this CPU"});
    for (int i = 0; i < k->n;) {
        i = read_line(k, i, &now);
        if (*last.dtypes && now.category == last.category && now.op == last.op &&
            !strcmp(now.variants, last.variants)) {
            add_word(last.dtypes, sizeof last.dtypes, now.dtypes);
            continue;
        }
        if (*last.dtypes)
            print_line(&table, &last);
        last = now;
    }
    print_line(&table, &last);
    cli_table_close(&table, 0);
    example.variant = used_of(example);
    printf("\n%d kernels. A SKU is category.op.dtype.index.variant, without index where there is\n"
           "none, as in %s; values of ops do not change.\n",
           k->n, tsr_kernel_sku_text(&example, text, sizeof text));
}

static json_t *describe(const tsr_kernel_sku *sku)
{
    char text[TSR_SKU_TEXT_LEN];
    const bool has_index = sku->index != TSR_NO_INDEX;

    return json_pack("{s:s, s:s, s:i, s:s, s:i, s:s, s:s?, s:s, s:b, s:b}", "sku",
                     tsr_kernel_sku_text(sku, text, sizeof text), "category",
                     tsr_kernel_category_name(sku->category), "category_value", sku->category, "op",
                     tsr_kernel_op_name(sku->category, sku->op), "value", sku->op, "dtype",
                     tsr_dtype_name(sku->dtype), "index",
                     has_index ? tsr_dtype_name((tsr_dtype)sku->index) : NULL, "variant",
                     tsr_kernel_variant_name(sku->variant), "runs",
                     tsr_kernel_variant_best(sku) == sku->variant, "used",
                     used_of(*sku) == sku->variant);
}

static json_t *to_json(const kernels *k)
{
    json_t *results = json_array();

    for (int i = 0; i < k->n; i++)
        json_array_append_new(results, describe(&k->sku[i]));
    return json_pack("{s:s, s:o}", "command", "kernels", "results", results);
}

int cli_kernels(const cli_args *args)
{
    const char *filter = args->n_words ? args->text : "";
    kernels k;
    int status = list_kernels(filter, &k);

    if (status == CLI_OK && k.n == 0)
        status = cli_bad(
            "kernels: \"%s\" is neither a category nor an op of one; tessera kernels lists all",
            filter);
    else if (status == CLI_OK && cli_option_of(args, "json"))
        status = cli_print_json(to_json(&k));
    else if (status == CLI_OK && cli_speaks())
        print_table(&k);
    free(k.sku);
    return status;
}
