/* SPDX-License-Identifier: Apache-2.0 */
/* pooling_reference.inc.h - body of pooling_reference.c for one dtype: needs T (stored), ACC
   (computed), LD, ST, ADD, DIV, LESS, IS_NAN, LOWEST and FN; undefines what
   reference_types.inc.h says. */

static void FN(max)(const tsr_pooling_geometry *p, const void *in, void *out, int64_t *index)
{
    const tsr_conv_geometry *g = &p->g;

    for (int64_t i = 0; i < p->planes * g->y_count; i++) {
        const T *plane = (const T *)in + i / g->y_count * g->x_count;
        ACC best = LOWEST;
        int64_t at = -1;

        for (int64_t t = 0; t < g->k_count; t++) {
            int64_t q = conv_x_of(g, i % g->y_count, t);

            if (q >= 0 && (at < 0 || LESS(best, LD(plane[q])) || IS_NAN(LD(plane[q])))) {
                best = LD(plane[q]);
                at = q;
            }
        }
        ((T *)out)[i] = ST(best);
        if (index)
            index[i] = at < 0 ? -1 : pooling_to_whole(p, at);
    }
}

static void FN(average)(const tsr_pooling_geometry *p, const void *in, void *out)
{
    const tsr_conv_geometry *g = &p->g;

    for (int64_t i = 0; i < p->planes * g->y_count; i++) {
        const T *plane = (const T *)in + i / g->y_count * g->x_count;
        const int64_t count = count_of(p, i % g->y_count);
        ACC sum = 0;

        for (int64_t t = 0; t < g->k_count; t++) {
            int64_t q = conv_x_of(g, i % g->y_count, t);

            if (q >= 0)
                sum = ADD(sum, LD(plane[q]));
        }
        ((T *)out)[i] = ST(count > 0 ? DIV(sum, count) : sum);
    }
}

/* For each input all outputs that it was in, each by the tap that joins them. */
static void FN(max_grad)(const tsr_pooling_geometry *p, const void *grad_out, const int64_t *index,
                         void *grad_in)
{
    const tsr_conv_geometry *g = &p->g;

    for (int64_t i = 0; i < p->planes * g->x_count; i++) {
        const int64_t first = i / g->x_count * g->y_count; /* of the plane of the output */
        ACC sum = 0;

        for (int64_t t = 0; t < g->k_count; t++) {
            int64_t o = conv_y_of(g, i % g->x_count, t);

            if (o >= 0 && index[first + o] == pooling_to_whole(p, i % g->x_count))
                sum = ADD(sum, LD(((const T *)grad_out)[first + o]));
        }
        ((T *)grad_in)[i] = ST(sum);
    }
}

static void FN(average_grad)(const tsr_pooling_geometry *p, const void *grad_out, void *grad_in)
{
    const tsr_conv_geometry *g = &p->g;

    for (int64_t i = 0; i < p->planes * g->x_count; i++) {
        const int64_t first = i / g->x_count * g->y_count;
        ACC sum = 0;

        for (int64_t t = 0; t < g->k_count; t++) {
            int64_t o = conv_y_of(g, i % g->x_count, t);

            if (o >= 0)
                sum = ADD(sum, DIV(LD(((const T *)grad_out)[first + o]), count_of(p, o)));
        }
        ((T *)grad_in)[i] = ST(sum);
    }
}

static const bodies FN(entry) = {FN(max), FN(average), FN(max_grad), FN(average_grad)};
