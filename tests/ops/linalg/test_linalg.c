/* SPDX-License-Identifier: Apache-2.0 */
/* test_linalg.c - einsum and attention on one rank: fast kernels against their references, at sizes
   that cross their blocks, in all dtypes; rows that see nothing; and calls that cannot be, each
   with its sentence. */
#include "support/test.h"
#include "kernel/blas.h"
#include "op/local_call.h"
#include "op/op_case.h"
#include "op/schema.h"
#include "support/sampling.h"

static const char *const DTYPES[] = {"f32", "f64", "f16", "bf16"};
static const double EPS[] = {0x1p-23, 0x1p-52, 0x1p-10, 0x1p-7};

/* A case with another dtype instead of f64; of `fine` inputs (as a mask) f32 instead of halves. */
static void retype(const char *text, int dtype, unsigned fine, char *buf, size_t n)
{
    size_t used = 0;
    int input = 0;

    while (*text && used + 8 < n) {
        if (strncmp(text, "f64", 3) == 0) {
            const bool half = dtype > TSR_F64 && fine >> input & 1;
            used += (size_t)snprintf(buf + used, n - used, "%s", half ? "f32" : DTYPES[dtype]);
            text += 3;
        } else {
            input += *text == ' ';
            buf[used++] = *text++;
        }
    }
    buf[used] = 0;
}

static double value(int k, int64_t i)
{
    return sin((double)(i * 7 + k * 13 + i / 11));
}

typedef struct result {
    tsr_schema schema;
    tsr_kernel_call call;
} result;

static void *zeros(size_t bytes)
{
    void *p = calloc(bytes + 8, 1);

    assert_non_null(p);
    return p;
}

static void run_case(const char *op, const char *text, bool reference, result *r)
{
    const tsr_mesh_shape mesh = tsr__case_mesh(1);
    const tsr_windows none = {0};
    const int coord = 0;
    tsr_spec out[TSR_OP_OUTPUTS];
    tsr_heap heap = {0};
    tsr_error err = {0};
    tsr_schema *s = &r->schema;

    *r = (result){0};
    if (tsr__case_read(tsr__op_find(op), text, &mesh, s, &err) != TSR_OK)
        fail_msg("%s %s: %s", op, text, err.text);
    for (int k = 0; k < s->n_out; k++)
        out[k] = (tsr_spec){.dtype = s->out_dtype[k], .shape = s->out_shape[k], .mesh = mesh};
    r->call.variant = reference ? TSR_VARIANT_REFERENCE : TSR_VARIANT_AUTO;
    tsr__local_call(s, s->in, out, &none, &coord, &r->call);
    for (int k = 0; k < s->n_in; k++) {
        const int64_t n = tsr__schema_has(s, k) ? tsr_shape_count(&s->in[k].shape) : 0;

        if (!tsr__schema_has(s, k))
            continue;
        r->call.in[k].data = zeros((size_t)n * 8);
        for (int64_t i = 0; i < n; i++)
            tsr__put(s->in[k].dtype, r->call.in[k].data, i,
                     s->in[k].dtype == TSR_BOOL                        ? (double)(i % 3 != 0)
                     : tsr__case_range(text, k).kind != TSR_RANGE_NONE ? 4 + value(k, i)
                                                                       : value(k, i));
    }
    for (int k = 0; k < s->n_out; k++)
        r->call.out[k].data = zeros((size_t)tsr_shape_count(&s->out_shape[k]) * 8);
    if (tsr__kernel_once(&heap, s->op, &r->call, &err) != TSR_OK)
        fail_msg("%s %s: %s", op, text, err.text);
}

static void release(result *r)
{
    for (int k = 0; k < r->schema.n_in; k++)
        free(r->call.in[k].data);
    for (int k = 0; k < r->schema.n_out; k++)
        free(r->call.out[k].data);
}

/* Within some units of the largest element. */
static void compare(const char *op, const char *text)
{
    result fast, naive;

    run_case(op, text, false, &fast);
    run_case(op, text, true, &naive);
    for (int k = 0; k < fast.schema.n_out; k++) {
        const tsr_dtype dtype = fast.schema.out_dtype[k];
        const int64_t n = tsr_shape_count(&fast.schema.out_shape[k]);
        double largest = 0;

        for (int64_t i = 0; i < n; i++)
            largest = fmax(largest, fabs(tsr__get(dtype, naive.call.out[k].data, i)));
        for (int64_t i = 0; i < n; i++) {
            double x = tsr__get(dtype, fast.call.out[k].data, i);
            double y = tsr__get(dtype, naive.call.out[k].data, i);

            if (x != y && !(fabs(x - y) <= 64 * EPS[dtype] * largest))
                fail_msg("%s %s: output %d, element %d is %.9g, by reference %.9g", op, text, k,
                         (int)i, x, y);
        }
    }
    release(&fast);
    release(&naive);
}

/* In a sample every text has one of the dtypes, another one for texts of another length. */
static void compare_all(const char *op, const char *text, unsigned fine)
{
    const int64_t step = sample_quick() < 4 ? sample_quick() : 4;
    char line[TSR_TEXT_LEN];

    for (int dtype = 0; dtype < 4; dtype++) {
        if (!sample_has(dtype + (int64_t)strlen(text), step))
            continue;
        retype(text, dtype, fine, line, sizeof line);
        compare(op, line);
    }
}

/* ---- einsum ---- */

static void test_einsum(void **state)
{
    static const char *const cases[] = {
        "f64[30,40] f64[40,50] equation=ij,jk->ik", /* the four ways to turn, and the result */
        "f64[40,30] f64[40,50] equation=ji,jk->ik",
        "f64[30,40] f64[50,40] equation=ij,kj->ik",
        "f64[40,30] f64[50,40] equation=ji,kj->ik",
        "f64[30,40] f64[40,50] equation=ij,jk->ki",
        "f64[3,20,30] f64[3,30,40] equation=bij,bjk->bik",
        "f64[3,20,30] f64[3,30,40] equation=bij,bjk->ikb", /* the result is rearranged */
        "f64[20,3,30] f64[30,40,3] equation=ibj,jkb->bik", /* an operand is */
        "f64[4,5,6,7] f64[7,6,8] equation=abcd,dce->abe",  /* terms in another order */
        "f64[4,5,6,7] f64[6,7,8] equation=abcd,cde->eab",  /* terms that merge */
        "f64[9,9,8] f64[8,9] equation=iij,ji->i",          /* a diagonal in a product */
        "f64[9,9,9] equation=iii->i",                      /* of three */
        "f64[7,5,6] equation=ijk->ki",                     /* sums along and across */
        "f64[7,5,60] equation=ijk->ij",
        "f64[7,5,6] equation=kji",
        "f64[12] f64[12] equation=i,i->i", /* no sums */
        "f64[50] f64[50] equation=i,i",
        "f64[7] f64[9] equation=i,j->ji",
        "f64[30,4] f64[5] f64[4,6] equation=ij,k,jl->ilk",
        "f64[6,20] f64[20,30] f64[30,5] f64[5,7] equation=ab,bc,cd,de->ae",
        "f64[6,20] f64[20,30] f64[30,5] f64[5,6] equation=ab,bc,cd,da->",
        "f64[3,1,20,30] f64[4,30,6] equation=...ij,...jk->...ik", /* broadcast */
        "f64[3,1,20] f64[4,20] equation=...i,...i->",             /* and summed */
        "f64[3,2,20] f64[20,4] equation=...i,iZ->Z...",
        "f64[5] f64[1] equation=...,...->...",
        "f64[3,0] f64[0,4] equation=ij,jk->ik", /* sums of nothing */
        "f64[0,3] f64[3,4] equation=ij,jk->ik",
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        compare_all("einsum", cases[i], 0);
    compare_all("linear", "f64[3,20,40] f64[30,40] f64[30]", 0);
    compare_all("linear", "f64[40] f64[30,40]", 0);
    compare_all("linear", "f64[300,270] f64[260,270] f64[260]", 0); /* more than a tile */
    compare_all("linear", "f64[140,160] f64[150,160] f64[150]", 0); /* whole vectors */
    compare_all("dot", "f64[1000] f64[1000]", 0);
    compare_all("outer", "f64[30] f64[50]", 0);
}

/* ---- attention ---- */

static void test_attention(void **state)
{
    static const char *const forward[] = {
        "f64[2,3,150,16] f64[2,3,530,16] f64[2,3,530,24]", /* more than a block of both */
        "f64[1,2,300,8] f64[1,2,600,8] f64[1,2,600,8] causal=true",
        "f64[1,2,600,8] f64[1,2,300,8] f64[1,2,300,8] causal=true",
        "f64[1,6,20,8] f64[1,2,40,8] f64[1,2,40,4] f64[20,40] scale=0.3",
        "f64[2,4,20,8] f64[2,1,600,8] f64[2,1,600,4] bool[2,1,1,600] causal=true",
        "f64[2,2,130,8] f64[2,2,30,8] f64[2,2,30,4] f64[2,1,130,1]",
        "f64[1,1,1,1] f64[1,1,1,1] f64[1,1,1,1]",
        "f64[1,1,5,4] f64[1,1,0,4] f64[1,1,0,3]", /* no keys */
        "f64[1,1,0,4] f64[1,1,5,4] f64[1,1,5,3]",
        "f64[1,3,5,4] f64[1,2,5,4] f64[1,2,5,3] group=2", /* of two groups one is not full */
    };
    static const char *const backward[] = {
        "f64[1,2,150,12] f64[1,2,150,8] f64[1,2,530,8] f64[1,2,530,12] f64[1,2,150,12] "
        "f64[1,2,150]+",
        "f64[1,4,140,8] f64[1,4,140,8] f64[1,2,60,8] f64[1,2,60,8] f64[1,4,140,8] f64[1,4,140]+ "
        "f64[1,4,140] f64[140,60] causal=true mask_grad=true",
        "f64[2,2,20,8] f64[2,2,20,8] f64[2,2,30,8] f64[2,2,30,8] f64[2,2,20,8] f64[2,2,20]+ - "
        "f64[2,1,1,30] mask_grad=true scale=0.5",
        "f64[2,2,20,8] f64[2,2,20,8] f64[2,2,30,8] f64[2,2,30,8] f64[2,2,20,8] f64[2,2,20]+ - "
        "bool[20,30]",
    };

    (void)state;
    for (size_t i = 0; i < sizeof forward / sizeof *forward; i++)
        compare_all("attention", forward[i], 0);
    for (size_t i = 0; i < sizeof backward / sizeof *backward; i++)
        compare_all("attention_backward", backward[i], 1u << 5 | 1u << 6);
}

/* Rows that see nothing are zeros, their sums are of nothing, and no gradient comes from them. */
static void test_nothing_seen(void **state)
{
    result r;

    (void)state;
    /* bool masks are false at every third place: here in all of row 0 */
    run_case("attention", "f32[1,1,2,4] f32[1,1,3,4] f32[1,1,3,2] bool[2,1]", false, &r);
    for (int e = 0; e < 2; e++) {
        assert_true(((float *)r.call.out[0].data)[e] == 0);
        assert_true(((float *)r.call.out[0].data)[2 + e] != 0);
    }
    assert_true(((float *)r.call.out[1].data)[0] == -INFINITY);
    assert_true(isfinite(((float *)r.call.out[1].data)[1]));
    release(&r);
}

/* ---- what cannot be ---- */

static void test_bad(void **state)
{
    static const struct {
        const char *op, *text, *says;
    } bad[] = {
        {"einsum", "f64[4,6] equation=ij,jk->ik",
         "einsum: \"ij,jk->ik\" is for 2 operands, but 1 is given"},
        {"einsum", "f64[4,6] f64[6,2] equation=ij,jk->iz",
         "einsum: axis z of the output of \"ij,jk->iz\" is in no operand"},
        {"einsum", "f64[4,6] f64[6,2] equation=ij,jk->ii",
         "einsum: axis i is twice in the output of \"ij,jk->ii\""},
        {"einsum", "f64[4,6] f64[6,2] equation=ijl,jk->ik",
         "einsum: \"ijl\" names 3 axes, but operand 0 has 2 dims"},
        {"einsum", "f64[4,6] equation=...ijl",
         "einsum: \"...ijl\" names at least 3 axes, but operand 0 has 2 dims"},
        {"einsum", "f64[4,6] f64[5,2] equation=ij,jk->ik",
         "einsum: axis j of \"ij,jk->ik\" is of size 5 in operand 1, but of size 6 before it"},
        {"einsum", "f64[3,6] f64[2,6] equation=...i,...i->...",
         "einsum: dims of ... do not broadcast, operand 1 has 2, another 3"},
        {"einsum", "f64[4,6] equation=i1->i", "einsum: cannot read \"i1\" in \"i1->i\""},
        {"einsum", "f64[4,6] equation=ij->i->j", "einsum: cannot read \"i->j\" in \"ij->i->j\""},
        {"einsum", "f64[4,6] equation=i..j", "einsum: cannot read \"i..j\" in \"i..j\""},
        {"einsum", "f64[4,6] f64[6,2]", "einsum: missing required attribute equation"},
        {"einsum", "f64[4,6] - f64[6,2] equation=ij,jk->ik", "einsum: operand 1 is missing"},
        {"einsum",
         "f64[4] equation=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
         "einsum: equation has 65 characters, at most 63 are allowed"},
        {"einsum", /* 63 are read */
         "f64[4] equation=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
         "names 63 axes, but operand 0 has 1 dims"},
        {"einsum", "f64[1,1,1] f64[1,1,1] f64[1,1,1] equation=abc,def,ghi->abcdefghi",
         "einsum: the output of \"abc,def,ghi->abcdefghi\" has more than 8 dims"},
        {"einsum", "i32[4] equation=i->", "einsum: needs a floating-point dtype, not i32[4]"},
        {"dot", "f64[4] f64[5]", "dot: needs two vectors of the same size, not f64[4]"},
        {"outer", "f64[4] f64[5,1]", "outer: needs two vectors, not f64[4]"},
        {"bmm", "f64[2,3,4] f64[3,4,5]",
         "bmm: inputs must be [batch, m, k] and [batch, k, n], not"},
        {"linear", "f64[3,4] f64[4,5]", "linear: x must be [..., in] and weight [out, in], not"},
        {"linear", "f64[3,4] f64[5,4] f64[4]", "does not match 5 rows of weight f64[5,4]"},
        {"attention", "f64[2,2,4] f64[2,2,4] f64[2,2,4]",
         "attention: q must be [batch, heads, rows, dim]"},
        {"attention", "f64[2,3,4,2] f64[2,2,4,2] f64[2,2,4,2]",
         "attention: 3 query heads cannot share 2 key heads"},
        {"attention", "f64[2,2,4,2] f64[2,2,4,2] f64[2,2,4,2] group=0",
         "attention: group must be at least 1, not 0"},
        {"attention", "f64[2,2,4,2] f64[2,2,6,2] f64[2,2,6,2] f64[6,4]",
         "does not broadcast to [batch, heads, rows, keys], [2,2,4,6]"},
        {"attention", "f64[2,2,4,2] f64[2,2,6,2] f64[2,2,6,2] f32[4,6]",
         "attention: mask must be bool or of q's dtype f64, not f32"},
        {"attention", "f64[2,2,4,2] f32[2,2,6,2] f64[2,2,6,2]",
         "attention: q, k and v must have the same floating-point dtype, not f64, f32 and f64"},
        {"attention_backward",
         "f64[1,1,2,2] f64[1,1,2,2] f64[1,1,2,2] f64[1,1,2,2] f64[1,1,2,2] f64[1,1,3]",
         "attention_backward: lse must be f64[1,1,2] for these q and v, not f64[1,1,3]"},
        {"attention_backward",
         "f64[1,1,2,2] f64[1,1,2,2] f64[1,1,2,2] f64[1,1,2,2] f64[1,1,2,2] f64[1,1,2] "
         "mask_grad=true",
         "attention_backward: mask_grad=true needs a floating-point mask"},
    };
    const tsr_mesh_shape mesh = tsr__case_mesh(1);

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        tsr_error err = {0};
        tsr_schema s;

        if (tsr__case_read(tsr__op_find(bad[i].op), bad[i].text, &mesh, &s, &err) == TSR_OK ||
            !strstr(err.text, bad[i].says))
            fail_msg("%s %s: \"%s\", expected \"%s\"", bad[i].op, bad[i].text, err.text,
                     bad[i].says);
    }
    assert_null(tsr_einsum("ij->i", NULL, 0)); /* no tensor, so no mesh that could be told */
    assert_null(tsr_einsum("ij->i", NULL, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_einsum),
        cmocka_unit_test(test_attention),
        cmocka_unit_test(test_nothing_seen),
        cmocka_unit_test(test_bad),
    };

    tsr__blas_setup(); /* kernels are called without a job here */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
