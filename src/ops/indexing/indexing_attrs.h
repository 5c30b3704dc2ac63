/* SPDX-License-Identifier: Apache-2.0 */
/* indexing_attrs.h - printed by make ops from the rows: where attributes are, by
   name. In-place forms have those of their ops. */
#ifndef TSR_OPS_INDEXING_ATTRS_H
#define TSR_OPS_INDEXING_ATTRS_H

/* gather */
enum { TSR_ATTR_GATHER_DIM };

/* index_select */
enum { TSR_ATTR_INDEX_SELECT_DIM };

/* scatter */
enum { TSR_ATTR_SCATTER_DIM };

/* scatter_add */
enum { TSR_ATTR_SCATTER_ADD_DIM };

/* index_add */
enum { TSR_ATTR_INDEX_ADD_DIM };

/* scatter_backward */
enum { TSR_ATTR_SCATTER_BACKWARD_DIM };

/* one_hot */
enum { TSR_ATTR_ONE_HOT_CLASSES, TSR_ATTR_ONE_HOT_DTYPE };

/* sort */
enum { TSR_ATTR_SORT_DIM, TSR_ATTR_SORT_DESCENDING, TSR_ATTR_SORT_STABLE };

/* topk */
enum { TSR_ATTR_TOPK_K, TSR_ATTR_TOPK_DIM, TSR_ATTR_TOPK_LARGEST, TSR_ATTR_TOPK_SORTED };

#endif
