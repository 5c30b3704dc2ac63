/* SPDX-License-Identifier: Apache-2.0 */
/* attention_blocks.inc.h - body of attention.c for f32 or f64: needs T, DTYPE and FN; undefines
   them. Blocks of ROWS rows meet blocks of KEYS keys. */

/* n elements of an operand from `offset` on: where they are, or widened into the buffer. */
static const T *FN(load)(const tsr_operand *x, int64_t offset, int64_t n, void *buffer)
{
    if (x->dtype == DTYPE)
        return (const T *)x->data + offset;
    tsr__half_widen(x->dtype, (const uint16_t *)x->data + offset, n, buffer);
    return buffer;
}

static void FN(store)(const tsr_operand *x, int64_t offset, int64_t n, const T *from)
{
    if (x->dtype == DTYPE)
        memcpy((T *)x->data + offset, from, (size_t)n * sizeof *from);
    else
        tsr__half_narrow(x->dtype, (const float *)(const void *)from, n,
                         (uint16_t *)x->data + offset);
}

/* The scaled queries of a block. */
static const T *FN(queries)(const job *w, int64_t head, int64_t i, int64_t rows)
{
    const tsr_attention_call *a = &w->a;
    const T scale = (T)a->scale,
            *q = FN(load)(a->q, (head * a->rows + i) * a->dim, rows * a->dim, w->q);

    w->parts->multiply(rows, a->dim, q, &scale, 0, w->q);
    return w->q;
}

/* Adds the mask to scores, and makes those -infinity that a row does not see. */
static void FN(hide)(const job *w, int64_t b, int64_t h, const block *x, T *scores)
{
    const tsr_attention_call *a = &w->a;
    const int64_t *stride = a->mask_stride, step = stride[3];

    for (int64_t r = 0; r < x->rows && a->mask; r++) {
        int64_t at = b * stride[0] + h * stride[1] + (x->i + r) * stride[2] + x->j * step;
        T *s = scores + r * x->keys;

        if (a->mask->dtype == TSR_BOOL) {
            const uint8_t *mask = (const uint8_t *)a->mask->data + at;
            for (int64_t j = 0; j < x->keys; j++)
                s[j] = mask[j * step] ? s[j] : (T)-INFINITY;
        } else {
            const T *mask = FN(load)(a->mask, at, step ? x->keys : 1, w->mask);
            for (int64_t j = 0; j < x->keys; j++)
                s[j] += mask[j * step];
        }
    }
    for (int64_t r = 0; r < x->rows && a->causal; r++)
        for (int64_t j = tsr__attention_seen(a, x->i + r, x->j, x->keys); j < x->keys; j++)
            scores[r * x->keys + j] = (T)-INFINITY;
}

/* ---- forward ---- */

static T *FN(own_sums)(const job *w)
{
    return (T *)w->own + w->a.batch * w->a.heads * w->a.rows;
}

static void FN(finish)(const job *w, int64_t head, const block *x, bool any)
{
    const int64_t row = head * w->a.rows + x->i;
    T *sum = w->sum, *max = w->max;

    memcpy((T *)w->own + row, max, (size_t)x->rows * sizeof(T));
    memcpy(FN(own_sums)(w) + row, sum, (size_t)x->rows * sizeof(T));
    for (int64_t r = 0; r < x->rows; r++) {
        max[r] = sum[r] == 0 ? (T)-INFINITY : max[r] + (T)log((double)sum[r]);
        sum[r] = sum[r] == 0 ? 0 : 1 / sum[r];
    }
    if (any)
        w->parts->multiply(x->rows, w->a.width, w->acc, sum, 1, w->acc);
    else
        memset(w->acc, 0, (size_t)(x->rows * w->a.width) * sizeof(T));
    FN(store)(w->out[TSR_ATT_OUT], row * w->a.width, x->rows * w->a.width, w->acc);
    FN(store)(w->out[TSR_ATT_LSE], row, x->rows, max);
}

static void FN(forward_block)(const job *w, int64_t b, int64_t h, int64_t kv, int64_t i)
{
    const tsr_attention_call *a = &w->a;
    const int64_t head = b * a->heads + h, key_head = b * a->key_heads + kv;
    block x = {.i = i, .rows = tsr__min(ROWS, a->rows - i)};
    const T *q = FN(queries)(w, head, i, x.rows);
    T *max = w->max, *sum = w->sum;
    bool any = false;

    for (int64_t r = 0; r < x.rows; r++) {
        max[r] = (T)-INFINITY;
        sum[r] = 0;
    }
    for (x.j = 0; x.j < a->keys; x.j += KEYS) {
        const T *k, *v;

        x.keys = tsr__min(KEYS, a->keys - x.j);
        if (!sees(a, &x))
            continue;
        if (!w->deterministic) /* those that the last row sees are all that count */
            x.keys = tsr__attention_seen(a, i + x.rows - 1, x.j, x.keys);
        k = FN(load)(a->k, (key_head * a->keys + x.j) * a->dim, x.keys * a->dim, w->k);
        v = FN(load)(a->v, (key_head * a->keys + x.j) * a->width, x.keys * a->width, w->v);
        gemm(w, DTYPE, false, true, x.rows, x.keys, a->dim, q, k, false, w->score);
        FN(hide)(w, b, h, &x, w->score);
        w->parts->soften(x.rows, x.keys, w->score, max, sum, w->factor);
        if (any)
            w->parts->multiply(x.rows, a->width, w->acc, w->factor, 1, w->acc);
        gemm(w, DTYPE, false, false, x.rows, a->width, x.keys, w->score, v, any, w->acc);
        any = true;
    }
    FN(finish)(w, head, &x, any);
}

static void FN(forward)(const job *w)
{
    const tsr_attention_call *a = &w->a;

    for (int64_t b = 0; b < a->batch; b++)
        for (int64_t h = 0; h < a->heads; h++)
            for (int64_t i = 0; i < a->rows; i += ROWS)
                FN(forward_block)(w, b, h, tsr__attention_key_head(a, h), i);
}

/* What the keys here gave of n rows becomes their term of the whole, which has these maxima and
   sums. */
static void FN(reweigh)(const job *w, int64_t row, int64_t n, const double *max, const double *sum)
{
    const tsr_operand *out = w->out[TSR_ATT_OUT];
    const int64_t at = row * w->a.width, count = n * w->a.width;
    const T *own_max = (T *)w->own + row, *own_sum = FN(own_sums)(w) + row;
    T *lse = w->max, *factor = w->factor;

    for (int64_t r = 0; r < n; r++) {
        const double share = (double)own_sum[r] / sum[r];

        factor[r] = own_sum[r] == 0 ? 0 : (T)(exp((double)own_max[r] - max[r]) * share);
        lse[r] = sum[r] == 0 ? (T)-INFINITY : (T)(max[r] + log(sum[r]));
    }
    w->parts->multiply(n, w->a.width, FN(load)(out, at, count, w->acc), factor, 1, w->acc);
    FN(store)(out, at, count, w->acc);
    FN(store)(w->out[TSR_ATT_LSE], row, n, lse);
}

/* ---- backward ---- */

/* For every row of a head: grad times out. */
static void FN(products)(const job *w, int64_t head)
{
    const tsr_attention_call *a = &w->a;

    for (int64_t i = 0; i < a->rows; i++) {
        const int64_t at = (head * a->rows + i) * a->width;
        const T *grad = FN(load)(w->grad, at, a->width, w->q);
        const T *out = FN(load)(w->given, at, a->width, w->k);
        T sum = 0;

        for (int64_t e = 0; e < a->width; e++)
            sum += grad[e] * out[e];
        ((T *)w->delta)[i] = sum;
    }
}

/* The same, as far as ranks have not summed them up, less the gradient of lse. */
static void FN(deltas)(const job *w, int64_t head)
{
    const int64_t rows = w->a.rows;
    T *delta = w->delta;

    if (w->product)
        tsr__convert(DTYPE, delta, TSR_F64, w->product + head * rows, rows);
    else
        FN(products)(w, head);
    for (int64_t i = 0; i < rows && w->of_lse; i++)
        delta[i] -= *FN(load)(w->of_lse, head * rows + i, 1, w->q);
}

/* The mask's gradient is that of scores, summed where it broadcasts. */
static void FN(add_mask)(const job *w, int64_t b, int64_t h, const block *x, const T *slope)
{
    const int64_t *stride = w->a.mask_stride, step = stride[3];

    for (int64_t r = 0; r < x->rows && w->acc_mask; r++) {
        T *to =
            (T *)w->acc_mask + b * stride[0] + h * stride[1] + (x->i + r) * stride[2] + x->j * step;

        for (int64_t j = 0; j < x->keys; j++)
            to[j * step] += slope[r * x->keys + j];
    }
}

/* One block of rows and keys: k, v and their gradients begin at its first key. */
static void FN(backward_block)(const job *w, int64_t b, int64_t h, const block *x, const T *k,
                               const T *v, T *grad_k, T *grad_v)
{
    const tsr_attention_call *a = &w->a;
    const int64_t head = b * a->heads + h, row = head * a->rows + x->i;
    const T *q = FN(queries)(w, head, x->i, x->rows);
    const T *grad = FN(load)(w->grad, row * a->width, x->rows * a->width, w->acc);
    const T *lse = (const T *)w->lse->data + row;

    gemm(w, DTYPE, false, true, x->rows, x->keys, a->dim, q, k, false, w->score);
    FN(hide)(w, b, h, x, w->score);
    w->parts->weigh(x->rows, x->keys, w->score, lse);
    gemm(w, DTYPE, true, false, x->keys, a->width, x->rows, w->score, grad, true, grad_v);
    gemm(w, DTYPE, false, true, x->rows, x->keys, a->width, grad, v, false, w->slope);
    w->parts->bend(x->rows, x->keys, w->score, (T *)w->delta + x->i, w->slope);
    FN(add_mask)(w, b, h, x, w->slope);
    gemm(w, DTYPE, false, false, x->rows, a->dim, x->keys, w->slope, k, true,
         (T *)w->acc_q + x->i * a->dim);
    gemm(w, DTYPE, true, false, x->keys, a->dim, x->rows, w->slope, q, true, grad_k);
}

static void FN(backward_head)(const job *w, int64_t b, int64_t h, int64_t kv)
{
    const tsr_attention_call *a = &w->a;
    const int64_t head = b * a->heads + h, key_head = b * a->key_heads + kv;
    const int64_t n = a->rows * a->dim;
    const T scale = (T)a->scale;
    block x;

    memset(w->acc_q, 0, (size_t)n * sizeof(T));
    FN(deltas)(w, head);
    for (x.j = 0; x.j < a->keys; x.j += KEYS) {
        const T *k, *v;

        x.keys = tsr__min(KEYS, a->keys - x.j);
        k = FN(load)(a->k, (key_head * a->keys + x.j) * a->dim, x.keys * a->dim, w->k);
        v = FN(load)(a->v, (key_head * a->keys + x.j) * a->width, x.keys * a->width, w->v);
        for (x.i = 0; x.i < a->rows; x.i += ROWS) {
            x.rows = tsr__min(ROWS, a->rows - x.i);
            x.keys = tsr__min(KEYS, a->keys - x.j);
            if (!w->deterministic)
                x.keys = tsr__attention_seen(a, x.i + x.rows - 1, x.j, x.keys);
            if (sees(a, &x))
                FN(backward_block)
            (w, b, h, &x, k, v, (T *)w->acc_k + x.j * a->dim, (T *)w->acc_v + x.j * a->width);
        }
    }
    w->parts->multiply(1, n, w->acc_q, &scale, 0, w->acc_q);
    FN(store)(w->out[0], head * n, n, w->acc_q);
}

static void FN(backward)(const job *w)
{
    const tsr_attention_call *a = &w->a;
    const int64_t nk = a->keys * a->dim, nv = a->keys * a->width;
    const int64_t nm = w->acc_mask ? tsr__operand_count(w->out[3]) : 0;

    if (w->acc_mask)
        memset(w->acc_mask, 0, (size_t)nm * sizeof(T));
    for (int64_t b = 0; b < a->batch; b++)
        for (int64_t kv = 0; kv < a->key_heads; kv++) {
            memset(w->acc_k, 0, (size_t)nk * sizeof(T));
            memset(w->acc_v, 0, (size_t)nv * sizeof(T));
            for (int64_t h = 0; h < a->heads; h++)
                if (tsr__attention_key_head(a, h) == kv)
                    FN(backward_head)(w, b, h, kv);
            FN(store)(w->out[1], (b * a->key_heads + kv) * nk, nk, w->acc_k);
            FN(store)(w->out[2], (b * a->key_heads + kv) * nv, nv, w->acc_v);
        }
    if (w->acc_mask)
        FN(store)(w->out[3], 0, nm, w->acc_mask);
}

#undef T
#undef DTYPE
#undef FN
