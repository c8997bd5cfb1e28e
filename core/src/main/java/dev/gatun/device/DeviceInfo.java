package dev.gatun.device;

/**
 * What a GPU is.
 *
 * @param ordinal its number among those that this process sees
 * @param name the product's name
 * @param uuid 32 hexadecimal digits, the same in every process
 * @param computeMajor generation, 8 for Ampere, 9 for Hopper
 * @param computeMinor step within it
 * @param multiprocessors units that run blocks of a kernel
 * @param copyEngines units that copy beside kernels
 * @param totalBytes its memory
 * @param reachesHostAddresses whether kernels may use a pinned slab at its host address
 */
public record DeviceInfo(int ordinal, String name, String uuid, int computeMajor, int computeMinor,
    int multiprocessors, int copyEngines, long totalBytes, boolean reachesHostAddresses) {}
