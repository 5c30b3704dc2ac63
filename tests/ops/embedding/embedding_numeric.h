/* SPDX-License-Identifier: Apache-2.0 */
/* embedding_numeric.h - PyTorch's results for embeddings and bags. For test_embedding_kernel.c. */
#ifndef TSR_TESTS_EMBEDDING_NUMERIC_H
#define TSR_TESTS_EMBEDDING_NUMERIC_H

/* Check all cases of a file, one JSON object per line; how many there were. */
int check_numeric(const char *path);

#endif
