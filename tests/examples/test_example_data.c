/* SPDX-License-Identifier: Apache-2.0 */
/* test_example_data.c - the data of the programs in examples/: what is drawn of it is what it says,
   and what the models are compared with is right. */
#include <unistd.h>

#include "support/test.h"
#include "../../examples/clicks_data.h"
#include "../../examples/words_text.h"

static const char *folder;

/* ---- clicks ---- */

static tsr_status clicks_job(tsr_mesh *mesh, void *arg)
{
    enum { NEGATIVES = 3, PAIRS = 400 };
    clicks_data *d = NULL;
    clicks_pairs p = clicks_pairs_new(PAIRS), q = clicks_pairs_new(PAIRS);
    int32_t ids[PAIRS * CLICKS_BAG];
    int64_t positive = 0;

    (void)arg;
    CHECK(clicks_open(mesh, folder, &d) == TSR_OK);
    CHECK(clicks_train_pairs(d) > 100000 && clicks_held_pairs(d) > 20000);
    for (int64_t step = 0; step < 3000; step += 700) { /* more than an epoch */
        clicks_draw(d, 5, step, NEGATIVES, &p);
        clicks_draw(d, 5, step, NEGATIVES, &q);
        CHECK(memcmp(p.dependency, q.dependency, PAIRS * sizeof *p.dependency) == 0);
        clicks_draw(d, 6, step, NEGATIVES, &q);
        CHECK(memcmp(p.dependency, q.dependency, PAIRS * sizeof *p.dependency) != 0);
        for (int64_t i = 0; i < PAIRS; i++) {
            CHECK(p.package[i] == p.package[i - i % (1 + NEGATIVES)]);
            CHECK((p.has[i] == 1) == (i % (1 + NEGATIVES) == 0));
            /* what is held out is never shown */
            q.n = 1;
            clicks_held(d, true, p.package[i], &q);
            q.n = PAIRS;
            CHECK(q.package[0] == p.package[i] && q.dependency[0] != p.dependency[i]);
            positive += p.has[i] == 1;
        }
        for (int t = 0; t < CLICKS_TABLES; t++) {
            const bool bag = t == CLICKS_PIECES || t == CLICKS_ITS_PIECES;

            clicks_ids(d, t, &p, ids);
            for (int64_t i = 0; i < PAIRS * (bag ? CLICKS_BAG : 1); i++)
                CHECK(ids[i] >= 0 && ids[i] < clicks_rows(d, t));
        }
    }
    CHECK(positive == 5 * PAIRS / (1 + NEGATIVES));
    CHECK(clicks_popularity_auc(d) > 0.75 && clicks_popularity_auc(d) < 0.95);
    clicks_close(d);
    clicks_pairs_free(&p);
    clicks_pairs_free(&q);
    return TSR_OK;
}

static void pairs_are_drawn(void **state)
{
    (void)state;
    pass_on("2", clicks_job, NULL);
}

static tsr_status nowhere_job(tsr_mesh *mesh, void *arg)
{
    clicks_data *d = NULL;

    CHECK(clicks_open(mesh, arg, &d) == TSR_ERR_IO && !d);
    CHECK(strstr(tsr_mesh_message(mesh), "cannot open /nowhere/clicks_pairs.idx.gz"));
    tsr_mesh_clear_error(mesh);
    return TSR_OK;
}

static void missing_pairs_are_named(void **state)
{
    char nowhere[] = "/nowhere";

    (void)state;
    pass_on("2", nowhere_job, nowhere);
}

static void auc_is_the_share_of_pairs_in_order(void **state)
{
    const double yes[] = {3, 1, 2, 2}, no[] = {0, 2, 1, 5};
    double count = 0;

    (void)state;
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            count += yes[i] > no[j] ? 1 : yes[i] == no[j] ? 0.5 : 0;
    assert_true(clicks_auc(yes, no, 4) == count / 16);
}

/* ---- words ---- */

/* Lines of words that a random walk makes; the same for the same seed. */
static void write_text(const char *path, int lines, bool random)
{
    static const char *const word[] = {"and", "the", "earth", "was", "without", "form;", "light"};
    FILE *f = fopen(path, "w");
    uint32_t s = 1;

    assert_non_null(f);
    for (int i = 0; i < lines; i++) {
        fprintf(f, "Ge%d:1", i);
        for (int k = 0; k < 10; k++) {
            s = s * 1664525 + 1013904223;
            fprintf(f, " %s", word[random ? (s >> 16) % 7 : (uint32_t)k % 7]);
        }
        fputc('\n', f);
    }
    assert_int_equal(fclose(f), 0);
}

static void check_text(const words_text *t, const char *path)
{
    FILE *f = fopen(path, "r");
    char line[4096];
    int64_t number = 0, train = 0, held = 0, bytes = 0;

    assert_non_null(f);
    for (; fgets(line, sizeof line, f); number++) {
        const bool out = number / 100 % 20 == 19;
        int64_t *at = out ? &held : &train;

        for (const char *p = strchr(line, ' ') + 1; *p;) {
            const words_piece piece = t->piece[(out ? t->held : t->train)[(*at)++]];

            assert_int_equal(strncmp(p, piece.text, (size_t)piece.length), 0);
            p += piece.length;
            bytes += out ? piece.length : 0;
        }
    }
    assert_true(train == t->n_train && held == t->n_held && bytes == t->held_bytes);
    fclose(f);
}

static void pieces_are_the_text(void **state)
{
    char path[] = "/tmp/tessera_words_XXXXXX";
    words_text *t, *again;

    (void)state;
    close(mkstemp(path));
    write_text(path, 4000, true);
    t = words_open(path, 40);
    again = words_open(path, 40);
    assert_non_null(t);
    check_text(t, path);
    assert_int_equal(t->n_train, again->n_train);
    assert_memory_equal(t->train, again->train, (size_t)t->n_train * sizeof *t->train);
    words_close(t);
    words_close(again);
    assert_null(words_open(path, 5));     /* fewer than letters */
    assert_null(words_open(path, 10000)); /* more than there are */
    assert_null(words_open("/nowhere/x", 40));
    unlink(path);
}

/* Of a text that repeats itself nothing is left to guess; of random words log 7 a word, and where a
   line ends, one time in ten. */
static void trigrams_guess_what_can_be_guessed(void **state)
{
    char path[] = "/tmp/tessera_words_XXXXXX";
    words_text *t;
    double loss, left;

    (void)state;
    close(mkstemp(path));
    write_text(path, 4000, false);
    t = words_open(path, 40);
    assert_true(words_trigram_loss(t) < 0.15);
    words_close(t);
    write_text(path, 4000, true);
    t = words_open(path, 40);
    loss = words_trigram_loss(t) * (double)(t->n_held - 2) / (200.0 * 10);
    left = log(7) - 0.9 * log(0.9) - 0.1 * log(0.1);
    assert_true(loss > 0.98 * left && loss < 1.03 * left);
    words_close(t);
    unlink(path);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pairs_are_drawn),
        cmocka_unit_test(missing_pairs_are_named),
        cmocka_unit_test(auc_is_the_share_of_pairs_in_order),
        cmocka_unit_test(pieces_are_the_text),
        cmocka_unit_test(trigrams_guess_what_can_be_guessed),
    };

    folder = argc > 1 ? argv[1] : "examples/data";
    return cmocka_run_group_tests(tests, NULL, NULL);
}
