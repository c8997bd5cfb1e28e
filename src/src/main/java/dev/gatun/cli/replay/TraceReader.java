package dev.gatun.cli.replay;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParseException;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadFeature;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Arrays;

/**
 * Reads a trace of JSON lines, {@code {"timestamp": ms, "input_length": n, "output_length": n, "hash_ids": [..]}}, one
 * hash id for each KV block, in order of time. All four fields are required, other fields are skipped, and whatever is
 * wrong is refused with its line. Lines are read one by one; only the blocks are kept.
 */
public final class TraceReader {
  private final JsonFactory json = JsonFactory.builder().enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION).build();
  private long[] ids = new long[256];

  private TraceReader() {}

  /**
   * Reads a file. Blocks on file I/O.
   *
   * @param file JSON lines
   * @return its requests
   * @throws TraceException if it cannot be read or is not such a trace
   */
  public static Trace read(Path file) throws TraceException {
    TraceReader reader = new TraceReader();
    Trace.Builder builder = new Trace.Builder(file.toString());
    try (InputStream in = Files.newInputStream(file)) {
      BoundedLines lines = new BoundedLines(in);
      while (lines.next())
        reader.parse(file, lines, builder);
    } catch (IOException failure) {
      throw new TraceException("cannot read trace " + file + ": " + reason(failure));
    }
    Trace trace = builder.build();
    if (trace.requests() == 0) throw new TraceException("trace " + file + " holds no request");
    return trace;
  }

  private void parse(Path file, BoundedLines lines, Trace.Builder builder) throws TraceException {
    try (JsonParser parser = json.createParser(lines.bytes(), lines.offset(), lines.length())) {
      request(parser, builder);
    } catch (JsonParseException malformed) {
      throw at(file, lines, "not JSON: " + malformed.getOriginalMessage());
    } catch (IOException | IllegalArgumentException wrong) {
      throw at(file, lines, reason(wrong));
    }
  }

  private void request(JsonParser parser, Trace.Builder builder) throws IOException {
    if (parser.nextToken() == null) throw new IllegalArgumentException("empty; each line holds one JSON object");
    if (parser.currentToken() != JsonToken.START_OBJECT) throw new IllegalArgumentException("not a JSON object");
    long timestamp = -1;
    boolean input = false;
    boolean output = false;
    int count = -1;
    while (parser.nextToken() != JsonToken.END_OBJECT) {
      String field = parser.currentName();
      parser.nextToken();
      switch (field) {
        case "timestamp" -> timestamp = wholeNumber(parser, field, 0);
        case "input_length" -> input = wholeNumber(parser, field, 0) >= 0;
        case "output_length" -> output = wholeNumber(parser, field, 0) >= 0;
        case "hash_ids" -> count = hashIds(parser);
        default -> parser.skipChildren();
      }
    }
    if (parser.nextToken() != null) throw new IllegalArgumentException("more than one JSON value on the line");
    require(timestamp >= 0, "timestamp");
    require(input, "input_length");
    require(output, "output_length");
    require(count >= 0, "hash_ids");
    builder.add(timestamp, ids, count);
  }

  private int hashIds(JsonParser parser) throws IOException {
    if (parser.currentToken() != JsonToken.START_ARRAY) {
      throw new IllegalArgumentException("hash_ids must be an array of whole numbers: " + shown(parser));
    }
    int count = 0;
    while (parser.nextToken() != JsonToken.END_ARRAY) {
      if (count == ids.length) ids = Arrays.copyOf(ids, count * 2);
      ids[count] = wholeNumber(parser, "hash_ids[" + count + "]", Long.MIN_VALUE);
      count++;
    }
    return count;
  }

  private static long wholeNumber(JsonParser parser, String field, long least) throws IOException {
    if (parser.currentToken() != JsonToken.VALUE_NUMBER_INT) {
      throw new IllegalArgumentException(field + " must be a whole number: " + shown(parser));
    }
    if (parser.getNumberType() == JsonParser.NumberType.BIG_INTEGER) {
      throw new IllegalArgumentException(field + " must fit in 64 bits with sign: " + shown(parser));
    }
    long value = parser.getLongValue();
    if (value < least) throw new IllegalArgumentException(field + " must be " + least + " or more: " + value);
    return value;
  }

  private static void require(boolean present, String field) {
    if (!present) throw new IllegalArgumentException(field + " is missing");
  }

  private static String shown(JsonParser parser) throws IOException {
    return parser.currentToken().isStructStart() ? parser.currentToken().asString() + "…" : parser.getText();
  }

  private static TraceException at(Path file, BoundedLines lines, String what) {
    return new TraceException("trace " + file + " line " + lines.number() + ": " + what);
  }

  private static String reason(Exception failure) {
    return switch (failure) {
      case NoSuchFileException missing -> "no such file";
      case AccessDeniedException denied -> "permission denied";
      default -> String.valueOf(failure.getMessage());
    };
  }
}
