package dev.gatun.device;

/**
 * An allocation of device memory as another process may open it, for those who implement {@link CudaDriver}.
 *
 * @param handle of the whole allocation; the array belongs to who asked for it
 * @param offset of the exported address from where the allocation starts
 */
public record ExportedMemory(byte[] handle, long offset) {}
