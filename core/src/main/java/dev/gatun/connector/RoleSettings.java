package dev.gatun.connector;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * How the engines of one role are started.
 *
 * @param kvTransferConfig how they move KV; its role is set
 * @param engineSettings every other engine setting, passed on as it is; unmodifiable
 */
public record RoleSettings(KvTransferConfig kvTransferConfig, Map<String, @Nullable Object> engineSettings) {}
