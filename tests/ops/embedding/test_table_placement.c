/* SPDX-License-Identifier: Apache-2.0 */
/* test_table_placement.c - the placing of tables: never more memory than allowed, at most 1.05
   times the time of the best of all choices on small cases, and an error that says how much is
   missing. */
#include "support/test.h"
#include "support/numbers.h"
#include "ops/embedding/tables.h"

enum { TABLES = 4, RANKS = 3, CASES = 300 };

static void make(uint64_t seed, tsr_table_facts *t, tsr_tables_opts *opts)
{
    static const int64_t rows[] = {3, 100, 5000, 200000, 3000000};
    static const int64_t columns[] = {4, 16, 64, 128};
    int64_t all = 0;

    for (int i = 0; i < TABLES; i++) {
        t[i] = (tsr_table_facts){.rows = rows[below(&seed, 5)],
                                 .columns = columns[below(&seed, 4)],
                                 .dtype = below(&seed, 2) ? TSR_F32 : TSR_BF16,
                                 .lookups = (int64_t)(64u << below(&seed, 8)),
                                 .length = 1 + below(&seed, 30),
                                 .pooling = (tsr_bag_mode)below(&seed, 4)};
        if (t[i].pooling == TSR_BAG_NONE)
            t[i].length = 1;
        all += t[i].rows * t[i].columns * (int64_t)tsr_dtype_size(t[i].dtype);
    }
    *opts = (tsr_tables_opts)TABLES_OPTS(.ranks = 1 + (int)below(&seed, RANKS),
                                         .training = below(&seed, 2));
    opts->has_memory = below(&seed, 3);
    if (opts->has_memory)
        opts->memory = (int64_t)((double)all * (opts->training ? 2 : 1) *
                                 (0.4 + 0.1 * (double)below(&seed, 6)));
}

static double best_of_all(const tsr_table_facts *t, const tsr_tables_opts *opts)
{
    int n = TSR_TABLE_ONE_RANK + opts->ranks, choice[TABLES] = {0}, i = 0;
    tsr_table_load loads[RANKS];
    double best = INFINITY;

    while (i < TABLES) {
        double s = tsr__tables_seconds(t, TABLES, opts, choice, loads);
        best = s < best ? s : best;
        for (i = 0; i < TABLES && ++choice[i] == n; i++)
            choice[i] = 0;
    }
    return best;
}

static void near_the_best(void **state)
{
    double worst = 1;
    int fits = 0;
    (void)state;

    for (unsigned c = 0; c < CASES; c++) {
        tsr_table_facts t[TABLES];
        tsr_tables_opts opts;
        tsr_table_choice choice[TABLES];
        tsr_table_load loads[RANKS];
        tsr_error err = {0};
        double best, got = 0;

        make(c, t, &opts);
        if (tsr_tables_plan(t, TABLES, &opts, choice, loads, &err) != TSR_OK) {
            assert_int_equal(err.code, TSR_ERR_LIMIT);
            continue;
        }
        fits++;
        best = best_of_all(t, &opts);
        for (int r = 0; r < opts.ranks; r++) {
            assert_true(!opts.has_memory || loads[r].memory <= opts.memory);
            got = loads[r].seconds > got ? loads[r].seconds : got;
        }
        assert_true(got >= best * (1 - 1e-9));
        if (got > 1.05 * best)
            fail_msg("case %u: %g s, the best is %g s", c, got, best);
        worst = got > worst * best ? got / best : worst;
    }
    assert_true(fits > CASES / 2);
    print_message("%d cases, at most %.3f times the best\n", fits, worst);
}

static void memory_is_kept(void **state)
{
    tsr_table_facts t[] = {{1000, 64, TSR_F32, 512, 10, TSR_BAG_SUM},
                           {10, 64, TSR_F32, 512, 1, TSR_BAG_NONE}};
    tsr_tables_opts opts = TABLES_OPTS(.ranks = 4, .has_memory = true, .memory = 100000);
    tsr_table_choice choice[2];
    tsr_error err = {0};
    (void)state;

    assert_int_equal(tsr_tables_plan(t, 2, &opts, choice, NULL, &err), TSR_OK);
    assert_int_not_equal(choice[0].sharding, TSR_TABLE_REPLICATE); /* 256,000 bytes */
    assert_int_equal(choice[1].sharding, TSR_TABLE_REPLICATE);     /* nothing is communicated */
    assert_int_equal(choice[1].rank, -1);
    opts.memory = 64000;
    assert_int_equal(tsr_tables_plan(t, 2, &opts, choice, NULL, &err), TSR_ERR_LIMIT);
    assert_non_null(strstr(err.text, "64640 bytes per rank, 640 more than the 64000"));
    err.code = TSR_OK;
    t[1].rows = -1;
    assert_int_equal(tsr_tables_plan(t, 2, &opts, choice, NULL, &err), TSR_ERR_ARG);
    assert_non_null(strstr(err.text, "table 1"));
    err.code = TSR_OK;
    opts.ranks = 0;
    assert_int_equal(tsr_tables_plan(t, 2, &opts, choice, NULL, &err), TSR_ERR_ARG);
    opts.ranks = 2;
    assert_int_equal(tsr_tables_plan(t, 0, &opts, choice, NULL, &err), TSR_OK);
}

/* Prices beyond all numbers are refused: no choice would be better than another. */
static void infinite_prices_are_refused(void **state)
{
    static const tsr_table_facts fair = {100, 8, TSR_F32, 64, 4, TSR_BAG_SUM};
    tsr_table_facts facts[] = {fair, fair, fair};
    tsr_table_choice choice[3];
    tsr_cost cost = tsr_cost_default();
    tsr_tables_opts opts = TABLES_OPTS(.ranks = 4, .cost = &cost);
    tsr_error err = {0};

    (void)state;
    assert_int_equal(tsr_cost_parse("latency=1e100,bandwidth=1e-100", &cost, &err), TSR_OK);
    assert_int_equal(tsr_tables_plan(facts, 2, &opts, choice, NULL, &err), TSR_OK);
    cost.latency[0] = 1e308;
    assert_int_equal(tsr_tables_plan(facts, 2, &opts, choice, NULL, &err), TSR_ERR_ARG);
    err = (tsr_error){0};
    cost.latency[0] = 1e-6;
    facts[1].length = INFINITY;
    assert_int_equal(tsr_tables_plan(facts, 2, &opts, choice, NULL, &err), TSR_ERR_ARG);
    err = (tsr_error){0};
    facts[1].length = 1;
    for (int i = 0; i < 3; i++)
        facts[i].columns = 1, facts[i].rows = INT64_C(1) << 58;
    assert_int_equal(tsr_tables_plan(facts, 2, &opts, choice, NULL, &err), TSR_OK);
    assert_int_equal(tsr_tables_plan(facts, 3, &opts, choice, NULL, &err), TSR_ERR_ARG);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(near_the_best),
        cmocka_unit_test(memory_is_kept),
        cmocka_unit_test(infinite_prices_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
