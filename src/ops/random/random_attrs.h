/* SPDX-License-Identifier: Apache-2.0 */
/* random_attrs.h - printed by make ops from the rows: where attributes are, by
   name. In-place forms have those of their ops. */
#ifndef TSR_OPS_RANDOM_ATTRS_H
#define TSR_OPS_RANDOM_ATTRS_H

/* uniform */
enum {
    TSR_ATTR_UNIFORM_LOW,
    TSR_ATTR_UNIFORM_HIGH,
    TSR_ATTR_UNIFORM_SEED,
    TSR_ATTR_UNIFORM_OFFSET
};

/* normal */
enum { TSR_ATTR_NORMAL_MEAN, TSR_ATTR_NORMAL_STD, TSR_ATTR_NORMAL_SEED, TSR_ATTR_NORMAL_OFFSET };

/* bernoulli */
enum { TSR_ATTR_BERNOULLI_P, TSR_ATTR_BERNOULLI_SEED, TSR_ATTR_BERNOULLI_OFFSET };

/* randint */
enum {
    TSR_ATTR_RANDINT_LOW,
    TSR_ATTR_RANDINT_HIGH,
    TSR_ATTR_RANDINT_SEED,
    TSR_ATTR_RANDINT_OFFSET
};

/* permutation */
enum { TSR_ATTR_PERMUTATION_SEED, TSR_ATTR_PERMUTATION_OFFSET };

/* dropout */
enum { TSR_ATTR_DROPOUT_P, TSR_ATTR_DROPOUT_SEED, TSR_ATTR_DROPOUT_OFFSET };

/* arange */
enum { TSR_ATTR_ARANGE_START, TSR_ATTR_ARANGE_STEP };

/* linspace */
enum { TSR_ATTR_LINSPACE_START, TSR_ATTR_LINSPACE_STOP };

#endif
