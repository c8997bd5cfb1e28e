package dev.gatun.device;

/**
 * An allocation of device memory as another process may open it, for those who implement {@link CudaDriver}.
 *
 * @param handle of the whole allocation, as {@link SlabShare#handle()}
 * @param offset of the exported address from where the allocation starts
 */
public record ExportedMemory(String handle, long offset) {}
