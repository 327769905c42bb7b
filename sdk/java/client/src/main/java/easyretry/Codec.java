package easyretry;

import java.lang.reflect.Type;

/**
 * How arguments and results become JSON. {@link Records} is the default; an application that has Jackson can pass
 * {@code mapper.convertValue(…)} for both, as the Spring Boot starter does.
 */
public interface Codec {
  /** To maps, lists, strings, numbers, booleans and null, as {@link Json} writes them. */
  Object toJson(Object value);

  /** From what {@link Json} reads. Throws IllegalArgumentException; its message must not contain the value. */
  Object fromJson(Object json, Type type);
}
