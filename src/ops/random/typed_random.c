/* SPDX-License-Identifier: Apache-2.0 */
/* typed_random.c - random numbers of tessera_ops.h. Where none is given, offsets are 0. */
#include "ops/op_ids.h"
#include "ops/random/typed_creation.h"
#include "ops/random/random.h"
#include "tessera_ops.h"

tsr_tensor *tsr_uniform(tsr_mesh *mesh, const char *spec, double low, double high, uint64_t seed)
{
    return tsr__make_by(
        TSR_ID_UNIFORM, mesh, spec,
        (const tsr_attr[]){typed_float(low), typed_float(high), tsr__seed(seed), tsr__seed(0)});
}

tsr_tensor *tsr_normal(tsr_mesh *mesh, const char *spec, double mean, double std, uint64_t seed)
{
    return tsr__make_by(
        TSR_ID_NORMAL, mesh, spec,
        (const tsr_attr[]){tsr__number(mean), tsr__number(std), tsr__seed(seed), tsr__seed(0)});
}

tsr_tensor *tsr_randn(tsr_mesh *mesh, const char *spec, uint64_t seed)
{
    return tsr_normal(mesh, spec, 0, 1, seed);
}

tsr_tensor *tsr_bernoulli(tsr_mesh *mesh, const char *spec, double p, uint64_t seed)
{
    return tsr__make_by(TSR_ID_BERNOULLI, mesh, spec,
                        (const tsr_attr[]){tsr__number(p), tsr__seed(seed), tsr__seed(0)});
}

tsr_tensor *tsr_randint(tsr_mesh *mesh, const char *spec, int64_t low, int64_t high, uint64_t seed)
{
    return tsr__make_by(
        TSR_ID_RANDINT, mesh, spec,
        (const tsr_attr[]){typed_int(low), typed_int(high), tsr__seed(seed), tsr__seed(0)});
}

tsr_tensor *tsr_permutation(tsr_mesh *mesh, const char *spec, uint64_t seed)
{
    return tsr__make_by(TSR_ID_PERMUTATION, mesh, spec,
                        (const tsr_attr[]){tsr__seed(seed), tsr__seed(0)});
}

tsr_tensor *tsr_dropout(tsr_tensor *x, double p, uint64_t seed, uint64_t offset)
{
    return tsr__dispatch_typed(
        TSR_ID_DROPOUT, &x, 1,
        (const tsr_attr[]){tsr__number(p), tsr__seed(seed), tsr__seed(offset)}, NULL);
}
