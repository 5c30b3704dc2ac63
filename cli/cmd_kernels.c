/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_kernels.c - tessera kernels: the kernels that are known by SKU, and which variant of each
   this processor gets. */
#include "cli.h"

#include <string.h>
#include <tessera_ext.h>

static bool runs_here(const tsr_kernel_sku *sku)
{
    return tsr_kernel_variant_best(sku->variant) == sku->variant;
}

static void add_word(char *list, size_t n, const char *word)
{
    size_t used = strlen(list);

    if (!strstr(list, word))
        snprintf(list + used, n - used, "%s%s", used ? " " : "", word);
}

/* One line for each op and number type. */
static void print_table(void)
{
    tsr_kernel_variant best = tsr_kernel_variant_best(TSR_VARIANT_AUTO);
    int n = tsr_kernel_count(), next;
    cli_table table;

    cli_table_open(&table, "lrlllll");
    cli_table_row(&table, (const char *[]){"category", "value", "op", "dtype", "index", "variants",
                                           "this CPU"});
    for (int i = 0; i < n; i = next) {
        tsr_kernel_sku first = tsr_kernel_at(i), sku;
        char index[CLI_TEXT] = "", variants[CLI_TEXT] = "", value[CLI_TEXT];

        for (next = i; next < n; next++) {
            sku = tsr_kernel_at(next);
            if (sku.op != first.op || sku.dtype != first.dtype)
                break;
            add_word(index, sizeof index, tsr_dtype_name(sku.index));
            add_word(variants, sizeof variants, tsr_kernel_variant_name(sku.variant));
        }
        snprintf(value, sizeof value, "%d", first.op);
        cli_table_row(&table, (const char *[]){"embedding", value,
                                               tsr_kernel_op_name(first.category, first.op),
                                               tsr_dtype_name(first.dtype), index, variants,
                                               tsr_kernel_variant_name(best)});
    }
    cli_table_close(&table, 0);
    printf("\n%d kernels. A SKU is category.op.dtype.index.variant, as in\n"
           "embedding.bag_sum.f32.i64.%s; values of ops do not change.\n",
           n, tsr_kernel_variant_name(best));
}

int cli_kernels(const cli_args *args)
{
    json_t *results;

    if (args->n_words > 0)
        return cli_bad("kernels: nothing expected at \"%s\"", args->text);
    if (!cli_speaks())
        return CLI_OK;
    if (!cli_option_of(args, "json")) {
        print_table();
        return CLI_OK;
    }
    results = json_array();
    for (int i = 0; i < tsr_kernel_count(); i++) {
        tsr_kernel_sku sku = tsr_kernel_at(i);
        char text[TSR_SKU_TEXT_LEN];

        json_array_append_new(
            results,
            json_pack("{s:s, s:i, s:s, s:i, s:s, s:s, s:s, s:b, s:b}", "sku",
                      tsr_kernel_sku_text(&sku, text, sizeof text), "category", sku.category, "op",
                      tsr_kernel_op_name(sku.category, sku.op), "value", sku.op, "dtype",
                      tsr_dtype_name(sku.dtype), "index", tsr_dtype_name(sku.index), "variant",
                      tsr_kernel_variant_name(sku.variant), "runs", runs_here(&sku), "used",
                      sku.variant == tsr_kernel_variant_best(TSR_VARIANT_AUTO)));
    }
    return cli_print_json(json_pack(
        "{s:s, s:s, s:o}", "command", "kernels", "variant",
        tsr_kernel_variant_name(tsr_kernel_variant_best(TSR_VARIANT_AUTO)), "results", results));
}
