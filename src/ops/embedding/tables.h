/* SPDX-License-Identifier: Apache-2.0 */
/* tables.h - what a choice for all tables costs, for tests that try every one. Pure. */
#ifndef TSR_OPS_TABLES_H
#define TSR_OPS_TABLES_H

#include "tessera_ops.h"

/* The time of the busiest rank; infinite if a rank has not the memory. A choice is a sharding, or
   TSR_TABLE_ONE_RANK + rank. loads: room for one per rank. */
double tsr__tables_seconds(const tsr_table_facts *facts, int n, const tsr_tables_opts *opts,
                           const int *choice, tsr_table_load *loads);

#endif
