/* SPDX-License-Identifier: Apache-2.0 */
/* test_damaged_payloads.c - what ops send each other about places in memory (lengths, ids,
   positions, ranges) is changed on the way: every rank must return, with a sentence where the
   numbers cannot be, and nobody may touch memory that is not the tensors'. Damaged messages:
   test_message.c. */
#include "support/test.h"
#include "world/mesh_handle.h"
#include "world/thread.h"

enum { RANKS = 4 };

typedef struct op_case {
    const char *name, *in[4], *attrs;
} op_case;

/* All with rows that others own: lengths are exchanged, then ids, then rows. */
static const op_case cases[] = {
    {"index_select", {"f32[8000,64]@[S(0)]", "i64[600]@[S(0)]"}, NULL},
    {"embedding", {"f32[8000,64]@[S(0)]", "i64[600]@[S(0)]"}, NULL},
    {"embedding_backward", {"f32[600,64]@[S(0)]", "i64[600]@[S(0)]"}, "rows=8000"},
    {"bag_sum", {"f32[8000,64]@[S(0)]", "i64[600,3]@[S(0)]"}, NULL},
    {"bag_mean", {"f32[8000,64]@[S(0)]", "i64[600,3]@[S(0)]"}, NULL},
    {"bag_max", {"f32[8000,64]@[S(0)]", "i64[600,3]@[S(0)]"}, NULL},
    {"bag_max", {"f32[8000,64]@[S(0)]", "i64[600]@[S(0)]", "i64[150]@[R]"}, NULL},
    {"bag_sum", {"f32[8000,64]@[S(0)]", "i64[600]@[S(0)]", "i64[150]@[S(0)]"}, NULL},
    {"bag_sum_backward", {"f32[600,1]@[S(0)]", "i64[600,3]@[S(0)]"}, "rows=8000"},
};
enum { CASES = sizeof cases / sizeof cases[0] };

/* A transport in the place of a rank's own, which changes what the rank sends in one call. */
typedef struct spoiler {
    tsr_world_ops ops;
    const tsr_world_ops *real;
    int64_t calls, spoil_at, value; /* that call's first number to another rank becomes value */
    char *spoiled;                  /* where it stood, while it is on its way, and what it was */
    int64_t before;
} spoiler;

static tsr_status start_spoiled(const tsr_call *call, tsr_pending **out)
{
    spoiler *s = (spoiler *)(uintptr_t)call->group->world->ops;
    bool hit = ++s->calls == s->spoil_at;

    for (int i = 0; hit && i < call->n_send; i++) {
        const tsr_msg *msg = &call->send[i];
        if (msg->peer == call->group->me || msg->n_pieces == 0 ||
            tsr__piece_count(msg->piece) * (int64_t)tsr_dtype_size(call->dtype) < 8)
            continue;
        s->spoiled = (char *)(uintptr_t)call->send_base + msg->piece->offset;
        memcpy(&s->before, s->spoiled, sizeof s->before);
        memcpy(s->spoiled, &s->value, sizeof s->value);
        break;
    }
    return s->real->start(call, out);
}

static tsr_status finish_spoiled(tsr_pending *pending)
{
    spoiler *s = (spoiler *)(uintptr_t)pending->world->base.ops;
    tsr_status st = s->real->finish_take(pending);

    if (s->spoiled)
        memcpy(s->spoiled, &s->before, sizeof s->before);
    s->spoiled = NULL;
    return st;
}

static tsr_tensor *operand(tsr_mesh *mesh, const char *spec)
{
    if (strncmp(spec, "i64[150]", 8) == 0)
        return tsr_arange(mesh, spec, 0, 4); /* offsets of bags */
    return tsr_arange(mesh, spec, 0, spec[0] == 'i' ? 4 : 1);
}

typedef struct trial {
    const op_case *op;
    int64_t spoil_at, value;
    int64_t calls[RANKS]; /* of the op, with nothing spoiled */
    tsr_status status[RANKS];
    char text[RANKS][TSR_ERROR_LEN];
} trial;

static tsr_status damaged_job(tsr_mesh *mesh, void *arg)
{
    trial *t = arg;
    tsr_world *world = mesh->ctx->world;
    int me = tsr_mesh_rank(mesh), n = 0;
    spoiler s = {.ops = *world->ops,
                 .real = world->ops,
                 .spoil_at = me == 1 ? t->spoil_at : 0,
                 .value = t->value};
    tsr_tensor *in[4] = {NULL}, *out[TSR_OP_OUTPUTS] = {NULL};

    while (n < 4 && t->op->in[n])
        in[n] = operand(mesh, t->op->in[n]), n++;
    s.ops.start = start_spoiled;
    s.ops.finish_take = finish_spoiled;
    world->ops = &s.ops;
    t->status[me] =
        tsr_op_run_all(mesh, t->op->name, in, n, &t->op->attrs, t->op->attrs != NULL, out);
    world->ops = s.real;
    if (t->status[me] == TSR_OK) /* the op had no more calls in which others could be told */
        t->status[me] = tsr_barrier(mesh);
    t->calls[me] = s.calls;
    strcpy(t->text[me], tsr_mesh_message(mesh));
    return t->status[me];
}

static void run_trial(trial *t)
{
    tsr_run_opts opts =
        RUN_OPTS(.mesh = "4", .world = TSR_WORLD_THREAD, .has_timeout = true, .timeout_ms = 20000);

    tsr_run(&opts, damaged_job, t, NULL);
}

/* Lengths and ids go before rows, which may be any numbers. The last number is the first id that
   rank 0, to which it goes, does not own; ids of bags follow the bags' lengths. */
static bool must(const op_case *op, int64_t call, int value)
{
    return (call <= 2 && value < 3) || (call == 2 && value == 4 && op->name[0] != 'b');
}

/* One number at a time: all ranks fail with a sentence, or none does. */
static void test_numbers(void **state)
{
    static const int64_t values[] = {INT64_MAX, -5, INT64_C(1) << 36, 7999, 2000};

    (void)state;
    for (int c = 0; c < CASES; c++) {
        trial good = {.op = &cases[c]};
        run_trial(&good);
        if (good.status[0] != TSR_OK)
            print_error("%s: %s\n", cases[c].name, good.text[0]);
        assert_int_equal(good.status[0], TSR_OK);
        assert_true(good.calls[1] >= 2);
        for (int64_t at = 1; at <= good.calls[1]; at++)
            for (int v = 0; v < 5; v++) {
                trial t = {.op = &cases[c], .spoil_at = at, .value = values[v]};
                run_trial(&t);
                for (int r = 0; r < RANKS; r++) {
                    bool failed = t.status[r] != TSR_OK;
                    if (failed != must(&cases[c], at, v) && (!failed || t.status[0] == TSR_OK))
                        print_error("%s, call %d, %lld: rank %d says \"%s\"\n", cases[c].name,
                                    (int)at, (long long)values[v], r, t.text[r]);
                    assert_true(failed || !must(&cases[c], at, v));
                    assert_int_equal(failed, t.status[0] != TSR_OK);
                    assert_int_equal(failed, t.text[r][0] != 0);
                }
            }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_numbers)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
