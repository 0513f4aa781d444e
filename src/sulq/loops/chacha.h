/* One group of words of the cipher, LANES blocks at a time: a function with the name WORDS_OF, for processors of a kind. */

KIND static void WORDS_OF(const uint32_t *key, uint64_t group, uint64_t *out) {
    typedef uint32_t lanes __attribute__((vector_size(4 * LANES)));
    static const uint32_t name[4] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574};
    for (int start = 0; start < BLOCKS; start += LANES) {
        uint64_t at = group * BLOCKS + (uint64_t)start;
        lanes x[16], none = {0}, counter = {0};
        for (int block = 0; block < LANES; block++) counter[block] = (uint32_t)at + (uint32_t)block;
        for (int k = 0; k < 4; k++) x[k] = none + name[k];
        for (int k = 0; k < 8; k++) x[4 + k] = none + key[k];
        x[12] = counter;
        x[13] = none + (uint32_t)(at >> 32);
        x[14] = x[15] = none;
        for (int round = 0; round < ROUNDS; round += 2) {
            QUARTER(x[0], x[4], x[8], x[12])
            QUARTER(x[1], x[5], x[9], x[13])
            QUARTER(x[2], x[6], x[10], x[14])
            QUARTER(x[3], x[7], x[11], x[15])
            QUARTER(x[0], x[5], x[10], x[15])
            QUARTER(x[1], x[6], x[11], x[12])
            QUARTER(x[2], x[7], x[8], x[13])
            QUARTER(x[3], x[4], x[9], x[14])
        }
        for (int k = 0; k < 4; k++) x[k] += name[k];
        for (int k = 0; k < 8; k++) x[4 + k] += key[k];
        x[12] += counter;
        x[13] += (uint32_t)(at >> 32);
        for (int k = 0; k < 16; k++) memcpy((uint32_t *)out + k * BLOCKS + start, &x[k], sizeof x[k]);
    }
}

#undef KIND
#undef LANES
#undef WORDS_OF
