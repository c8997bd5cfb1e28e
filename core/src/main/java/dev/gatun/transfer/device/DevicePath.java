package dev.gatun.transfer.device;

import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/** A way for pages from the memory of one process's GPU into that of another's, the fastest first. */
public enum DevicePath {
  /** The receiver's memory is opened by the sender, whose kernel writes into it: nothing is copied on the way. */
  SAME_HOST("same-host"),
  /** NIXL moves device memory, over whatever UCX finds. */
  NIXL("nixl"),
  /** Through pinned host memory on both sides, and any transfer engine between them. */
  STAGED("staged");

  private final String word;

  DevicePath(String word) {
    this.word = word;
  }

  /** {@return the name in configuration and reports} */
  public String word() {
    return word;
  }

  /** {@return all names} */
  public static List<String> words() {
    return Arrays.stream(values()).map(DevicePath::word).toList();
  }

  /**
   * {@return the path of a name}
   *
   * @param word one of {@link #words()}
   * @throws IllegalArgumentException if there is none, naming those there are
   */
  public static DevicePath of(String word) {
    return Arrays.stream(values()).filter(path -> path.word.equals(word)).findFirst()
        .orElseThrow(() -> new IllegalArgumentException("path must be one of "
            + words().stream().collect(Collectors.joining(", ")) + ": \"" + word + '"'));
  }

  @Override
  public String toString() {
    return word;
  }
}
