/* SPDX-License-Identifier: Apache-2.0 */
/* test_reduction.c - reductions and scans: kernels against their references on random shapes; edges
   by value, on one rank and with their dim cut into parts; how many bytes are communicated; what is
   refused. */
#include <inttypes.h>

#include "support/test.h"
#include "support/kernel_check.h"
#include "op/local_call.h"
#include "op/op_case.h"
#include "support/sampling.h"

/* ---- kernels ---- */

static void append(char *text, size_t n, const char *format, ...)
{
    const size_t used = strlen(text);
    va_list args;

    va_start(args, format);
    vsnprintf(text + used, n - used, format, args);
    va_end(args);
}

/* A call of the op as a text, without its dtype. */
static void random_call(const char *op, uint64_t *seed, char *text, size_t n)
{
    const tsr_shape s = random_shape(seed);
    const char *comma = "dims=";
    const bool scan = !strncmp(op, "cum", 3), arg = !strncmp(op, "arg", 3);

    snprintf(text, n, "[");
    for (int d = 0; d < s.ndim; d++)
        append(text, n, "%s%" PRId64, d ? "," : "", s.size[d]);
    append(text, n, "] ");
    if (s.ndim > 0 && (scan || (arg && below(seed, 4))))
        append(text, n, "dim=%d ", (int)below(seed, s.ndim));
    for (int d = 0; d < s.ndim && !scan && !arg; d++)
        if (below(seed, 2)) {
            append(text, n, "%s%d", comma, d);
            comma = ",";
        }
    if (scan)
        append(text, n, " reverse=%s", below(seed, 2) ? "true" : "false");
    if (!strcmp(op, "norm"))
        append(text, n, " p=%s", (const char *[]){"1", "2", "inf"}[below(seed, 3)]);
    if (!strcmp(op, "var") || !strcmp(op, "std"))
        append(text, n, " correction=%d", (int)below(seed, 3));
}

/* Rounding of the result, and of sums of n terms that are larger than it. */
static bool is_close(tsr_dtype dtype, double x, double want, double n, double largest)
{
    const double rest = dtype == TSR_F64 ? 0x1p-50 : dtype == TSR_F32 ? 0x1p-20 : 0x1p-18;

    if (isnan(want) || isinf(want) || isinf(x))
        return isnan(want) ? isnan(x) : x == want;
    return fabs(x - want) <= 4 * eps_of(dtype) * fabs(want) + n * rest * largest + tiniest(dtype);
}

static void compare(const char *what, const tsr_kernel_call *call, const void *want)
{
    const tsr_operand *in = &call->in[0], *out = &call->out[0];
    const int64_t n = tsr_shape_count(&in->shape);
    const bool product = strstr(what, "prod");
    double largest = 0;

    for (int64_t i = 0; i < n; i++) {
        const double x = fabs(tsr__get(in->dtype, in->data, i));
        largest = isfinite(x) && x > largest ? x : largest;
    }
    for (int64_t i = 0; i < tsr_shape_count(&out->shape); i++) {
        const double x = tsr__get(out->dtype, out->data, i), y = tsr__get(out->dtype, want, i);
        const double most = product ? fabs(y) : strstr(what, "var ") ? largest * largest : largest;
        const bool good =
            tsr__dtype_is_float(out->dtype)
                ? is_close(out->dtype, x, y, product ? 8 + sqrt((double)n) : 8, most)
                : !memcmp((const char *)out->data + (size_t)i * tsr_dtype_size(out->dtype),
                          (const char *)want + (size_t)i * tsr_dtype_size(out->dtype),
                          tsr_dtype_size(out->dtype));
        if (!good)
            fail_msg("%s by %s: element %d is %.17g, reference %.17g", what,
                     tsr_kernel_variant_name(call->variant), (int)i, x, y);
    }
}

static void run_all(const tsr_op *op, const char *text, numbers content, uint64_t *seed)
{
    const tsr_mesh_shape mesh = tsr__case_mesh(1);
    const tsr_windows none = {0};
    tsr_heap heap = {0};
    const int coord = 0;
    tsr_kernel_call call = {0};
    tsr_error err = {0};
    tsr_schema s;
    tsr_spec out;
    void *want;

    if (tsr__case_read(op, text, &mesh, &s, &err) != TSR_OK)
        return; /* an empty dim without a maximum, a scan without dims */
    out = (tsr_spec){.dtype = s.out_dtype[0], .shape = s.out_shape[0], .mesh = mesh};
    tsr__local_call(&s, s.in, &out, &none, &coord, &call);
    call.in[0] = operand(s.in[0].dtype, s.in[0].shape);
    call.out[0] = operand(out.dtype, out.shape);
    fill(&call.in[0], content, seed);
    call.reference = true;
    assert_int_equal(tsr__kernel_once(&heap, op, &call, &err), TSR_OK);
    want = call.out[0].data;
    call.reference = false;
    for (tsr_kernel_variant v = TSR_VARIANT_PLAIN; v <= TSR_VARIANT_AVX2; v++) {
        char what[TSR_TEXT_LEN];

        call.out[0].data = operand(out.dtype, out.shape).data;
        call.variant = v;
        snprintf(what, sizeof what, "%s %s", op->name, text);
        assert_int_equal(tsr__kernel_once(&heap, op, &call, &err), TSR_OK);
        compare(what, &call, want);
        free(call.out[0].data);
    }
    call.out[0].data = want;
    free_call(&call);
}

static const char *const ops[] = {"prod",   "min",    "norm", "var", "std",    "logsumexp",
                                  "argmax", "argmin", "any",  "all", "cumsum", "cumprod"};
enum { OPS = sizeof ops / sizeof *ops };

static void kernels_are_their_references(void **state)
{
    /* longer than what is walked together */
    static const char *const large[] = {"[1031,37] dim=0",  "[37,1031] dim=1", "[9001] dim=0",
                                        "[5,2049,3] dim=1", "[3,1100] dim=1",  "[700,1100] dim=0",
                                        "[41,600] dim=1"};
    const int64_t step = sample_quick();
    uint64_t seed = 5;
    char call[TSR_TEXT_LEN], text[2 * TSR_TEXT_LEN];
    int number = 0;

    (void)state;
    for (int64_t t = sample_first(step); t < 12000; t += step) {
        const char *name = ops[t % OPS];
        const bool chooses = strchr("ma", name[0]) && strcmp(name, "max");

        random_call(name, &seed, call, sizeof call);
        snprintf(text, sizeof text, "%s%s", tsr_dtype_name(dtypes[below(&seed, 8)]), call);
        run_all(tsr_op_find(NULL, name), text,
                strstr(name, "prod")
                    ? FACTORS
                    : (numbers)below(&seed, chooses || !strcmp(name, "logsumexp") ? 3 : 2),
                &seed);
    }
    for (int k = 0; k < OPS; k++)
        for (size_t i = 0; i < sizeof large / sizeof *large; i++)
            for (int d = 0; d < 8; d++, number++) {
                const bool dim = !strncmp(ops[k], "arg", 3) || !strncmp(ops[k], "cum", 3);
                const char *space = strchr(large[i], ' ');

                if (!sample_has(number, step))
                    continue;
                snprintf(text, sizeof text, "%s%.*s %s%s", tsr_dtype_name(dtypes[d]),
                         (int)(space - large[i]), large[i], dim ? "dim" : "dims", space + 4);
                run_all(tsr_op_find(NULL, ops[k]), text, strstr(ops[k], "prod") ? FACTORS : REALS,
                        &seed);
            }
}

/* ---- edges, by value ---- */

enum { MOST = 8 };

static const struct {
    const char *op, *attrs[3]; /* of one dim */
    tsr_dtype dtype;
    int n;
    double x[MOST];
    int n_out; /* 1: reduced */
    double want[MOST];
} edges[] = {
    {"norm", {NULL}, TSR_F64, 3, {3e200, 0, 4e200}, 1, {5e200}},
    {"norm", {NULL}, TSR_F64, 4, {3e-200, 4e-200, 0, 0}, 1, {5e-200}},
    {"norm", {NULL}, TSR_BF16, 4, {0x3p100, 0x4p100, 0, 0}, 1, {0x5p100}},
    {"norm", {NULL}, TSR_F16, 5, {30000, 40000, 0, 0, 0}, 1, {49984}},
    {"norm", {NULL}, TSR_F32, 3, {0, 0, 0}, 1, {0}},
    {"norm", {NULL}, TSR_F64, 3, {INFINITY, 1, NAN}, 1, {NAN}},
    {"norm", {NULL}, TSR_F64, 3, {INFINITY, 1, 2}, 1, {INFINITY}},
    {"norm", {"p=1"}, TSR_F32, 4, {1, -2, 3, -4}, 1, {10}},
    {"norm", {"p=inf"}, TSR_F32, 4, {1, -2, 3, -4}, 1, {4}},
    {"norm", {"p=inf"}, TSR_F32, 0, {0}, 1, {0}},
    {"norm", {NULL}, TSR_F32, 0, {0}, 1, {0}},
    {"var", {NULL}, TSR_F64, 4, {1e9, 1e9 + 1, 1e9 + 2, 1e9 + 3}, 1, {5.0 / 3}},
    {"var", {"correction=0"}, TSR_F32, 4, {4e7f, 4e7f + 4, 4e7f + 8, 4e7f + 12}, 1, {20}},
    {"var", {NULL}, TSR_F32, 1, {3}, 1, {NAN}},
    {"var", {"correction=2"}, TSR_F32, 1, {3}, 1, {NAN}},
    {"var", {"correction=0"}, TSR_F32, 1, {3}, 1, {0}},
    {"var", {NULL}, TSR_F32, 0, {0}, 1, {NAN}},
    {"std", {NULL}, TSR_F64, 3, {1, 3, 5}, 1, {2}},
    {"logsumexp", {NULL}, TSR_F32, 3, {1000, 1000, -INFINITY}, 1, {1000.6931f}},
    {"logsumexp", {NULL}, TSR_F64, 3, {-1000, -1000, -2000}, 1, {-999.3068528194401}},
    {"logsumexp", {NULL}, TSR_F32, 3, {-INFINITY, -INFINITY, -INFINITY}, 1, {-INFINITY}},
    {"logsumexp", {NULL}, TSR_F32, 3, {-INFINITY, INFINITY, 1}, 1, {INFINITY}},
    {"logsumexp", {NULL}, TSR_F32, 3, {INFINITY, NAN, 1}, 1, {NAN}},
    {"logsumexp", {NULL}, TSR_F64, 0, {0}, 1, {-INFINITY}},
    {"argmax", {NULL}, TSR_F32, 6, {1, 5, 2, 5, 5, 0}, 1, {1}},
    {"argmax", {"dim=0"}, TSR_F32, 6, {1, 5, 2, NAN, 9, NAN}, 1, {3}},
    {"argmin", {NULL}, TSR_I64, 6, {1, 5, 0, 5, 0, 3}, 1, {2}},
    {"argmin", {"dim=-1"}, TSR_F64, 6, {1, 0, -0.0, 0, 3, 1}, 1, {1}},
    {"argmax", {NULL}, TSR_BOOL, 5, {0, 0, 1, 1, 0}, 1, {2}},
    {"argmax", {NULL}, TSR_F32, 2, {-INFINITY, -INFINITY}, 1, {0}},
    {"any", {NULL}, TSR_F32, 4, {0, -0.0, 0, 0}, 1, {0}},
    {"any", {NULL}, TSR_F32, 4, {0, -0.0, 0, NAN}, 1, {1}},
    {"any", {NULL}, TSR_BF16, 4, {0, -0.0, 1e-30, 0}, 1, {1}},
    {"any", {NULL}, TSR_I64, 5, {0, 0, 0, 0, -7}, 1, {1}},
    {"any", {NULL}, TSR_U8, 0, {0}, 1, {0}},
    {"all", {NULL}, TSR_F64, 4, {1, 2, -0.0, 4}, 1, {0}},
    {"all", {NULL}, TSR_I32, 4, {1, 2, 3, 4}, 1, {1}},
    {"all", {NULL}, TSR_BOOL, 4, {1, 1, 1, 0}, 1, {0}},
    {"all", {NULL}, TSR_BOOL, 0, {0}, 1, {1}},
    {"prod", {NULL}, TSR_BOOL, 3, {1, 0, 1}, 1, {0}},
    {"min", {NULL}, TSR_BOOL, 3, {1, 1, 1}, 1, {1}},
    {"min", {NULL}, TSR_F32, 3, {1, NAN, -1}, 1, {NAN}},
    {"prod", {NULL}, TSR_U8, 3, {16, 3, 16}, 1, {0}}, /* modulo 256 */
    {"prod", {NULL}, TSR_F32, 0, {0}, 1, {1}},
    {"cumsum", {"dim=0"}, TSR_F32, 5, {1, 2, 3, 4, 5}, 5, {1, 3, 6, 10, 15}},
    {"cumsum", {"dim=0", "reverse=true"}, TSR_I64, 5, {1, 2, 3, 4, 5}, 5, {15, 14, 12, 9, 5}},
    {"cumsum", {"dim=0"}, TSR_U8, 4, {200, 100, 1, 1}, 4, {200, 44, 45, 46}},
    {"cumsum", {"dim=0"}, TSR_BF16, 4, {256, 1, 1, 1}, 4, {256, 256, 258, 260}},
    {"cumprod", {"dim=-1"}, TSR_F64, 5, {1, 2, 3, 4, 5}, 5, {1, 2, 6, 24, 120}},
    {"cumprod", {"dim=0", "reverse=true"}, TSR_I32, 4, {1, 2, 3, 4}, 4, {24, 24, 12, 4}},
};
enum { EDGES = sizeof edges / sizeof *edges };

/* Sharded by its dim, on any number of ranks. */
static tsr_status check_edge(tsr_mesh *mesh, void *arg)
{
    const int e = *(const int *)arg;
    double x[MOST], got[MOST];
    char spec[TSR_TEXT_LEN];
    int n_attrs = 0;
    tsr_tensor *in, *y;
    tsr_dtype dtype;

    tsr__convert(edges[e].dtype, x, TSR_F64, edges[e].x, edges[e].n);
    snprintf(spec, sizeof spec, "%s[%d]@[S(0)%s]", tsr_dtype_name(edges[e].dtype), edges[e].n,
             tsr_mesh_shape_get(mesh)->ndim > 1 ? ",S(0)" : "");
    while (n_attrs < 3 && edges[e].attrs[n_attrs])
        n_attrs++;
    in = from_host(mesh, spec, x);
    y = tsr_op_run(mesh, edges[e].op, &in, 1, edges[e].attrs, n_attrs);
    CHECK(tsr_mesh_status(mesh) == TSR_OK);
    dtype = tsr_tensor_spec(y)->dtype;
    CHECK(tsr_to_host(y, got, (size_t)edges[e].n_out * tsr_dtype_size(dtype)) == TSR_OK);
    for (int i = 0; i < edges[e].n_out; i++) {
        const double a = tsr__get(dtype, got, i), b = edges[e].want[i];
        const bool good = isnan(b) ? isnan(a) : a == b || fabs(a - b) <= 2e-7 * fabs(b);
        if (!good)
            fprintf(stderr, "edge %d, %s: %.17g, not %.17g\n", e, edges[e].op, a, b);
        CHECK(good);
    }
    return TSR_OK;
}

static void edges_are_right(void **state)
{
    (void)state;
    for (int e = 0; e < EDGES; e++) {
        pass_on("1", check_edge, &e);
        pass_on("3", check_edge, &e);
        pass_on("2x2", check_edge, &e);
    }
}

/* ---- many elements: numbers of results are exchanged, or rows go eight at a time ---- */

enum { LONG = 903, COLUMNS = 3 };

/* Column by column: large integers that are alike as f64, the best neither first nor last; ties of
   the best on other ranks; one best element, in the last row for the greatest and in the first for
   the least. */
static int64_t integer_at(int64_t row, int column, bool narrow)
{
    const int64_t large = narrow ? 1000000 : INT64_C(1) << 60;

    if (column == 0)
        return large + row * 37 % 101 + row / 226 - (row == 700) * 200 + (row == 400) * 300;
    if (column == 1)
        return row % 300 == 7 ? large : row % 300 == 11 ? -large : row;
    return row - large;
}

static tsr_status places_job(tsr_mesh *mesh, void *arg)
{
    static const int64_t greatest[] = {400, 7, LONG - 1}, least[] = {700, 11, 0};
    static int64_t wide[LONG * COLUMNS];
    static int32_t narrow[LONG * COLUMNS];
    const int dim = 0, rank = tsr_mesh_rank(mesh), size = tsr_mesh_size(mesh);
    int64_t got[COLUMNS], all;
    tsr_tensor *x;
    (void)arg;

    if (rank == 0)
        for (int i = 0; i < LONG * COLUMNS; i++) {
            wide[i] = integer_at(i / COLUMNS, i % COLUMNS, false);
            narrow[i] = (int32_t)integer_at(i / COLUMNS, i % COLUMNS, true);
        }
    for (int k = 0; k < 2; k++) {
        x = tsr_from_root(mesh, k ? "i32[903,3]@[S(0)]" : "i64[903,3]@[S(0)]",
                          k ? (const void *)narrow : (const void *)wide,
                          k ? 903 * 3 * sizeof *narrow : 903 * 3 * sizeof *wide, 0);
        tsr_counters_reset(mesh);
        CHECK(tsr_to_host(tsr_argmax(x, &dim, false), got, sizeof got) == TSR_OK);
        CHECK(memcmp(got, greatest, sizeof got) == 0);
        CHECK(tsr_to_host(tsr_argmin(x, &dim, false), got, sizeof got) == TSR_OK);
        CHECK(memcmp(got, least, sizeof got) == 0);
        CHECK(tsr_to_host(tsr_argmax(x, NULL, false), &all, sizeof all) == TSR_OK);
        CHECK(all == 400 * COLUMNS);
        CHECK(tsr_counters_get(mesh).bytes_in <= (size - 1) * (4 * COLUMNS + 2) * 8);
    }
    return TSR_OK;
}

static void places_are_merged(void **state)
{
    (void)state;
    pass_on("1", places_job, NULL);
    pass_on("2", places_job, NULL);
    pass_on("4", places_job, NULL);
}

enum { EIGHTS = 19, ROW = 3001 }; /* of more than 8192 bytes, which is no multiple of a register */

static double number_at(int row, int column)
{
    static const double two[] = {2, -1, 0.5, -2, 1, -0.5, 4, 0.25, -4};

    return two[(row * 5 + column * 7 + row * column) % 9];
}

static tsr_status eights_job(tsr_mesh *mesh, void *arg)
{
    const int dim = 0;
    (void)arg;

    for (int type = 0; type < 3; type++) {
        static const tsr_dtype types[] = {TSR_F32, TSR_F64, TSR_BF16};
        double *x = calloc(EIGHTS * ROW, 8), *y = calloc(ROW, 8);
        tsr_tensor *in = NULL;

        for (int i = 0; x && i < EIGHTS * ROW; i++)
            x[i] = number_at(i / ROW, i % ROW);
        in = x ? tsr_cast(from_host(mesh, "f64[19,3001]@[R]", x), types[type]) : NULL;
        free(x);
        for (int op = 0; op < 7; op++) {
            static const double power[] = {1, 2, INFINITY};
            tsr_tensor *out = op == 0   ? tsr_prod(in, &dim, 1, false)
                              : op == 1 ? tsr_min(in, &dim, 1, false)
                              : op == 2 ? tsr_max(in, &dim, 1, false)
                              : op == 3 ? tsr_sum(in, &dim, 1, false)
                                        : tsr_norm(in, power[op - 4], &dim, 1, false);
            double wrong = 0;

            if (!y || tsr_to_host(tsr_cast(out, TSR_F64), y, ROW * 8) != TSR_OK)
                wrong = INFINITY;
            for (int c = 0; c < ROW && wrong == 0; c++) {
                double want = number_at(0, c), d;

                want = op == 4 || op == 6 ? fabs(want) : op == 5 ? want * want : want;
                for (int r = 1; r < EIGHTS; r++) {
                    const double v = number_at(r, c);
                    want = op == 0   ? want * v
                           : op == 1 ? fmin(want, v)
                           : op == 2 ? fmax(want, v)
                           : op == 3 ? want + v
                           : op == 4 ? want + fabs(v)
                           : op == 5 ? want + v * v
                                     : fmax(want, fabs(v));
                }
                want = op == 5 ? sqrt(want) : want;
                d = fabs(y[c] - want);
                wrong = d <= (type == 2 ? 1e-2 : 1e-6) * fabs(want) ? 0 : d;
            }
            if (wrong != 0)
                free(y);
            CHECK(wrong == 0);
        }
        free(y);
    }
    return TSR_OK;
}

static void rows_eight_at_a_time(void **state)
{
    (void)state;
    pass_on("1", eights_job, NULL);
}

/* Dims that are not side by side; squares that are beyond the range. */
static tsr_status apart_job(tsr_mesh *mesh, void *arg)
{
    const int dims[] = {0, 2, 4};
    double x[108], total[4] = {0}, squares[4] = {0}, got[4];
    (void)arg;

    for (int i = 0; i < 108; i++) { /* the second and the fourth dim stay */
        const int at = i / 18 % 2 * 2 + i / 3 % 2;
        x[i] = (i * 31 + i / 7) % 29;
        total[at] += x[i];
        squares[at] += x[i] * x[i];
    }
    CHECK(tsr_to_host(tsr_var(from_host(mesh, "f64[3,2,3,2,3]@[R]", x), dims, 3, 1, false), got,
                      sizeof got) == TSR_OK);
    for (int i = 0; i < 4; i++)
        CHECK(fabs(got[i] - (squares[i] - total[i] * total[i] / 27) / 26) < 1e-10);
    for (int i = 0; i < 108; i++)
        x[i] *= 1e200;
    CHECK(tsr_to_host(tsr_norm(from_host(mesh, "f64[3,2,3,2,3]@[R]", x), 2, dims, 3, false), got,
                      sizeof got) == TSR_OK);
    for (int i = 0; i < 4; i++)
        CHECK(fabs(got[i] / (1e200 * sqrt(squares[i])) - 1) < 1e-14);
    return TSR_OK;
}

static void dims_apart(void **state)
{
    (void)state;
    pass_on("1", apart_job, NULL);
}

/* ---- communication ---- */

static int64_t bytes_of(tsr_mesh *mesh, const char *op, const char *attr)
{
    tsr_tensor *x = tsr_arange(mesh, "f32[600,10]@[S(0)]", 1, 0.001);
    const int64_t before = tsr_counters_get(mesh).bytes_in;

    tsr_op_run(mesh, op, &x, 1, &attr, attr ? 1 : 0);
    return tsr_mesh_status(mesh) == TSR_OK ? tsr_counters_get(mesh).bytes_in - before : -1;
}

/* Words of results: the data are 4 * 6000 bytes. */
static tsr_status check_bytes(tsr_mesh *mesh, void *arg)
{
    const int64_t others = tsr_mesh_size(mesh) - 1;
    (void)arg;

    CHECK(bytes_of(mesh, "norm", "dims=0") == others * 10 * 8);
    CHECK(bytes_of(mesh, "norm", "p=1") == 0);
    CHECK(bytes_of(mesh, "norm", "p=inf") == 0);
    CHECK(bytes_of(mesh, "prod", "dims=0") == 0);
    CHECK(bytes_of(mesh, "min", "dims=0") == 0);
    CHECK(bytes_of(mesh, "var", "dims=0") == others * 21 * 8);
    CHECK(bytes_of(mesh, "std", NULL) == others * 3 * 8);
    CHECK(bytes_of(mesh, "logsumexp", "dims=0") == others * 20 * 8);
    CHECK(bytes_of(mesh, "any", "dims=0") == others * 2 * 8);
    CHECK(bytes_of(mesh, "all", NULL) == others * 8);
    CHECK(bytes_of(mesh, "argmax", NULL) == others * 2 * 8);
    CHECK(bytes_of(mesh, "argmin", "dim=0") == others * 20 * 8);
    CHECK(bytes_of(mesh, "argmin", "dim=1") == 0);
    CHECK(bytes_of(mesh, "cumsum", "dim=0") == others * 10 * 8);
    CHECK(bytes_of(mesh, "cumprod", "dim=1") == 0);
    return TSR_OK;
}

static void only_results_travel(void **state)
{
    (void)state;
    pass_on("2", check_bytes, NULL);
    pass_on("4", check_bytes, NULL);
}

/* ---- typed functions ---- */

static tsr_status check_typed(tsr_mesh *mesh, void *arg)
{
    tsr_tensor *x = tsr_arange(mesh, "f64[2,3]@[S(1)]", 1, 1); /* 1 2 3, 4 5 6 */
    const int one = 1, two[] = {0, 1};
    struct {
        tsr_tensor *y;
        int n;
        double want[6];
    } calls[] = {
        {tsr_prod(x, &one, 1, false), 2, {6, 120}},
        {tsr_min(x, NULL, 0, true), 1, {1}},
        {tsr_norm(x, 1, &one, 1, false), 2, {6, 15}},
        {tsr_norm(x, INFINITY, two, 2, false), 1, {6}},
        {tsr_var(x, &one, 1, 0, true), 2, {2.0 / 3, 2.0 / 3}},
        {tsr_std(x, &one, 1, 1, false), 2, {1, 1}},
        {tsr_logsumexp(x, &one, 1, false), 2, {3.4076059644443806, 6.4076059644443806}},
        {tsr_cumsum(x, -1, false), 6, {1, 3, 6, 4, 9, 15}},
        {tsr_cumprod(x, 1, true), 6, {6, 6, 3, 120, 30, 6}},
    };
    int64_t index[2];
    uint8_t truth[2];
    double got[6];

    (void)arg;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        CHECK(tsr_to_host(calls[i].y, got, (size_t)calls[i].n * sizeof *got) == TSR_OK);
        for (int k = 0; k < calls[i].n; k++)
            CHECK(fabs(got[k] - calls[i].want[k]) <= 1e-14 * calls[i].want[k]);
    }
    CHECK(tsr_to_host(tsr_argmax(x, &one, true), index, sizeof index) == TSR_OK);
    CHECK(index[0] == 2 && index[1] == 2);
    CHECK(tsr_to_host(tsr_argmin(x, NULL, false), index, sizeof *index) == TSR_OK);
    CHECK(index[0] == 0);
    CHECK(tsr_to_host(tsr_all(x, &one, 1, false), truth, sizeof truth) == TSR_OK);
    CHECK(truth[0] == 1 && truth[1] == 1);
    CHECK(tsr_to_host(tsr_any(x, NULL, 0, false), truth, 1) == TSR_OK && truth[0] == 1);
    return TSR_OK;
}

static void typed_functions(void **state)
{
    (void)state;
    pass_on("1", check_typed, NULL);
    pass_on("2", check_typed, NULL);
}

/* ---- means of nothing ---- */

/* NaN, as 0 / 0 is; but not where only parts have nothing. */
static tsr_status check_nothing(tsr_mesh *mesh, void *arg)
{
    static const char *const dtypes_of[] = {"f32", "f64", "f16", "bf16"};
    static const char *const places[] = {"R", "S(0)", "S(1)", "P(sum)", "P(avg)"};
    const int zero = 0;
    char text[TSR_TEXT_LEN];
    double got[3];

    (void)arg;
    for (int d = 0; d < 4; d++)
        for (int p = 0; p < 5; p++)
            for (int all = 0; all < 2; all++) {
                tsr_tensor *x, *y;

                snprintf(text, sizeof text, "%s[0,3]@[%s]", dtypes_of[d], places[p]);
                x = tsr_zeros(mesh, text);
                y = tsr_cast(tsr_mean(x, &zero, !all, p % 2), TSR_F64);
                CHECK(tsr_to_host(y, got, all ? 8 : sizeof got) == TSR_OK);
                for (int i = 0; i < (all ? 1 : 3); i++)
                    CHECK(isnan(got[i]));
                snprintf(text, sizeof text, "%s[1,3]@[%s]", dtypes_of[d], places[p]);
                y = tsr_cast(tsr_mean(tsr_arange(mesh, text, 1, 1), &zero, !all, p % 2), TSR_F64);
                CHECK(tsr_to_host(y, got, all ? 8 : sizeof got) == TSR_OK);
                for (int i = 0; i < (all ? 1 : 3); i++) /* thirds that are added up, of bf16 too */
                    CHECK(fabs(got[i] - (all ? 2 : i + 1)) <= 0.02);
            }
    CHECK(tsr_tensor_spec(tsr_mean(tsr_zeros(mesh, "f32[3,0]@[S(0)]"), &zero, 1, false))
              ->shape.size[0] == 0);
    return TSR_OK;
}

static void means_of_nothing(void **state)
{
    (void)state;
    pass_on("1", check_nothing, NULL);
    pass_on("2", check_nothing, NULL);
    pass_on("4", check_nothing, NULL);
}

/* ---- products in f16 ---- */

/* All products are 1, those of one rank's elements or terms 2^16 and more. */
static tsr_status check_products(tsr_mesh *mesh, void *arg)
{
    enum { N = 4 };
    const tsr_shape shape = {.ndim = 1, .size = {N}};
    const float up = 0x1p8f, down = 0x1p-8f, elements[N] = {up, up, down, down};
    const float terms[2][N] = {{up, up, up, up}, {down, down, down, down}};
    tsr_tensor *x[2], *y;
    uint16_t half[N];
    double got[N];

    (void)arg;
    tsr__convert(TSR_F16, half, TSR_F32, elements, N);
    x[0] = tsr_redistribute(from_host(mesh, "f16[4]@[R]", half), "[S(0)]");
    tsr__convert(TSR_F16, half, TSR_F32, terms[tsr_mesh_index(mesh)], N);
    x[1] = from_local(mesh, "f16[4]@[P(prod)]", half, &shape);
    for (int i = 0; i < 2; i++) {
        y = tsr_cast(tsr_prod(x[i], NULL, 0, false), TSR_F64);
        CHECK(tsr_to_host(y, got, 8) == TSR_OK && got[0] == 1);
    }
    for (int reverse = 0; reverse < 2; reverse++) {
        y = tsr_cast(tsr_cumprod(x[1], 0, reverse), TSR_F64);
        CHECK(tsr_to_host(y, got, sizeof got) == TSR_OK);
        for (int i = 0; i < N; i++)
            CHECK(got[i] == 1);
    }
    y = tsr_cast(tsr_cumprod(x[0], 0, false), TSR_F64);
    CHECK(tsr_to_host(y, got, sizeof got) == TSR_OK);
    CHECK(got[0] == up && isinf(got[1]) && got[2] == up && got[3] == 1);
    return TSR_OK;
}

static void products_leave_no_range(void **state)
{
    (void)state;
    pass_on("2", check_products, NULL);
}

/* ---- what is refused ---- */

static const struct {
    const char *op, *in, *attr, *sentence;
} bad[] = {
    {"min", "f32[3,0]", "dims=1", "min: dim 1 of f32[3,0]@[R] is empty, it has no minimum"},
    {"argmax", "f32[3,0]", "dim=1",
     "argmax: dim 1 of f32[3,0]@[R] is empty, it has no largest or smallest element"},
    {"argmin", "f32[0]", NULL,
     "argmin: dim 0 of f32[0]@[R] is empty, it has no largest or smallest element"},
    {"norm", "f32[3]", "p=3", "norm: p must be 1, 2 or inf, not 3"},
    {"norm", "f32[3]", "p=-inf", "norm: p must be 1, 2 or inf, not -inf"},
    {"norm", "i32[3]", NULL, "norm: needs a floating-point dtype, not i32[3]@[R]"},
    {"var", "bool[3]", NULL, "var: needs a floating-point dtype, not bool[3]@[R]"},
    {"logsumexp", "u8[3]", NULL, "logsumexp: needs a floating-point dtype, not u8[3]@[R]"},
    {"cumsum", "f32[3]", NULL, "cumsum: missing required attribute dim"},
    {"cumprod", "bool[3]", "dim=0", "cumprod: needs a numeric dtype, not bool, bool[3]@[R]"},
};

static tsr_status check_bad(tsr_mesh *mesh, void *arg)
{
    const int i = *(const int *)arg;
    tsr_tensor *x = tsr_zeros(mesh, bad[i].in);

    tsr_op_run(mesh, bad[i].op, &x, 1, &bad[i].attr, bad[i].attr ? 1 : 0);
    CHECK(tsr_mesh_status(mesh) != TSR_OK);
    if (strcmp(tsr_mesh_message(mesh), bad[i].sentence) != 0) {
        fprintf(stderr, "%s\n", tsr_mesh_message(mesh));
        return TSR_ERR_MISMATCH;
    }
    return TSR_OK;
}

static void bad_input(void **state)
{
    (void)state;
    for (int i = 0; i < (int)(sizeof bad / sizeof *bad); i++)
        pass_on("2", check_bad, &i);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_are_their_references),
        cmocka_unit_test(edges_are_right),
        cmocka_unit_test(places_are_merged),
        cmocka_unit_test(rows_eight_at_a_time),
        cmocka_unit_test(dims_apart),
        cmocka_unit_test(only_results_travel),
        cmocka_unit_test(typed_functions),
        cmocka_unit_test(means_of_nothing),
        cmocka_unit_test(products_leave_no_range),
        cmocka_unit_test(bad_input),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
