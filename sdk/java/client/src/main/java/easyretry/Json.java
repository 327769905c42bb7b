package easyretry;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * JSON as Java values: Map, List, String, Boolean, null; whole numbers are Long or BigInteger, others Double, or BigDecimal if a
 * Double would lose digits. Messages of its exceptions never contain a value, because arguments must not be logged.
 */
public final class Json {
  private static final int DEEPEST = 500; // also ends the writing of a value that contains itself

  private final String text;
  private int at;

  private Json(String text) {
    this.text = text;
  }

  /** Throws IllegalArgumentException for a text that is not JSON. */
  public static Object read(String text) {
    Json json = new Json(text);
    Object value = json.value(0);
    json.skipSpace();
    if (json.at != text.length()) {
      throw json.wrong("there is more after the value");
    }
    return value;
  }

  /** Throws IllegalArgumentException for a value that JSON cannot represent: NaN, a text that is not Unicode, another type. */
  public static String write(Object value) {
    StringBuilder out = new StringBuilder();
    write(value, out, 0);
    return out.toString();
  }

  private static void write(Object value, StringBuilder out, int depth) {
    if (depth > DEEPEST) {
      throw new IllegalArgumentException("a value contains itself, or is nested too deeply");
    }
    if (value instanceof CharSequence text) {
      writeText(text, out);
    } else if (value instanceof Map<?, ?> map) {
      char before = '{';
      for (Map.Entry<?, ?> entry : map.entrySet()) {
        out.append(before);
        writeText(String.valueOf(entry.getKey()), out);
        out.append(':');
        write(entry.getValue(), out, depth + 1);
        before = ',';
      }
      out.append(before == '{' ? "{}" : "}");
    } else if (value instanceof Iterable<?> list) {
      char before = '[';
      for (Object one : list) {
        out.append(before);
        write(one, out, depth + 1);
        before = ',';
      }
      out.append(before == '[' ? "[]" : "]");
    } else if (value instanceof Number number) {
      writeNumber(number, out);
    } else if (value == null || value instanceof Boolean) {
      out.append(value);
    } else {
      throw new IllegalArgumentException("JSON has no form for " + value.getClass().getName());
    }
  }

  private static void writeNumber(Number number, StringBuilder out) {
    if (number instanceof Double || number instanceof Float) {
      if (!Double.isFinite(number.doubleValue())) {
        throw new IllegalArgumentException("a number is NaN or infinite");
      }
    } else if (!(number instanceof Long || number instanceof Integer || number instanceof Short || number instanceof Byte
        || number instanceof BigInteger || number instanceof BigDecimal)) {
      throw new IllegalArgumentException("JSON has no form for " + number.getClass().getName());
    }
    out.append(number);
  }

  private static void writeText(CharSequence text, StringBuilder out) {
    out.append('"');
    for (int i = 0; i < text.length(); i++) {
      char letter = text.charAt(i);
      switch (letter) {
        case '"' -> out.append("\\\"");
        case '\\' -> out.append("\\\\");
        case '\n' -> out.append("\\n");
        case '\r' -> out.append("\\r");
        case '\t' -> out.append("\\t");
        default -> {
          if (letter < ' ') {
            out.append(String.format("\\u%04x", (int) letter));
          } else if (!Character.isSurrogate(letter)) {
            out.append(letter);
          } else if (Character.isHighSurrogate(letter) && i + 1 < text.length() && Character.isLowSurrogate(text.charAt(i + 1))) {
            out.append(letter).append(text.charAt(++i));
          } else {
            throw new IllegalArgumentException("a text is not valid Unicode");
          }
        }
      }
    }
    out.append('"');
  }

  private Object value(int depth) {
    if (depth > DEEPEST) {
      throw wrong("it is nested too deeply");
    }
    skipSpace();
    char first = peek();
    return switch (first) {
      case '{' -> object(depth);
      case '[' -> array(depth);
      case '"' -> string();
      case 't' -> word("true", Boolean.TRUE);
      case 'f' -> word("false", Boolean.FALSE);
      case 'n' -> word("null", null);
      default -> number();
    };
  }

  private Map<String, Object> object(int depth) {
    Map<String, Object> map = new LinkedHashMap<>();
    at++;
    skipSpace();
    if (takeIf('}')) {
      return map;
    }
    do {
      skipSpace();
      if (peek() != '"') {
        throw wrong("the name of a field is missing");
      }
      String name = string();
      skipSpace();
      take(':');
      map.put(name, value(depth + 1));
      skipSpace();
    } while (takeIf(','));
    take('}');
    return map;
  }

  private List<Object> array(int depth) {
    List<Object> list = new ArrayList<>();
    at++;
    skipSpace();
    if (takeIf(']')) {
      return list;
    }
    do {
      list.add(value(depth + 1));
      skipSpace();
    } while (takeIf(','));
    take(']');
    return list;
  }

  private String string() {
    int start = ++at;
    while (at < text.length() && text.charAt(at) != '"' && text.charAt(at) != '\\') {
      at++;
    }
    if (at < text.length() && text.charAt(at) == '"') { // the usual case: nothing is escaped
      return text.substring(start, at++);
    }
    StringBuilder out = new StringBuilder(text.substring(start, at));
    while (peek() != '"') {
      char letter = text.charAt(at++);
      out.append(letter == '\\' ? escaped() : letter);
    }
    at++;
    return out.toString();
  }

  private char escaped() {
    char letter = peek();
    at++;
    return switch (letter) {
      case '"', '\\', '/' -> letter;
      case 'b' -> '\b';
      case 'f' -> '\f';
      case 'n' -> '\n';
      case 'r' -> '\r';
      case 't' -> '\t';
      case 'u' -> unit();
      default -> throw wrong("an escape is unknown");
    };
  }

  private char unit() {
    if (at + 4 > text.length()) {
      throw wrong("it ends too early");
    }
    int unit = 0;
    for (int i = 0; i < 4; i++) {
      int digit = Character.digit(text.charAt(at++), 16);
      if (digit < 0) {
        throw wrong("an escape is unknown");
      }
      unit = unit * 16 + digit;
    }
    return (char) unit;
  }

  private Object number() {
    int start = at;
    boolean whole = true;
    while (at < text.length() && "+-0123456789.eE".indexOf(text.charAt(at)) >= 0) {
      whole &= ".eE".indexOf(text.charAt(at++)) < 0;
    }
    String digits = text.substring(start, at);
    try {
      if (!whole) {
        BigDecimal exact = new BigDecimal(digits);
        double near = exact.doubleValue();
        return Double.isFinite(near) && new BigDecimal(Double.toString(near)).compareTo(exact) == 0 ? (Object) near : exact;
      }
      return digits.length() < 19 ? (Object) Long.parseLong(digits) : shortest(new BigInteger(digits));
    } catch (NumberFormatException wrong) {
      throw wrong("there is no value");
    }
  }

  private static Object shortest(BigInteger number) {
    return number.bitLength() < 64 ? (Object) number.longValue() : number;
  }

  private Object word(String word, Object value) {
    if (!text.startsWith(word, at)) {
      throw wrong("there is no value");
    }
    at += word.length();
    return value;
  }

  private void skipSpace() {
    while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) {
      at++;
    }
  }

  private char peek() {
    if (at >= text.length()) {
      throw wrong("it ends too early");
    }
    return text.charAt(at);
  }

  private boolean takeIf(char wanted) {
    if (at < text.length() && text.charAt(at) == wanted) {
      at++;
      return true;
    }
    return false;
  }

  private void take(char wanted) {
    if (!takeIf(wanted)) {
      throw wrong("a '" + wanted + "' is missing");
    }
  }

  private IllegalArgumentException wrong(String why) {
    return new IllegalArgumentException("not JSON at position " + at + ": " + why);
  }
}
