/* Inner loops, of exact sums above all: in one pass, and in a core's cache, what takes NumPy several through memory.

   Every number is an integer held exactly, and so is every partial sum (queries/facts.py has the proof). So neither the
   order of additions nor the width of vectors nor fused multiply-adds change anything, and each function returns bit
   for bit what the NumPy code beside its call does. */

#include <stdint.h>
#include <string.h>

#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && !defined(PLAIN)
/* Compiled for several processors; the loader picks the best that is there. */
#define FAST __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define FAST
#endif
#define INLINE static inline __attribute__((always_inline))

enum { LANES = 4, STRIP = 512, HIGH = 3, WIDE = 4, CENTRES = 4, CODES = 256, SHORT_TABLE = 16, TALL = 4, BROAD = 2, MOVES = 8 };
enum { LINES = 8192 };

typedef double lanes __attribute__((vector_size(LANES * sizeof(double)), aligned(sizeof(double))));
typedef int64_t marks __attribute__((vector_size(LANES * sizeof(int64_t))));

/* The columns of a matrix: doubles, 16- or 32-bit integers, or the members of each of `width` groups, from one column of
   8-bit codes. If there are `places`, the matrix has the rows at those places alone. If there is a `movement`, its rows
   are those that come of them. */
enum kind { DOUBLES, SHORTS, MEMBERS, INTS };

/* What becomes of rows. First they move: `moves` has MOVES numbers for each column, a factor, two bounds, another factor,
   whether to square, a middle, a stretch and a last factor, before and after which they are whole numbers. Between the first factor and the bounds an offset is added: `offsets` has one for
   each of its codes, of which there are `codes`, with room for CODES. Then each is multiplied by its weight, if there are
   any. Then they are shortened: `norms` has a factor, an order and a limit for each of `many` norms. */
typedef struct {
    const double *moves;
    const uint8_t *code;
    const double *offsets;
    int64_t codes;
    const double *weight;
    const double *norms;
    int64_t many;
} movement;

typedef struct {
    const void *const *columns;
    int64_t width;
    int64_t kind;
    const int64_t *places;
    const movement *movement;
} matrix;

static const double zeros[STRIP];

/* How many rows a strip has, for whoever makes room for strips. */
const int64_t strip_rows = STRIP;

/* A column's value: clamped, on its grid, truncated. What is not a number becomes `missing`, on the grid already. */
INLINE double cleaned(double x, double low, double high, double scale, double missing) {
    double clamped = x < low ? low : x > high ? high : x;
    return x != x ? missing : __builtin_trunc(clamped * scale);
}

FAST void real_steps(const double *in, int64_t n, double low, double high, double scale, double missing,
                     int32_t *out) {
    for (int64_t i = 0; i < n; i++) out[i] = (int32_t)cleaned(in[i], low, high, scale, missing);
}

/* The same, with the column's public interval scaled to 16 bits. */
FAST void real_features(const double *in, int64_t n, double low, double high, double scale, double missing,
                        double middle, double stretch, int16_t *out) {
    int32_t strip[STRIP];
    for (int64_t start = 0; start < n; start += STRIP) {
        int64_t rows = n - start < STRIP ? n - start : STRIP;
        for (int64_t i = 0; i < rows; i++) {
            double value = cleaned(in[start + i], low, high, scale, missing);
            strip[i] = (int32_t)__builtin_rint((value - middle) * stretch);
        }
        for (int64_t i = 0; i < rows; i++) out[start + i] = (int16_t)strip[i];
    }
}

/* The code of each entry of a dictionary; `table` has `last` of them, and one more for all that is beyond. */
FAST void codes_of_entries(const int32_t *entries, int64_t n, const uint8_t *table, uint32_t last, uint8_t *out) {
    if (last >= SHORT_TABLE) {
        for (int64_t i = 0; i < n; i++) out[i] = table[(uint32_t)entries[i] < last ? (uint32_t)entries[i] : last];
        return;
    }
    /* Comparing many rows at once with each of a few entries is faster than looking each row up. */
    uint8_t entry[STRIP] = {0}, code[STRIP];
    for (int64_t start = 0; start < n; start += STRIP) {
        int64_t rows = n - start < STRIP ? n - start : STRIP;
        for (int64_t i = 0; i < rows; i++) {
            uint32_t number = (uint32_t)entries[start + i];
            entry[i] = (uint8_t)(number < last ? number : last);
        }
        memset(code, table[last], sizeof code);
        for (uint8_t e = 0; e < last; e++) {
            uint8_t own = table[e];
            for (int64_t i = 0; i < STRIP; i++) code[i] = entry[i] == e ? own : code[i];
        }
        memcpy(out + start, code, (size_t)rows);
    }
}

/* How often each combination of several small codes occurs, the last varying fastest. */
FAST void joint_counts(const uint8_t *const *codes, const uint16_t *sizes, int64_t parts, int64_t n, int64_t *counts) {
    uint16_t joint[STRIP];
    for (int64_t start = 0; start < n; start += STRIP) {
        int64_t rows = n - start < STRIP ? n - start : STRIP;
        for (int64_t i = 0; i < rows; i++) joint[i] = codes[0][start + i];
        for (int64_t p = 1; p < parts; p++) {
            const uint8_t *code = codes[p] + start;
            uint16_t size = sizes[p];
            for (int64_t i = 0; i < rows; i++) joint[i] = (uint16_t)(joint[i] * size + code[i]);
        }
        int64_t i = 0;
        for (; i + 4 <= rows; i += 4) { /* four at a time: single ones would wait for the stores just made */
            uint64_t four;
            memcpy(&four, joint + i, sizeof four);
            counts[four & 0xffff]++;
            counts[four >> 16 & 0xffff]++;
            counts[four >> 32 & 0xffff]++;
            counts[four >> 48]++;
        }
        for (; i < rows; i++) counts[joint[i]]++;
    }
}

/* One strip of rows for each column of a matrix as it is, filled up with zeros. */
INLINE void pack_columns(matrix from, int64_t start, int64_t rows, double *strips) {
    for (int64_t j = 0; j < from.width; j++, strips += STRIP) {
        if (from.places && from.kind == SHORTS) {
            const int16_t *column = (const int16_t *)from.columns[j];
            int16_t taken[STRIP]; /* many are converted at once, and taken one by one */
            for (int64_t i = 0; i < rows; i++) taken[i] = column[from.places[start + i]];
            for (int64_t i = 0; i < rows; i++) strips[i] = taken[i];
        } else if (from.places && from.kind == INTS) {
            const int32_t *column = (const int32_t *)from.columns[j];
            for (int64_t i = 0; i < rows; i++) strips[i] = column[from.places[start + i]];
        } else if (from.places) {
            const double *column = (const double *)from.columns[j];
            for (int64_t i = 0; i < rows; i++) strips[i] = column[from.places[start + i]];
        } else if (from.kind == SHORTS) {
            const int16_t *column = (const int16_t *)from.columns[j] + start;
            for (int64_t i = 0; i < rows; i++) strips[i] = column[i];
        } else if (from.kind == INTS) {
            const int32_t *column = (const int32_t *)from.columns[j] + start;
            for (int64_t i = 0; i < rows; i++) strips[i] = column[i];
        } else if (from.kind == MEMBERS) {
            const uint8_t *code = (const uint8_t *)from.columns[0] + start;
            for (int64_t i = 0; i < rows; i++) strips[i] = code[i] == j;
        } else {
            memcpy(strips, (const double *)from.columns[j] + start, sizeof(double) * (size_t)rows);
        }
        for (int64_t i = rows; i < STRIP; i++) strips[i] = 0;
    }
}

/* A strip multiplied by the first of its numbers, moved by the offset of each row's code, brought between the next two,
   multiplied by the fourth and truncated; then squared, if so, stretched about a middle and rounded, multiplied by the
   last and truncated. */
INLINE void move(double *strip, const double *by, const int64_t *code, const double *offsets, int64_t codes) {
    double factor = by[0], low = by[1], high = by[2], coarser = by[3], offset[STRIP], first = offsets[0];
    if (codes > SHORT_TABLE) {
        for (int64_t i = 0; i < STRIP; i++) offset[i] = offsets[code[i]];
    } else {
        for (int64_t i = 0; i < STRIP; i++) offset[i] = first;
        for (int64_t e = 1; e < codes; e++) {
            double other = offsets[e];
            for (int64_t i = 0; i < STRIP; i++) offset[i] = code[i] == e ? other : offset[i];
        }
    }
    for (int64_t i = 0; i < STRIP; i++) {
        double value = strip[i] * factor + offset[i];
        value = value < low ? low : value;
        strip[i] = value > high ? high : value;
    }
    for (int64_t i = 0; i < STRIP && coarser != 1; i++) strip[i] = __builtin_trunc(strip[i] * coarser);
    double squared = by[4], middle = by[5], stretch = by[6], grid = by[7];
    for (int64_t i = 0; i < STRIP && squared; i++) strip[i] *= strip[i];
    if (middle != 0 || stretch != 1)
        for (int64_t i = 0; i < STRIP; i++) strip[i] = __builtin_rint((strip[i] - middle) * stretch);
    for (int64_t i = 0; i < STRIP && grid != 1; i++) strip[i] = __builtin_trunc(strip[i] * grid);
}

/* A strip on the grid of a norm, which is given as a factor, an order and a limit; and what it adds to the lengths. */
INLINE void measure(double *strip, const double *norm, double *lengths) {
    double factor = norm[0];
    if (factor != 1)
        for (int64_t i = 0; i < STRIP; i++) strip[i] = __builtin_trunc(strip[i] * factor);
    if (norm[1] == 1)
        for (int64_t i = 0; i < STRIP; i++) lengths[i] += __builtin_fabs(strip[i]);
    else
        for (int64_t i = 0; i < STRIP; i++) lengths[i] += strip[i] * strip[i];
}

/* What to multiply rows of these lengths by, so that none is longer than a norm's limit; and whether any is. */
INLINE int shares(const double *norm, const double *lengths, double *by) {
    double limit = norm[2];
    int longer = 0;
    if (limit == __builtin_inf()) return 0;
    if (norm[1] == 2)
        for (int64_t i = 0; i < STRIP; i++) by[i] = __builtin_sqrt(lengths[i]);
    else
        memcpy(by, lengths, sizeof(double) * STRIP);
    for (int64_t i = 0; i < STRIP; i++) {
        double share = limit / (by[i] < 1 ? 1 : by[i]);
        longer |= by[i] > limit;
        by[i] = by[i] > limit ? share : 1;
    }
    return longer;
}

/* One strip of rows for each column of a matrix, filled up with zeros. */
INLINE void pack(matrix from, int64_t start, int64_t rows, double *strips) {
    pack_columns(from, start, rows, strips);
    if (!from.movement) return;
    movement how = *from.movement;
    int64_t code[STRIP] = {0};
    double lengths[STRIP] = {0}, weight[STRIP] = {0};
    if (how.weight) memcpy(weight, how.weight + start, sizeof(double) * (size_t)rows);
    if (how.codes > 1)
        for (int64_t i = 0; i < rows; i++) code[i] = how.code[start + i];
    for (int64_t j = 0; j < from.width; j++) {
        double *strip = strips + j * STRIP;
        if (how.moves) move(strip, how.moves + MOVES * j, code, how.offsets + j * CODES, how.codes);
        for (int64_t i = 0; i < STRIP && how.weight; i++) strip[i] *= weight[i];
        if (how.many) measure(strip, how.norms, lengths);
    }
    for (int64_t k = 0; k < how.many; k++) {
        double by[STRIP];
        int longer = shares(how.norms + 3 * k, lengths, by);
        memset(lengths, 0, sizeof lengths);
        if (!longer && k + 1 == how.many) break;
        for (int64_t j = 0; j < from.width; j++) {
            double *strip = strips + j * STRIP;
            if (longer)
                for (int64_t i = 0; i < STRIP; i++) strip[i] = __builtin_trunc(strip[i] * by[i]);
            if (k + 1 < how.many) measure(strip, how.norms + 3 * (k + 1), lengths);
        }
    }
    for (int64_t j = 0; j < from.width && rows < STRIP; j++)
        memset(strips + j * STRIP + rows, 0, sizeof(double) * (size_t)(STRIP - rows));
}

/* Writes the columns of a matrix of n rows to `out`. `room` has a strip for each column. */
FAST void written(matrix from, int64_t n, double *room, double *out) {
    for (int64_t start = 0; start < n; start += STRIP) {
        int64_t rows = n - start < STRIP ? n - start : STRIP;
        pack(from, start, rows, room);
        for (int64_t j = 0; j < from.width; j++)
            memcpy(out + j * n + start, room + j * STRIP, sizeof(double) * (size_t)rows);
    }
}

/* Adds leftᵀ · right, of two matrices of n rows, to `out`; of a matrix with itself, at least what is on and above the
   diagonal. If there is a `weight`, each row counts with its own. `room` has a strip for each column of both, on a
   cache line. */
FAST void product(matrix left, matrix right, int64_t n, const double *weight, double *room, double *out) {
    int same = left.columns == right.columns;
    double *down = room, *across = same && !weight ? room : room + left.width * STRIP;
    for (int64_t start = 0; start < n; start += STRIP) {
        int64_t rows = n - start < STRIP ? n - start : STRIP;
        pack(left, start, rows, down);
        if (same && across != down) memcpy(across, down, sizeof(double) * (size_t)(left.width * STRIP));
        if (!same) pack(right, start, rows, across);
        if (weight)
            for (int64_t j = 0; j < left.width; j++)
                for (int64_t i = 0; i < rows; i++) down[j * STRIP + i] *= weight[start + i];
        for (int64_t i = 0; i < left.width; i += HIGH) {
            const double *a[HIGH];
            for (int s = 0; s < HIGH; s++) a[s] = i + s < left.width ? down + (i + s) * STRIP : zeros;
            for (int64_t j = same ? i : 0; j < right.width; j += WIDE) {
                const double *b[WIDE];
                for (int t = 0; t < WIDE; t++) b[t] = j + t < right.width ? across + (j + t) * STRIP : zeros;
                lanes sums[HIGH][WIDE] = {0};
                for (int64_t r = 0; r < STRIP; r += LANES)
                    for (int s = 0; s < HIGH; s++)
                        for (int t = 0; t < WIDE; t++)
                            sums[s][t] += *(const lanes *)(a[s] + r) * *(const lanes *)(b[t] + r);
                for (int s = 0; s < HIGH && i + s < left.width; s++)
                    for (int t = 0; t < WIDE && j + t < right.width; t++)
                        for (int lane = 0; lane < LANES; lane++)
                            out[(i + s) * right.width + j + t] += sums[s][t][lane];
            }
        }
    }
}

/* The sums of the products of one strip with each of several others, which are truncated step by step. There are three
   numbers for each step, of which the first is what to multiply by before. The first factor is in the products already. */
INLINE void truncated_sums(const double *a, const double *const *b, const double *weight, const double *steps,
                           int64_t many, lanes *sums) {
    for (int64_t r = 0; r < STRIP; r += LANES)
        for (int t = 0; t < WIDE; t++) {
            lanes values = *(const lanes *)(a + r) * *(const lanes *)(b[t] + r);
            for (int64_t k = 0; k < many; k++) {
                if (k) values *= steps[3 * k];
                for (int lane = 0; lane < LANES; lane++) values[lane] = __builtin_trunc(values[lane]);
            }
            sums[t] += weight ? values * *(const lanes *)(weight + r) : values;
        }
}

INLINE double between(double value, double low, double high) {
    double raised = value < low ? low : value;
    return raised > high ? high : raised;
}

/* The same for one other strip, but after each step products are brought between bounds, its other two numbers. */
INLINE void bounded_sums(const double *a, const double *b, const double *weight, const double *steps, int64_t many,
                         lanes *sums) {
    double values[STRIP], low = steps[1], high = steps[2];
    if (steps[0] == 1)
        for (int64_t r = 0; r < STRIP; r++) values[r] = between(a[r] * b[r], low, high);
    else
        for (int64_t r = 0; r < STRIP; r++) values[r] = between(__builtin_trunc(a[r] * b[r]), low, high);
    for (int64_t k = 1; k < many; k++) {
        double factor = steps[3 * k], least = steps[3 * k + 1], most = steps[3 * k + 2];
        double next = k + 1 < many ? steps[3 * k + 3] : 0.5;
        int free = least == -__builtin_inf() && most == __builtin_inf();
        /* To a coarser grid, and then times a whole number: together, because little is left to do for each. */
        if (free && next == __builtin_trunc(next)) {
            k++, least = steps[3 * k + 1], most = steps[3 * k + 2];
            for (int64_t r = 0; r < STRIP; r++)
                values[r] = between(__builtin_trunc(values[r] * factor) * next, least, most);
        } else {
            for (int64_t r = 0; r < STRIP; r++) values[r] = between(__builtin_trunc(values[r] * factor), least, most);
        }
    }
    /* Several at a time: single ones would wait for the addition before. */
    for (int64_t r = 0; r < STRIP; r += WIDE * LANES)
        for (int t = 0; t < WIDE; t++) {
            lanes value = *(lanes *)(values + r + t * LANES);
            sums[t] += weight ? value * *(const lanes *)(weight + r + t * LANES) : value;
        }
    for (int t = 1; t < WIDE; t++) sums[0] += sums[t];
}

/* Adds the same to `out`, but of products that take some steps row by row before they are weighed and added up. */
FAST void stepped_product(matrix left, matrix right, int64_t n, const double *weight, const double *steps,
                          int64_t many, double *room, double *out) {
    double weights[STRIP] = {0};
    const double *w = weight ? weights : 0;
    int same = left.columns == right.columns, bounded = 0;
    double *down = room, *across = room + left.width * STRIP;
    for (int64_t k = 0; k < many; k++)
        bounded |= steps[3 * k + 1] > -__builtin_inf() || steps[3 * k + 2] < __builtin_inf();
    int64_t at_once = bounded ? 1 : WIDE;
    for (int64_t start = 0; start < n; start += STRIP) {
        int64_t rows = n - start < STRIP ? n - start : STRIP;
        pack(left, start, rows, down);
        if (same) memcpy(across, down, sizeof(double) * (size_t)(left.width * STRIP));
        if (!same) pack(right, start, rows, across);
        if (weight) memcpy(weights, weight + start, sizeof(double) * (size_t)rows); /* any others are beside zeros */
        /* A factor times one number of a product is as exact as times the product: queries/apart.py says why. */
        for (int64_t r = 0; r < left.width * STRIP; r++) down[r] *= steps[0];
        for (int64_t i = 0; i < left.width; i++)
            for (int64_t j = same ? i : 0; j < right.width; j += at_once) {
                const double *b[WIDE];
                for (int t = 0; t < WIDE; t++) b[t] = j + t < right.width ? across + (j + t) * STRIP : zeros;
                lanes sums[WIDE] = {{0}};
                const double *a = down + i * STRIP;
                /* Each of these is compiled for itself: a step or two are the rule. */
                if (bounded && many == 1) bounded_sums(a, b[0], w, steps, 1, sums);
                else if (bounded) bounded_sums(a, b[0], w, steps, many, sums);
                else if (many == 1) truncated_sums(a, b, w, steps, 1, sums);
                else if (many == 2) truncated_sums(a, b, w, steps, 2, sums);
                else truncated_sums(a, b, w, steps, many, sums);
                for (int t = 0; t < at_once && j + t < right.width; t++)
                    for (int lane = 0; lane < LANES; lane++) out[i * right.width + j + t] += sums[t][lane];
            }
    }
}

/* Adds the products of `high` numbers with `broad` times LANES others, of each of some rows, to a part of a table. The rows
   lie one after the other, `apart` and `wide` numbers from each other. `by` has their weights, if they have any. */
INLINE void add_rows(const double *a, int64_t apart, const double *b, int64_t wide, const double *by, int64_t rows,
                     const double *steps, int64_t many, int high, int broad, double *out) {
    lanes sums[TALL][BROAD] = {{{0}}};
    for (int64_t r = 0; r < rows; r++, a += apart, b += wide)
        for (int s = 0; s < high; s++) {
            double first = by && !many ? a[s] * by[r] : a[s];
            for (int t = 0; t < broad; t++) {
                lanes values = first * *(const lanes *)(b + t * LANES);
                for (int64_t k = 0; k < many; k++)
                    for (int lane = 0; lane < LANES; lane++)
                        values[lane] =
                            between(__builtin_trunc(values[lane] * steps[3 * k]), steps[3 * k + 1], steps[3 * k + 2]);
                sums[s][t] += by && many ? values * by[r] : values;
            }
        }
    for (int s = 0; s < high; s++)
        for (int t = 0; t < broad; t++) *(lanes *)(out + s * wide + t * LANES) += sums[s][t];
}

/* The same for whole rows. */
INLINE void add_group(const double *a, int64_t tall, const double *b, int64_t wide, int same, const double *by,
                      int64_t rows, const double *steps, int64_t many, double *out) {
    int64_t apart = same ? wide : tall;
    for (int64_t i = 0; i < tall;) {
        int high = i + TALL <= tall ? TALL : 1;
        for (int64_t j = same ? i / LANES * LANES : 0; j < wide;) {
            int broad = j + BROAD * LANES <= wide ? BROAD : 1;
            double *table = out + i * wide + j;
            /* Each of these is compiled for itself. */
            if (high == TALL && broad == BROAD) add_rows(a + i, apart, b + j, wide, by, rows, steps, many, TALL, BROAD, table);
            else if (high == TALL) add_rows(a + i, apart, b + j, wide, by, rows, steps, many, TALL, 1, table);
            else if (broad == BROAD) add_rows(a + i, apart, b + j, wide, by, rows, steps, many, 1, BROAD, table);
            else add_rows(a + i, apart, b + j, wide, by, rows, steps, many, 1, 1, table);
            j += broad * LANES;
        }
        i += high;
    }
}

/* The rows of strips one after the other, at the places that `rank` says, each filled up to `wide` numbers. */
INLINE void put_lines(const double *strips, int64_t width, int64_t rows, const uint32_t *rank, int64_t wide, double *lines) {
    int64_t j = 0;
    for (; j + LANES <= width; j += LANES) {
        const double *b = strips + j * STRIP;
        for (int64_t r = 0; r < rows; r++)
            *(lanes *)(lines + rank[r] * wide + j) = (lanes){b[r], b[STRIP + r], b[2 * STRIP + r], b[3 * STRIP + r]};
    }
    for (; j < wide; j++)
        for (int64_t r = 0; r < rows; r++) lines[rank[r] * wide + j] = j < width ? strips[j * STRIP + r] : 0;
}

/* Adds leftᵀ · right of the rows of each of `size` groups to `out`, which has a table for each, of rows that are filled up
   to `wide` numbers, a multiple of LANES; otherwise as `stepped_product`, and as `product` if there are no steps. `code` has
   the group of each row. Of `at_once` rows, at most LINES and a multiple of STRIP, those of a group are brought together
   and then added up. `room` has a strip for each column of both, and then `at_once` rows of each. */
FAST void grouped_product(matrix left, matrix right, int64_t n, const uint32_t *code, int64_t size, const double *weight,
                          const double *steps, int64_t many, int64_t at_once, double *room, int64_t wide, double *out) {
    int same = left.columns == right.columns;
    double *across = room + left.width * STRIP, *lines = across + right.width * STRIP;
    double *others = same ? lines : lines + at_once * wide, weights[LINES];
    uint32_t rank[LINES], group[LINES], before[LINES];
    const double *by = weight ? weights : 0;
    for (int64_t first = 0; first < n; first += at_once, code += at_once) {
        int64_t rows = n - first < at_once ? n - first : at_once;
        if (size <= LINES) {
            uint32_t sum = 0;
            memset(before, 0, sizeof before);
            for (int64_t r = 0; r < rows; r++) before[code[r]]++;
            for (int64_t g = 0; g < size; g++) {
                uint32_t here = before[g];
                before[g] = sum;
                sum += here;
            }
            for (int64_t r = 0; r < rows; r++) rank[r] = before[code[r]]++;
        } else {
            for (int64_t r = 0; r < rows; r++) rank[r] = (uint32_t)r;
        }
        for (int64_t r = 0; r < rows; r++) group[rank[r]] = code[r];
        for (int64_t r = 0; r < rows && weight; r++) weights[rank[r]] = weight[first + r];
        for (int64_t start = 0; start < rows; start += STRIP) {
            int64_t these = rows - start < STRIP ? rows - start : STRIP;
            pack(right, first + start, these, across);
            put_lines(across, right.width, these, rank + start, wide, lines);
            if (same) continue;
            pack(left, first + start, these, room);
            put_lines(room, left.width, these, rank + start, left.width, others);
        }
        for (int64_t r = 0, end; r < rows; r = end) {
            for (end = r + 1; end < rows && group[end] == group[r];) end++;
            const double *a = others + r * (same ? wide : left.width), *b = lines + r * wide, *w = by ? by + r : 0;
            double *table = out + group[r] * left.width * wide;
            if (many) add_group(a, left.width, b, wide, same, w, end - r, steps, many, table);
            else if (w) add_group(a, left.width, b, wide, same, w, end - r, steps, 0, table);
            else add_group(a, left.width, b, wide, same, 0, end - r, steps, 0, table);
        }
    }
}

/* For each of n points the first of the centres with the least norm + weights · point. */
FAST void nearest(matrix points, int64_t n, const double *weights, const double *norms, int64_t centres, double *room,
                  uint8_t *out) {
    for (int64_t start = 0; start < n; start += STRIP) {
        int64_t rows = n - start < STRIP ? n - start : STRIP;
        uint8_t found[STRIP];
        pack(points, start, rows, room);
        for (int64_t r = 0; r < STRIP; r += 2 * LANES) {
            lanes best[2] = {{0}};
            marks at[2] = {{0}};
            for (int64_t c = 0; c < centres; c += CENTRES) {
                lanes scores[CENTRES][2] = {{{0}}};
                const double *weight[CENTRES];
                for (int s = 0; s < CENTRES; s++) weight[s] = weights + (c + s < centres ? c + s : c) * points.width;
                for (int64_t j = 0; j < points.width; j++)
                    for (int s = 0; s < CENTRES; s++)
                        for (int half = 0; half < 2; half++)
                            scores[s][half] += weight[s][j] * *(const lanes *)(room + j * STRIP + r + half * LANES);
                for (int s = 0; s < CENTRES && c + s < centres; s++)
                    for (int half = 0; half < 2; half++) {
                        lanes score = scores[s][half] + norms[c + s];
                        marks nearer = c + s ? score < best[half] : ~at[half];
                        best[half] = (lanes)((nearer & (marks)score) | (~nearer & (marks)best[half]));
                        at[half] = (nearer & (c + s)) | (~nearer & at[half]);
                    }
            }
            for (int half = 0; half < 2; half++)
                for (int lane = 0; lane < LANES; lane++) found[r + half * LANES + lane] = (uint8_t)at[half][lane];
        }
        memcpy(out + start, found, (size_t)rows);
    }
}

/* Brings n equations over GF(2) to reduced echelon form. Says how many are left, and the pivot of each. */
FAST int64_t echelon(uint64_t *rows, int64_t n, int64_t words, int64_t columns, int64_t *pivots) {
    int64_t rank = 0;
    for (int64_t column = 0; column < columns && rank < n; column++) {
        int64_t word = column / 64, first = rank;
        uint64_t bit = (uint64_t)1 << column % 64;
        while (first < n && !(rows[first * words + word] & bit)) first++;
        if (first == n) continue;
        uint64_t *pivot = rows + rank * words, *other = rows + first * words;
        for (int64_t w = 0; w < words; w++) {
            uint64_t kept = pivot[w];
            pivot[w] = other[w];
            other[w] = kept;
        }
        for (int64_t r = 0; r < n; r++) {
            uint64_t *row = rows + r * words;
            if (r == rank || !(row[word] & bit)) continue;
            for (int64_t w = word; w < words; w++) row[w] ^= pivot[w]; /* left of its column the pivot is empty */
        }
        pivots[rank++] = column;
    }
    return rank;
}

/* Where `byte` is next in [from, to), or `to`. */
INLINE int64_t find(const uint8_t *text, int64_t from, int64_t to, uint8_t byte) {
    const uint8_t *at = to > from ? memchr(text + from, byte, (size_t)(to - from)) : 0;
    return at ? at - text : to;
}

/* Cuts the text of a CSV file into rows, `room` of them at most, and says where the cells of some fields are. `wanted`
   has `many` numbers of fields, in order; `starts` and `lengths` have room for each of them, one field after the other.
   A length of -1 is a missing cell. `across` lets a quoted cell have line ends; `last` says that nothing follows the
   text, so that a row may end where the text does. The rows found are returned, and `consumed` is where they end. */
int64_t cut_csv(const uint8_t *text, int64_t n, uint8_t delimiter, int64_t across, int64_t last, const int64_t *wanted,
                int64_t many, int64_t room, int64_t *starts, int64_t *lengths, int64_t *consumed) {
    int64_t row = 0, at = 0;
    while (row < room && at < n) {
        int64_t stop = n, next = n;
        if (!across) {
            stop = find(text, at, n, '\n');
            if (stop == n && !last) break;
            next = stop < n ? stop + 1 : n;
            if (stop < n && stop > at && text[stop - 1] == '\r') stop--;
        }
        int64_t place = 0, field = 0, p = at;
        while (across || place < many) {
            int64_t start = p, end, readable = 1;
            if (p < stop && text[p] == '"') {
                start = p + 1;
                end = find(text, start, stop, '"');
                while (end + 1 < stop && text[end + 1] == '"') end = find(text, end + 2, stop, '"');
                if (end >= stop) { /* it is not closed: nothing more can be read in this row */
                    p = stop;
                    break;
                }
                p = end + 1;
                int64_t closed = p == stop || text[p] == delimiter || text[p] == '\n' ||
                                 (across && text[p] == '\r' && p + 1 < stop && text[p + 1] == '\n');
                readable = closed;
                while (p < stop && text[p] != delimiter && text[p] != '\n') p++;
            } else {
                while (p < stop && text[p] != delimiter && text[p] != '\n') p++;
                end = p;
                if (p < stop && text[p] == '\n' && end > start && text[end - 1] == '\r') end--;
            }
            if (place < many && wanted[place] == field) {
                starts[place * room + row] = start;
                lengths[place * room + row] = readable && end > start ? end - start : -1;
                place++;
            }
            if (p == stop || text[p] == '\n') break;
            p++;
            field++;
        }
        if (across) {
            if (p == n && !last) break;
            next = p < n ? p + 1 : n;
        }
        for (; place < many; place++) {
            starts[place * room + row] = at;
            lengths[place * room + row] = -1;
        }
        at = next;
        row++;
    }
    *consumed = at;
    return row;
}

/* Whether bytes are text in UTF-8, by table 3-7 of the Unicode standard. */
INLINE int is_text(const uint8_t *bytes, int64_t n) {
    int64_t i = 0;
    for (; i + 8 <= n; i += 8) {
        uint64_t eight;
        memcpy(&eight, bytes + i, sizeof eight);
        if (eight & 0x8080808080808080) break;
    }
    while (i < n) {
        uint8_t lead = bytes[i++];
        if (lead < 0x80) continue;
        int more = lead < 0xe0 ? 1 : lead < 0xf0 ? 2 : 3;
        if (lead < 0xc2 || lead > 0xf4 || n - i < more) return 0;
        uint8_t low = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
        uint8_t high = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
        if (bytes[i] < low || bytes[i] > high) return 0;
        for (int k = 1; k < more; k++)
            if ((bytes[i + k] & 0xc0) != 0x80) return 0;
        i += more;
    }
    return 1;
}

/* Puts cells that `cut_csv` found one behind the other, each doubled quote of a quoted cell once. A cell that is not
   text is missing: `present` says which are there. Cell i is offsets[i] to offsets[i + 1] of `data`. */
void gather_csv(const uint8_t *text, const int64_t *starts, const int64_t *lengths, int64_t n, int64_t *offsets,
                uint8_t *data, uint8_t *present) {
    int64_t used = 0;
    offsets[0] = 0;
    for (int64_t i = 0; i < n; i++) {
        const uint8_t *cell = text + starts[i];
        int64_t length = lengths[i], copied = 0;
        present[i] = length >= 0 && is_text(cell, length);
        if (present[i]) {
            /* Before a quoted cell, and before no other, stands a quote. */
            if (starts[i] > 0 && cell[-1] == '"' && memchr(cell, '"', (size_t)length)) {
                for (int64_t j = 0; j < length; j++) {
                    data[used + copied++] = cell[j];
                    if (cell[j] == '"') j++;
                }
            } else {
                memcpy(data + used, cell, (size_t)length);
                copied = length;
            }
        }
        used += copied;
        offsets[i + 1] = used;
    }
}
