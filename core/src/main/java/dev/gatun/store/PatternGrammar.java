package dev.gatun.store;

/**
 * The part of ECMAScript's regular expressions that patterns may use. What is outside it, a master answers with a bare
 * {@code INVALID_PARAMS}, or dies of: quantified groups against long keys have crashed some.
 */
final class PatternGrammar {
  // far below the 100,000 states at which the masters' library gives up; each repetition is a state
  private static final int STATES_MAX = 4096;
  // one less than the embedded library takes, since the pattern is put into a group
  private static final int DEPTH_MAX = 31;
  private static final String SETS = "dDsSwW";
  private static final String CONTROLS = "fnrtv";

  private final String pattern;
  private int at;
  private int states;

  private PatternGrammar(String pattern) {
    this.pattern = pattern;
  }

  /**
   * Refuses a pattern outside the grammar.
   *
   * @throws IllegalArgumentException naming the place and the rule
   */
  static void require(String pattern) {
    PatternGrammar grammar = new PatternGrammar(pattern);
    grammar.alternatives(0);
    if (grammar.at < pattern.length()) throw grammar.refused("a ) must close a group");
  }

  private void alternatives(int depth) {
    if (depth > DEPTH_MAX) throw refused("groups may lie in each other at most " + DEPTH_MAX + " deep");
    while (at < pattern.length() && peek() != ')') {
      char c = next();
      switch (c) {
        case '|', '^', '$' -> refuseQuantifier("nothing to repeat stands before it");
        case '(' -> group(depth);
        case '[' -> {
          set();
          quantifier();
        }
        case '\\' -> {
          escape();
          quantifier();
        }
        case '*', '+', '?', '{' -> throw refusedBefore("nothing to repeat stands before it");
        case '}', ']' -> throw refusedBefore("it must be written with a \\ before it");
        default -> {
          requirePrintable(c);
          quantifier();
        }
      }
    }
  }

  private void group(int depth) {
    if (at < pattern.length() && peek() == '?') throw refused("groups that begin with (? are not allowed");
    refuseQuantifier("nothing to repeat stands before it");
    alternatives(depth + 1);
    if (at == pattern.length()) throw refused("a ( is not closed");
    at++;
    refuseQuantifier("a group must not be repeated: it can crash a master");
  }

  private void refuseQuantifier(String rule) {
    if (at < pattern.length() && "*+?{".indexOf(peek()) >= 0) throw refused(rule);
  }

  private void quantifier() {
    int repeats = 1;
    if (at < pattern.length()) {
      char c = peek();
      if (c == '*' || c == '+' || c == '?') at++;
      else if (c == '{') repeats = counted();
      if (c == '*' || c == '+' || c == '?' || c == '{') {
        if (at < pattern.length() && peek() == '?') at++; // the lazy form
        refuseQuantifier("it repeats a repetition");
      }
    }
    states += repeats;
    if (states > STATES_MAX) throw refused("all repetitions together must be at most " + STATES_MAX);
  }

  /** {@return the larger number of {n}, {n,} or {n,m}} */
  private int counted() {
    at++;
    int least = number();
    int most = least;
    if (at < pattern.length() && peek() == ',') {
      at++;
      if (at < pattern.length() && peek() != '}') most = number();
    }
    if (at == pattern.length() || next() != '}') throw refused("a { must be {n}, {n,} or {n,m}");
    if (most < least) throw refused("of {n,m}, m must not be less than n");
    return Math.max(1, most);
  }

  private int number() {
    int from = at;
    int value = 0;
    while (at < pattern.length() && isDigit(peek()) && value <= STATES_MAX)
      value = value * 10 + (next() - '0');
    if (at == from) throw refused("a { must be {n}, {n,} or {n,m}");
    if (value > STATES_MAX) throw refused("all repetitions together must be at most " + STATES_MAX);
    return value;
  }

  private void set() {
    if (at < pattern.length() && peek() == '^') at++;
    int items = 0;
    while (at < pattern.length() && (peek() != ']' || items == 0)) {
      if (items > 0 && isDash()) throw refused("a - must be the first or the last of a set, or make a range");
      char from = item();
      items++;
      if (!isDash()) continue;
      at++;
      char last = item();
      if (from == 0 || last == 0 || last < from) throw refused("a range must go from a lower character to a higher");
    }
    if (at == pattern.length()) throw refused("a [ is not closed");
    at++;
  }

  /** Whether a - comes that is not the last of its set. */
  private boolean isDash() {
    return at + 1 < pattern.length() && peek() == '-' && pattern.charAt(at + 1) != ']';
  }

  /** {@return the character of a set, 0 if it stands for several} */
  private char item() {
    char c = next();
    if (c == '[' || c == ']') throw refusedBefore("it must be written with a \\ before it");
    if (c == '\\') return escape();
    requirePrintable(c);
    return c;
  }

  /** {@return the character that is meant, 0 if it stands for several} */
  private char escape() {
    if (at == pattern.length()) throw refused("a \\ must have a character after it");
    char c = next();
    if (SETS.indexOf(c) >= 0 || CONTROLS.indexOf(c) >= 0) return 0;
    if (c < ' ' || c > '~' || c == '_' || isDigit(c) || Character.isLetter(c)) {
      throw refusedBefore("after a \\ stands a punctuation character, or one of " + SETS + CONTROLS);
    }
    return c;
  }

  private void requirePrintable(char c) {
    if (c < ' ' || c > '~') throw refusedBefore("only printable ASCII is allowed");
  }

  private static boolean isDigit(char c) {
    return c >= '0' && c <= '9';
  }

  private char peek() {
    return pattern.charAt(at);
  }

  private char next() {
    return pattern.charAt(at++);
  }

  private IllegalArgumentException refusedBefore(String rule) {
    at--;
    return refused(rule);
  }

  private IllegalArgumentException refused(String rule) {
    return new IllegalArgumentException("pattern is refused at character " + at + ", " + rule + ": \"" + pattern + '"');
  }
}
