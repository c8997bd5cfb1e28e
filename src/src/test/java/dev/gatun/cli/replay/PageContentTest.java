package dev.gatun.cli.replay;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.gatun.cli.replay.PageContent.Verdict;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PageContentTest {

  @ParameterizedTest
  @ValueSource(ints = {32, 33, 39, 40, 4096, 4097, 18_432, 65_539})
  @DisplayName("each single changed byte is seen")
  void seesEachByte(int pageBytes) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment page = arena.allocate(pageBytes, 8);
      long digest = PageContent.digest(1, 3, 42);
      PageContent.fill(page, digest, 3, 42);
      assertEquals(Verdict.RIGHT, PageContent.check(page, digest, 3, 42));
      for (int i = 0; i < pageBytes; i++) {
        byte was = page.get(ValueLayout.JAVA_BYTE, i);
        page.set(ValueLayout.JAVA_BYTE, i, (byte) (was ^ 1));
        assertEquals(Verdict.WRONG, PageContent.check(page, digest, 3, 42), "byte " + i);
        page.set(ValueLayout.JAVA_BYTE, i, was);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {32, 4096, 18_433})
  @DisplayName("a page of older weights is stale; one made after a stale page, of another block or newer weights is wrong")
  void tellsStaleFromWrong(int pageBytes) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment page = arena.allocate(pageBytes, 8);
      long oldDigest = PageContent.digest(PageContent.ROOT_DIGEST, 1, 42);
      long digest = PageContent.digest(PageContent.ROOT_DIGEST, 2, 42);
      PageContent.fill(page, oldDigest, 1, 42);
      assertEquals(Verdict.STALE, PageContent.check(page, digest, 2, 42));
      assertEquals(Verdict.WRONG, PageContent.check(page, PageContent.digest(PageContent.ROOT_DIGEST, 2, 43), 2, 43));
      assertEquals(Verdict.WRONG, PageContent.check(page, PageContent.digest(PageContent.ROOT_DIGEST, 0, 42), 0, 42));

      long child = PageContent.digest(digest, 2, 50);
      PageContent.fill(page, PageContent.digest(oldDigest, 2, 50), 2, 50);
      assertEquals(Verdict.WRONG, PageContent.check(page, child, 2, 50));
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {4096, 65_536})
  @DisplayName("a page torn between old and new bytes is wrong")
  void seesTornPages(int pageBytes) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment page = arena.allocate(pageBytes, 8);
      MemorySegment old = arena.allocate(pageBytes, 8);
      long digest = PageContent.digest(PageContent.ROOT_DIGEST, 2, 42);
      PageContent.fill(old, PageContent.digest(PageContent.ROOT_DIGEST, 1, 42), 1, 42);
      for (int cut : new int[]{8, 64, pageBytes / 2, pageBytes - 8}) {
        PageContent.fill(page, digest, 2, 42);
        MemorySegment.copy(old, cut, page, cut, pageBytes - cut);
        assertEquals(Verdict.WRONG, PageContent.check(page, digest, 2, 42), "cut at " + cut);
      }
    }
  }
}
