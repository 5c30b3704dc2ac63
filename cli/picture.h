/* SPDX-License-Identifier: Apache-2.0 */
/* picture.h - a tensor's layout as a grid of slots along two of its dims, and who holds each cell.
   Made by picture.c, shown by draw_text.c and draw_svg.c. */
#ifndef CLI_PICTURE_H
#define CLI_PICTURE_H

#include "cli.h"

#include <tessera_ext.h>

enum { PICTURE_SLOTS = 32 };  /* along one axis at most */
enum { PICTURE_OWNERS = 64 }; /* listed per cell at most */
enum { PICTURE_LABEL = 40 };

/* One axis: consecutive ranges of indices, either single elements or ranges held alike. */
typedef struct picture_axis {
    int dim;      /* tensor dim; -1: none, one slot stands for it */
    int64_t size; /* indices, 1 if there is no dim; with those beyond its ends that are shown */
    int n;        /* slots */
    bool elements;
    bool more;                        /* the last slot stands for all that does not fit */
    int64_t begin[PICTURE_SLOTS + 1]; /* slot i is begin[i] .. begin[i+1] */
    bool cut[PICTURE_SLOTS + 1];      /* other ranks hold slot i than slot i-1; true at both ends */
    unsigned char *held;              /* n_ranks per slot: whether that mesh index holds it */
    bool seen[PICTURE_SLOTS];         /* through the view's window; true without one */
    bool beyond[PICTURE_SLOTS];       /* the ends of the dim */
} picture_axis;

/* What one rank sees of the tensor; NULL where a picture shows who holds what and nothing else. */
typedef struct picture_view {
    int index;    /* its mesh index */
    bool reverse; /* it fills what it sees, and gives what others hold */
    bool along[TSR_MAX_DIM];
    tsr_window_range window[TSR_MAX_DIM]; /* of those */
    const int64_t *bytes;                 /* per mesh index: from there, or to there */
} picture_view;

/* What a cell is to the rank that looks. */
typedef enum picture_cell {
    PICTURE_HELD,    /* its own; all are without a view */
    PICTURE_MISSING, /* it sees it, others hold it */
    PICTURE_BEYOND,  /* it sees it where the tensor has ended */
    PICTURE_UNSEEN,  /* others hold it */
    PICTURE_NOTHING  /* nobody holds or sees it */
} picture_cell;

typedef struct picture {
    const tsr_spec *spec;
    const picture_view *view;
    int n_ranks;
    picture_axis row, col;
    int64_t at[TSR_MAX_DIM]; /* of the dims that are not shown: where the picture is cut */
    unsigned char *at_cut;   /* whether a mesh index holds that */
    bool other_dims;         /* there are dims that are not shown */
    bool replicas, partials;
} picture;

/* Axes of up to max_elements indices are shown element by element, others as ranges, of which at
   most max_slots are shown (both at most PICTURE_SLOTS). */
tsr_status picture_make(const tsr_spec *spec, const picture_view *view, int max_elements,
                        int max_slots, picture *out, tsr_error *err);
void picture_free(picture *p);
/* The mesh indices that hold a cell: how many, and up to `cap` of them. */
int picture_owners(const picture *p, int row, int col, int *index, int cap);
picture_cell picture_cell_of(const picture *p, int row, int col);
/* "0", "0,1" for replicas, "0+1" for terms, "8 ranks". */
const char *picture_label(const picture *p, int row, int col, char buf[PICTURE_LABEL]);
/* "0:3", "0:1,4:5", "none": the indices along a dim at a mesh index. */
const char *picture_ranges(const tsr_spec *spec, int index, int dim, char *buf, size_t n);
/* ", at index 0 of the other dims", "" if there are none */
const char *picture_cut(const picture *p, char buf[CLI_TEXT]);
/* "[3,2]", "(0,1)" */
const char *picture_shape(const tsr_shape *shape, char *buf, size_t n);
const char *picture_coord(const tsr_mesh_shape *mesh, int index, char *buf, size_t n);

enum { DRAW_TEXT_ELEMENTS = 20, DRAW_TEXT_SLOTS = 12 };

void draw_text(const picture *p, bool color);
/* Draws the same with its own picture. */
int draw_svg(const char *title, const tsr_spec *spec, const picture_view *view, const char *path);
/* auto, always, never; NULL is auto. False: it is none of them. */
bool draw_wants_color(const char *when, bool *out);

#endif
