/* SPDX-License-Identifier: Apache-2.0 */
/* optimizer_step.inc.h - what one element becomes by SGD, Adam or Adagrad: body of optimizer_step.c
   for one type that computes and one instruction set. One pass: everything is read once and written
   once. Kind and nesterov are constants where the loop is called. */

TSR__INLINE void FN(loop)(int kind, bool nesterov, const tsr_update *s, int64_t n,
                          const void *const in[TSR_STEP_INPUTS], void *const *out)
{
    const T decay = (T)s->decay, keep = (T)s->keep, lr = (T)s->lr, first = (T)s->first,
            take = (T)s->take, square = (T)s->square, root = (T)s->root, eps = (T)s->eps;
    const T *w = in[0], *a = in[1], *b = in[2], *grad = in[3];
    T *w_out = out[0], *a_out = out[1], *b_out = out[2];

    TSR__INDEPENDENT
    for (int64_t i = 0; i < n; i++) {
        /* without decay, an infinite weight or NaN does not reach the states */
        const T x = w[i], g = decay > 0 ? grad[i] + decay * x : grad[i];

        if (kind == TSR_OPTIMIZER_SGD) {
            w_out[i] = x - lr * g;
        } else if (kind == TSR_OPTIMIZER_SGD_MOMENTUM) {
            const T m = first * a[i] + take * g;

            a_out[i] = m;
            w_out[i] = x - lr * (nesterov ? g + first * m : m);
        } else if (kind == TSR_OPTIMIZER_ADAM) {
            const T m = a[i] + first * (g - a[i]), v = take * b[i] + square * g * g;

            a_out[i] = m;
            b_out[i] = v;
            w_out[i] = x * keep - lr * m / (LIBM(__builtin_sqrt, v) * root + eps);
        } else {
            const T sum = a[i] + g * g;

            a_out[i] = sum;
            w_out[i] = x - lr * g / (LIBM(__builtin_sqrt, sum) + eps);
        }
    }
}

SET static void FN(step)(const tsr_update *s, int64_t n, const void *const in[TSR_STEP_INPUTS],
                         void *const *out)
{
    if (s->kind == TSR_OPTIMIZER_SGD)
        FN(loop)(TSR_OPTIMIZER_SGD, false, s, n, in, out);
    else if (s->kind == TSR_OPTIMIZER_SGD_MOMENTUM && s->nesterov)
        FN(loop)(TSR_OPTIMIZER_SGD_MOMENTUM, true, s, n, in, out);
    else if (s->kind == TSR_OPTIMIZER_SGD_MOMENTUM)
        FN(loop)(TSR_OPTIMIZER_SGD_MOMENTUM, false, s, n, in, out);
    else if (s->kind == TSR_OPTIMIZER_ADAM)
        FN(loop)(TSR_OPTIMIZER_ADAM, false, s, n, in, out);
    else
        FN(loop)(TSR_OPTIMIZER_ADAGRAD, false, s, n, in, out);
}

static const bodies FN(entry) = {FN(step)};
