package dev.gatun.bench;

import dev.gatun.bench.DecodeSide.Question;
import java.io.IOException;
import java.io.UncheckedIOException;

/** Matrix products on the GPU of the process that pages are pushed to, by that process. */
final class DecodeProduct implements Product {
  private final DecodeProcess decode;

  /** Has the other process make its own; while one runs it answers nothing else. */
  DecodeProduct(DecodeProcess decode, String library, int size) throws IOException {
    this.decode = decode;
    decode.questions().writeByte(Question.PRODUCT.code());
    decode.questions().writeUTF(library);
    decode.questions().writeInt(size);
    decode.questions().flush();
    decode.answer();
  }

  @Override
  public void queue(int products) {
    try {
      decode.questions().writeByte(Question.RUN.code());
      decode.questions().writeInt(products);
      decode.questions().flush();
      decode.answer(); // it runs
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public boolean isRunning() {
    try {
      return !decode.hasAnswered();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public double millis() {
    try {
      return decode.answer() / 1e6;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
