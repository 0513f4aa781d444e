/* Echelon form over GF(2) by the method of the four Russians, eight columns at a time: what to compare with.
   Rows of `words` 64-bit words, bit j of a row in bit j % 64 of word j / 64. Returns the rank. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static uint8_t octet(const uint64_t *row, long at) { return (row[at / 8] >> (8 * (at % 8))) & 0xff; }

long eliminate(uint64_t *rows, long count, long words, long columns) {
    long rank = 0;
    uint64_t *table = malloc(256 * words * sizeof(uint64_t));
    uint64_t *kept = malloc(words * sizeof(uint64_t));
    for (long strip = 0; strip * 8 < columns && rank < count; strip++) {
        long first = rank, from = strip / 8, bits[8], found = 0;
        uint8_t any = 0;
        for (long i = rank; i < count; i++) any |= octet(rows + i * words, strip);
        if (!any) continue;
        for (long bit = 0; bit < 8 && strip * 8 + bit < columns && rank < count; bit++) {
            long at = -1;
            for (long i = rank; i < count && at < 0; i++) {
                uint8_t own = octet(rows + i * words, strip);
                for (long j = 0; j < found; j++)
                    if (own >> bits[j] & 1) own ^= octet(rows + (first + j) * words, strip);
                if (own >> bit & 1) at = i;
            }
            if (at < 0) continue;
            uint64_t *pivot = rows + rank * words, *other = rows + at * words;
            if (at != rank) {
                memcpy(kept, pivot, words * 8);
                memcpy(pivot, other, words * 8);
                memcpy(other, kept, words * 8);
            }
            for (long j = 0; j < found; j++)
                if (octet(pivot, strip) >> bits[j] & 1)
                    for (long w = from; w < words; w++) pivot[w] ^= rows[(first + j) * words + w];
            for (long j = 0; j < found; j++)
                if (octet(rows + (first + j) * words, strip) >> bit & 1)
                    for (long w = from; w < words; w++) rows[(first + j) * words + w] ^= pivot[w];
            bits[found++] = bit;
            rank++;
        }
        uint8_t place[256];
        for (long value = 0; value < 256; value++) {
            place[value] = 0;
            for (long j = 0; j < found; j++) place[value] |= (value >> bits[j] & 1) << j;
        }
        memset(table, 0, words * 8);
        for (long j = 0; j < found; j++)
            for (long i = 0; i < 1L << j; i++)
                for (long w = from; w < words; w++)
                    table[((1L << j) + i) * words + w] = table[i * words + w] ^ rows[(first + j) * words + w];
        for (long i = rank; i < count; i++) {
            uint64_t *row = rows + i * words;
            const uint64_t *sum = table + place[octet(row, strip)] * words;
            for (long w = from; w < words; w++) row[w] ^= sum[w];
        }
    }
    free(table);
    free(kept);
    return rank;
}
