/* Directions that nobody can foretell, and reports of them: what plain_directions.py says, and bit for bit the same.

   Numbers here are floats, so that the order of operations matters, and that none are fused: this file is compiled
   with -ffp-contract=off. Words are those of ChaCha12 (RFC 8439, but with 12 rounds, a counter of 64 bits and a nonce
   of zeros). A group of them is BLOCKS blocks, of which first all first 32 bits are written, then all second ones, and
   so on. */

#include <stdint.h>
#include <string.h>

#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && !defined(PLAIN)
/* Compiled for several processors; the loader picks the best that is there. */
#define FAST __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#define SEVERAL
#else
#define FAST
#endif
#define INLINE static inline __attribute__((always_inline))

enum { BLOCKS = 16, ROUNDS = 12, WORDS = 8 * BLOCKS, PAIRS = WORDS / 2 };

#define TURNED(x, by) ((x) << (by) | (x) >> (32 - (by)))
#define QUARTER(a, b, c, d)                                                                                       \
    a += b, d ^= a, d = TURNED(d, 16), c += d, b ^= c, b = TURNED(b, 12);                                         \
    a += b, d ^= a, d = TURNED(d, 8), c += d, b ^= c, b = TURNED(b, 7);
#define QUARTERS(a, b, c, d)                                                                                      \
    for (int s = 0; s < SIDES; s++) { QUARTER(x[s][a], x[s][b], x[s][c], x[s][d]) }

#define KIND
#define LANES 4
#define SIDES 1
#define WORDS_OF words_by_fours
#include "chacha.h"

#ifdef SEVERAL
#define KIND __attribute__((target("arch=x86-64-v3")))
#define LANES 8
#define SIDES 1
#define WORDS_OF words_by_eights
#include "chacha.h"

#define KIND __attribute__((target("arch=x86-64-v4")))
#define LANES 16
#define SIDES 2
#define WORDS_OF words_by_sixteens
#include "chacha.h"
#endif

/* Two groups of words. How many blocks are made side by side changes no bit of them. */
INLINE void words_of(const uint32_t *key, uint64_t group, uint64_t *out) {
#ifdef SEVERAL
    if (__builtin_cpu_supports("x86-64-v4")) {
        words_by_sixteens(key, group, out);
        return;
    }
    if (__builtin_cpu_supports("x86-64-v3")) {
        words_by_eights(key, group, out);
        return;
    }
#endif
    words_by_fours(key, group, out);
}

INLINE double real(uint64_t bits) {
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

INLINE uint64_t bits(double x) {
    uint64_t b;
    memcpy(&b, &x, sizeof b);
    return b;
}

/* A point of the circle: the last 52 of a word's first 54 bits are an angle below 45 degrees, of either sign, and the
   first two say whether its sine comes first, and whether the point is turned to its opposite. */
INLINE void point_of(uint64_t word, double *x, double *y) {
    double turn = (real(word << 2 >> 12 | 0x3FF0000000000000) - 1.0) + (0x1p-53 - 0.5);
    double a = turn * 1.5707963267948966, z = a * a;
    double sine = a * (1.0 + z * (-1.0 / 6 + z * (1.0 / 120 + z * (-1.0 / 5040 + z * (1.0 / 362880
                + z * (-1.0 / 39916800 + z * (1.0 / 6227020800)))))));
    double cosine = 1.0 + z * (-1.0 / 2 + z * (1.0 / 24 + z * (-1.0 / 720 + z * (1.0 / 40320
                + z * (-1.0 / 3628800 + z * (1.0 / 479001600 + z * (-1.0 / 87178291200)))))));
    uint64_t change = (bits(cosine) ^ bits(sine)) & (0 - (word >> 62 & 1)), sign = word & 0x8000000000000000;
    *x = real(bits(cosine) ^ change ^ sign);
    *y = real(bits(sine) ^ change ^ sign);
}

/* How long a vector of two normal numbers is: the root of -2 ln U, where U is the middle of one of 2^52 parts. */
INLINE double length_of(uint64_t word) {
    double u = (real(word >> 12 | 0x3FF0000000000000) - 1.0) + 0x1p-53;
    /* U is 2^e times a number from the root of 1/2 to that of 2. */
    uint64_t exponent = (bits(u) - 0x3FE6A09E667F3BCD + 0x3FF0000000000000) >> 52;
    double part = real(bits(u) - (exponent << 52) + 0x3FF0000000000000);
    double e = real(exponent | 0x4330000000000000) - (0x1p52 + 1023);
    double s = (part - 1.0) / (part + 1.0), z = s * s;
    double p = 1.0 + z * (1.0 / 3 + z * (1.0 / 5 + z * (1.0 / 7 + z * (1.0 / 9
             + z * (1.0 / 11 + z * (1.0 / 13 + z * (1.0 / 15)))))));
    return __builtin_sqrt(e * -1.3862943611198906 - 4.0 * s * p);
}

/* Writes d normal numbers for each of n people to rows of n: first numbers of pairs to the first half of the rows, second
   ones to the other half, of which one row is too many if d is odd. Of two numbers only the direction matters. Returns
   how many groups of words that took. */
INLINE uint64_t drawn(const uint32_t *key, uint64_t group, int64_t d, int64_t n, double *rows) {
    int64_t pairs = (d + 1) / 2 * n, each = d == 2 ? WORDS : PAIRS;
    double last[2 * WORDS];
    uint64_t both[2 * WORDS], used = 0;
    for (int64_t start = 0; start < pairs; start += each, used++) {
        int64_t here = pairs - start < each ? pairs - start : each;
        double *first = here == each ? rows + start : last, *second = here == each ? first + pairs : last + WORDS;
        const uint64_t *words = both + used % 2 * WORDS;
        if (used % 2 == 0) words_of(key, group + used, both);
        if (d == 2) {
            for (int i = 0; i < WORDS; i++) point_of(words[i], first + i, second + i);
        } else {
            for (int i = 0; i < PAIRS; i++) {
                double x, y, length = length_of(words[i]);
                point_of(words[PAIRS + i], &x, &y);
                first[i] = length * x;
                second[i] = length * y;
            }
        }
        if (here == each) continue;
        memcpy(rows + start, first, sizeof(double) * (size_t)here);
        memcpy(rows + pairs + start, second, sizeof(double) * (size_t)here);
    }
    return used;
}

FAST uint64_t normals(const uint32_t *key, uint64_t group, int64_t d, int64_t n, double *rows) {
    return drawn(key, group, d, n, rows);
}

/* Rounds n vectors to unit vectors, columns of `out`. Person i's j-th number is values[i * down + j * across]. */
FAST uint64_t aimed(const uint32_t *key, uint64_t group, const double *values, int64_t down, int64_t across,
                    int64_t n, int64_t d, double norm, double most, double *out) {
    uint64_t words[2 * WORDS], used = 0;
    int64_t place[WORDS] = {0};
    double by[WORDS], none[WORDS], middle[WORDS], far[WORDS], turned[WORDS], first[WORDS], squares[WORDS];
    for (int64_t start = 0; start < n; start += WORDS, used++) {
        int64_t rows = n - start < WORDS ? n - start : WORDS;
        double *made = out + start;
        words_of(key, group + used, words);
        memset(squares, 0, sizeof squares);
        for (int64_t j = 0; j < d; j++) {
            const double *from = values + start * down + j * across;
            double *to = made + j * n;
            for (int64_t i = 0; i < rows; i++) {
                double x = from[i * down];
                x = (x - x == 0.0 ? x : 0.0) / norm;
                x = x < -most ? -most : x;
                x = x > most ? most : x;
                to[i] = x;
                squares[i] += x * x;
            }
        }
        for (int64_t i = 0; i < rows; i++) {
            uint64_t word = words[i];
            double length = __builtin_sqrt(squares[i]);
            int short_ = length < 1.0 / most;
            none[i] = short_ ? 1.0 : 0.0;
            by[i] = short_ ? 0.0 : 1.0 / length;
            double share = short_ ? 0.0 : length < 1.0 ? length : 1.0;
            double b = __builtin_sqrt((1.0 - share * share) / (double)d), rest = 1.0 - share;
            b = b < rest ? b : rest;
            double t = word & 1 ? share + b : share - b, across_ = 1.0 - t * t;
            far[i] = (word & 2 ? 1.0 : -1.0) * __builtin_sqrt(across_ > 0.0 ? across_ : 0.0);
            place[i] = 1 + (int64_t)((word >> 22) * (uint64_t)(d - 1) >> 42);
            first[i] = made[i] * by[i] + none[i];
            middle[i] = t;
        }
        for (int64_t i = 0; i < rows; i++) {
            turned[i] = far[i] * (made[place[i] * n + i] * by[i]) / (1.0 + __builtin_fabs(first[i]));
            middle[i] -= turned[i];
        }
        for (int64_t i = 0; i < rows; i++) made[i] = middle[i] * first[i];
        for (int64_t j = 1; j < d; j++) {
            double *to = made + j * n;
            for (int64_t i = 0; i < rows; i++) to[i] = middle[i] * (to[i] * by[i]);
        }
        for (int64_t i = 0; i < rows; i++) {
            made[place[i] * n + i] += far[i];
            made[i] -= turned[i] * __builtin_copysign(1.0, first[i]);
        }
        memset(squares, 0, sizeof squares);
        for (int64_t j = 0; j < d; j++)
            for (int64_t i = 0; i < rows; i++) squares[i] += made[j * n + i] * made[j * n + i];
        for (int64_t i = 0; i < rows; i++) by[i] = 1.0 / __builtin_sqrt(squares[i]);
        for (int64_t j = 0; j < d; j++)
            for (int64_t i = 0; i < rows; i++) made[j * n + i] *= by[i];
    }
    return used;
}

/* Adds squares of x to some sums, and products of x and y to others. */
INLINE void add(int64_t n, const double *restrict x, const double *restrict y, double *restrict squares,
                double *restrict products) {
    for (int64_t i = 0; i < n; i++) {
        squares[i] += x[i] * x[i];
        products[i] += x[i] * y[i];
    }
}

/* Draws a direction for each of n people, until everyone has one on their side. At most `most` people draw at once: for
   each of them `room` has room for their vector, three numbers and d + 1 more, and `places` for four. Person i's j-th
   number is written to out[j * stride + i]. */
FAST uint64_t met(const uint32_t *key, uint64_t group, double threshold, int64_t d, int64_t n, int64_t most,
                  const double *towards, const uint8_t *outside, double *room, int64_t *places, double *out,
                  int64_t stride) {
    int64_t size = most < n ? most : n, waiting = size;
    int64_t *people = places, *aside = people + most, *taken = aside + most, *kept = taken + most;
    double *near = room, *squares = near + d * most, *along = squares + most, *by = along + most, *normal = by + most;
    uint64_t begin = group;
    for (int64_t i = 0; i < size; i++) people[i] = i, aside[i] = outside[i];
    for (int64_t j = 0; j < d; j++) memcpy(near + j * most, towards + j * n, sizeof(double) * (size_t)size);
    while (size) {
        int64_t many = 0, more = 0;
        group += drawn(key, group, d, size, normal);
        for (int64_t i = 0; i < size; i++) squares[i] = along[i] = 0.0;
        for (int64_t j = 0; j < d; j++) add(size, normal + j * size, near + j * most, squares, along);
        /* A direction is as likely as its opposite: of both, the one that may be in the cap is looked at. */
        for (int64_t i = 0; i < size; i++) {
            double length = __builtin_sqrt(squares[i]);
            along[i] /= length;
            by[i] = (!aside[i] && along[i] < 0.0 ? -1.0 : 1.0) / length;
        }
        /* A place is kept by who has no direction yet, or for the next person who waits. */
        for (int64_t i = 0; i < size; i++) {
            int is_met = aside[i] ? along[i] < threshold : __builtin_fabs(along[i]) >= threshold;
            taken[many] = kept[more] = i;
            many += is_met;
            more += !is_met | (many <= n - waiting);
        }
        int64_t fresh = many - (size - more);
        for (int64_t j = 0; j < d; j++) {
            double *to = out + j * stride, *vector = near + j * most;
            const double *x = normal + j * size, *from = towards + j * n + waiting;
            for (int64_t k = 0; k < many; k++) to[people[taken[k]]] = x[taken[k]] * by[taken[k]];
            for (int64_t k = 0; k < fresh; k++) vector[taken[k]] = from[k];
        }
        for (int64_t k = 0; k < fresh; k++) {
            people[taken[k]] = waiting;
            aside[taken[k]] = outside[waiting++];
        }
        if (more == size) continue;
        for (int64_t j = 0; j < d; j++)
            for (int64_t k = 0; k < more; k++) near[j * most + k] = near[j * most + kept[k]];
        for (int64_t k = 0; k < more; k++) people[k] = people[kept[k]], aside[k] = aside[kept[k]];
        size = more;
    }
    return group - begin;
}
