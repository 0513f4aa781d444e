/* Two groups of words of the cipher, for processors of a kind: a function with the name WORDS_OF. A register has LANES
   blocks, and so many registers as SIDES says are worked on in turn, because each step waits for the one before it. */

KIND static void WORDS_OF(const uint32_t *key, uint64_t group, uint64_t *out) {
    typedef uint32_t lanes __attribute__((vector_size(4 * LANES)));
    static const uint32_t name[4] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574};
    lanes none = {0}, places = {0};
    for (int block = 0; block < LANES; block++) places[block] = (uint32_t)block;
    for (int start = 0; start < 2 * BLOCKS; start += SIDES * LANES) {
        lanes x[SIDES][16], first[SIDES][16];
        for (int s = 0; s < SIDES; s++) {
            uint64_t at = group * BLOCKS + (uint64_t)(start + s * LANES);
            for (int k = 0; k < 4; k++) first[s][k] = none + name[k];
            for (int k = 0; k < 8; k++) first[s][4 + k] = none + key[k];
            first[s][12] = places + (uint32_t)at;
            first[s][13] = none + (uint32_t)(at >> 32);
            first[s][14] = first[s][15] = none;
            for (int k = 0; k < 16; k++) x[s][k] = first[s][k];
        }
        for (int round = 0; round < ROUNDS; round += 2) {
            QUARTERS(0, 4, 8, 12)
            QUARTERS(1, 5, 9, 13)
            QUARTERS(2, 6, 10, 14)
            QUARTERS(3, 7, 11, 15)
            QUARTERS(0, 5, 10, 15)
            QUARTERS(1, 6, 11, 12)
            QUARTERS(2, 7, 8, 13)
            QUARTERS(3, 4, 9, 14)
        }
        for (int s = 0; s < SIDES; s++) {
            int block = start + s * LANES;
            uint32_t *to = (uint32_t *)(out + block / BLOCKS * WORDS) + block % BLOCKS;
            for (int k = 0; k < 16; k++) {
                lanes sum = x[s][k] + first[s][k];
                memcpy(to + k * BLOCKS, &sum, sizeof sum);
            }
        }
    }
}

#undef KIND
#undef LANES
#undef SIDES
#undef WORDS_OF
