package easyretry;

import java.nio.charset.CharsetDecoder;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * How an attempt ends, and what the daemon is told about it.
 *
 * @param verb {@code done}, {@code fail}, or a kind of {@code POST /v1/leases/settle}: {@code finish} or {@code hand_back}
 * @param result JSON; null: there is none
 * @param error of a failed attempt
 * @param retryAfter null: the policy decides
 * @param warning for the log: something about the result was lost; otherwise null
 */
public record Outcome(String verb, String result, String error, Duration retryAfter, boolean giveUp, String warning) {
  static final Outcome HANDED_BACK = new Outcome("hand_back", null, null, null, false, null);
  private static final int LONGEST_ERROR = 4096; // the daemon keeps as much
  private static final int LONGEST_RESULT = 8_000_000; // a request may have 8 MiB

  /** A result that cannot be written or sent is left out: the handler has succeeded all the same. */
  public static Outcome of(Object value, Codec codec, boolean batch) {
    if (batch || value == null) {
      return succeeded(batch ? "finish" : "done", null, null);
    }
    String text;
    try {
      text = Json.write(codec.toJson(value));
    } catch (RuntimeException | StackOverflowError error) {
      String why = error instanceof IllegalArgumentException ? error.getMessage() : error.getClass().getSimpleName();
      return succeeded("done", null, "its result cannot be written as JSON (" + why + "), and is left out");
    }
    int length = text.getBytes(StandardCharsets.UTF_8).length;
    return length <= LONGEST_RESULT ? succeeded("done", text, null)
        : succeeded("done", null, "its result has " + length + " bytes, more than a request may have, and is left out");
  }

  private static Outcome succeeded(String verb, String result, String warning) {
    return new Outcome(verb, result, null, null, false, warning);
  }

  /** A failed attempt with this text. */
  static Outcome failed(String why) {
    return new Outcome("fail", null, sendable(why), null, false, null);
  }

  public static Outcome of(Throwable error) {
    Duration retryAfter = error instanceof RetryAfter asked ? asked.delay() : null;
    return new Outcome("fail", null, errorText(error), retryAfter, error instanceof GiveUp, null);
  }

  /** The same failure, but a final one. */
  public Outcome asFinal() {
    return new Outcome(verb, null, error, null, true, warning);
  }

  public boolean isFailure() {
    return verb.equals("fail");
  }

  boolean inBatches() {
    return verb.equals("finish") || verb.equals("hand_back");
  }

  Outcome withoutResult() {
    return new Outcome(verb, null, error, retryAfter, giveUp, warning);
  }

  /** A failure after the worker has told the handler to stop is no failed attempt: the task goes back. */
  Outcome after(Task.Cancellation why) {
    if (!isFailure() || why == null || why == Task.Cancellation.LEASE_LOST) {
      return this;
    }
    return why == Task.Cancellation.STOPPING ? HANDED_BACK
        : new Outcome(verb, null, sendable("timed out: " + error), retryAfter, giveUp, null);
  }

  String body(long version) {
    if (result != null) {
      return "{\"version\":" + version + ",\"result\":" + result + "}";
    }
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("version", version);
    if (isFailure()) {
      fields.put("error", error);
      if (giveUp) {
        fields.put("give_up", true);
      } else if (retryAfter != null) {
        fields.put("retry_after_ms", retryAfter.toMillis());
      }
    }
    return Json.write(fields);
  }

  /** The type and the text, as far as the daemon takes them. */
  static String errorText(Throwable error) {
    String text;
    try {
      text = error.getMessage();
    } catch (Throwable another) {
      text = "its text cannot be made (" + another.getClass().getSimpleName() + ")";
    }
    boolean plain = error instanceof RetryAfter || error instanceof GiveUp;
    if (text == null || text.isEmpty()) {
      return error.getClass().getName();
    }
    return sendable(plain ? text : error.getClass().getName() + ": " + text);
  }

  /** As much of a text as the daemon takes and keeps: Unicode without NUL, the start and the end of 4 KiB. */
  static String sendable(String text) {
    String some = text.length() > 2 * LONGEST_ERROR
        ? text.substring(0, LONGEST_ERROR) + text.substring(text.length() - LONGEST_ERROR) : text;
    byte[] bytes = some.replace('\0', '\ufffd').getBytes(StandardCharsets.UTF_8); // a lone surrogate becomes "?"
    if (bytes.length <= LONGEST_ERROR) {
      return new String(bytes, StandardCharsets.UTF_8);
    }
    int half = (LONGEST_ERROR - 60) / 2;
    return decoded(bytes, 0, half) + " … (" + text.length() + " characters) … " + decoded(bytes, bytes.length - half, half);
  }

  /** Without the pieces of letters at both ends. */
  private static String decoded(byte[] bytes, int from, int length) {
    CharsetDecoder decoder = StandardCharsets.UTF_8.newDecoder().onMalformedInput(CodingErrorAction.IGNORE);
    try {
      return decoder.decode(java.nio.ByteBuffer.wrap(bytes, from, length)).toString();
    } catch (java.nio.charset.CharacterCodingException impossible) {
      throw new IllegalStateException(impossible);
    }
  }
}
