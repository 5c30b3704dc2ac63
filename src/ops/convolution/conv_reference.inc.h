/* SPDX-License-Identifier: Apache-2.0 */
/* conv_reference.inc.h - body of conv_reference.c for one dtype: needs T (stored), ACC (computed),
   LD, ST, ADD, MUL and FN; undefines what reference_types.inc.h says. `channel` counts over all
   images, groups and channels of the result, `group` over all images and groups. Where a tap falls
   is found once for all channels. */

static void FN(find_y)(const tsr_conv_geometry *g, const tsr_conv_operands *on)
{
    const T *x = on->x, *w = on->w, *bias = on->bias;

    for (int64_t channel = 0; channel < g->batch * g->groups * g->yc; channel++)
        for (int64_t p = 0; p < g->y_count; p++) {
            const int64_t group = channel / g->yc, o = channel % (g->groups * g->yc);
            ACC sum = 0;

            for (int64_t t = 0; t < g->k_count; t++) {
                int64_t q = conv_x_of(g, p, t);

                for (int64_t c = 0; c < g->xc && q >= 0; c++)
                    sum = ADD(sum, MUL(LD(w[(o * g->xc + c) * g->k_count + t]),
                                       LD(x[(group * g->xc + c) * g->x_count + q])));
            }
            if (bias)
                sum = ADD(sum, LD(bias[o]));
            ((T *)on->y)[channel * g->y_count + p] = ST(sum);
        }
}

static void FN(find_x)(const tsr_conv_geometry *g, const tsr_conv_operands *on)
{
    const T *y = on->y, *w = on->w, *bias = on->bias;

    for (int64_t channel = 0; channel < g->batch * g->groups * g->xc; channel++)
        for (int64_t q = 0; q < g->x_count; q++) {
            const int64_t group = channel / g->xc, c = channel % g->xc;
            ACC sum = 0;

            for (int64_t t = 0; t < g->k_count; t++) {
                int64_t p = conv_y_of(g, q, t), o = group % g->groups * g->yc;

                for (int64_t i = 0; i < g->yc && p >= 0; i++)
                    sum = ADD(sum, MUL(LD(w[((o + i) * g->xc + c) * g->k_count + t]),
                                       LD(y[(group * g->yc + i) * g->y_count + p])));
            }
            if (bias)
                sum = ADD(sum, LD(bias[channel % (g->groups * g->xc)]));
            ((T *)on->x)[channel * g->x_count + q] = ST(sum);
        }
}

static void FN(find_w)(const tsr_conv_geometry *g, const tsr_conv_operands *on)
{
    const T *x = on->x, *y = on->y;

    for (int64_t o = 0; o < g->groups * g->yc; o++)
        for (int64_t c = 0; c < g->xc; c++)
            for (int64_t t = 0; t < g->k_count; t++) {
                ACC sum = 0;

                for (int64_t p = 0; p < g->y_count; p++) {
                    int64_t q = conv_x_of(g, p, t);

                    for (int64_t n = 0; n < g->batch && q >= 0; n++) {
                        int64_t group = n * g->groups + o / g->yc;

                        sum = ADD(sum, MUL(LD(x[(group * g->xc + c) * g->x_count + q]),
                                           LD(y[(n * g->groups * g->yc + o) * g->y_count + p])));
                    }
                }
                ((T *)on->w)[(o * g->xc + c) * g->k_count + t] = ST(sum);
            }
}

static const bodies FN(entry) = {{FN(find_y), FN(find_x), FN(find_w)}};
