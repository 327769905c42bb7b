package easyretry;

import java.lang.reflect.Array;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;

/**
 * The codec without dependencies: records, enums, collections, Optional, Instant, Duration, LocalDate, UUID, and what JSON has
 * itself. Fields that a record does not have are ignored, and those that are missing are null, so that records can change while
 * tasks wait.
 */
public final class Records implements Codec {
  private static final int DEEPEST = 500;

  @Override
  public Object toJson(Object value) {
    return toJson(value, 0);
  }

  private Object toJson(Object value, int depth) {
    if (depth > DEEPEST) {
      throw new IllegalArgumentException("a value contains itself, or is nested too deeply");
    }
    if (value instanceof Record record) {
      Map<String, Object> fields = new LinkedHashMap<>();
      for (RecordComponent component : record.getClass().getRecordComponents()) {
        fields.put(component.getName(), toJson(field(record, component), depth + 1));
      }
      return fields;
    }
    if (value instanceof Map<?, ?> map) {
      Map<String, Object> fields = new LinkedHashMap<>();
      map.forEach((name, field) -> fields.put(String.valueOf(name), toJson(field, depth + 1)));
      return fields;
    }
    if (value instanceof Iterable<?> values && !(value instanceof java.nio.file.Path)) {
      List<Object> list = new ArrayList<>();
      values.forEach(one -> list.add(toJson(one, depth + 1)));
      return list;
    }
    if (value != null && value.getClass().isArray()) {
      List<Object> list = new ArrayList<>();
      for (int i = 0; i < Array.getLength(value); i++) {
        list.add(toJson(Array.get(value, i), depth + 1));
      }
      return list;
    }
    if (value instanceof Optional<?> optional) {
      return toJson(optional.orElse(null), depth + 1);
    }
    if (value instanceof Enum<?> constant) {
      return constant.name();
    }
    boolean asText = value instanceof Instant || value instanceof Duration || value instanceof LocalDate || value instanceof UUID
        || value instanceof Character;
    return asText ? value.toString() : value; // what JSON has no form for is refused when it is written
  }

  private static Object field(Record record, RecordComponent component) {
    try {
      component.getAccessor().setAccessible(true);
      return component.getAccessor().invoke(record);
    } catch (ReflectiveOperationException | RuntimeException error) {
      throw new IllegalArgumentException(component.getName() + " of " + record.getClass().getName() + " cannot be read");
    }
  }

  @Override
  public Object fromJson(Object json, Type type) {
    if (type instanceof ParameterizedType parameterized) {
      return fromGeneric(json, (Class<?>) parameterized.getRawType(), parameterized.getActualTypeArguments());
    }
    if (!(type instanceof Class<?> wanted)) {
      return json;
    }
    if (json == null) {
      if (wanted.isPrimitive()) {
        throw new IllegalArgumentException("a " + wanted + " cannot be null");
      }
      return wanted == Optional.class ? Optional.empty() : null;
    }
    if (wanted.isRecord()) {
      return record(fields(json, wanted), wanted);
    }
    if (wanted.isEnum()) {
      return constant(json, wanted);
    }
    if (wanted.isArray()) {
      List<?> values = (List<?>) checked(json, List.class, wanted);
      Object array = Array.newInstance(wanted.getComponentType(), values.size());
      for (int i = 0; i < values.size(); i++) {
        Array.set(array, i, fromJson(values.get(i), wanted.getComponentType()));
      }
      return array;
    }
    return wanted.isInstance(json) ? json : scalar(json, wanted);
  }

  private Object fromGeneric(Object json, Class<?> wanted, Type[] of) {
    if (wanted == Optional.class) {
      return json == null ? Optional.empty() : Optional.of(fromJson(json, of[0]));
    }
    if (json == null) {
      return null;
    }
    if (Map.class.isAssignableFrom(wanted)) {
      Map<Object, Object> map = new LinkedHashMap<>();
      fields(json, wanted).forEach((name, value) -> map.put(fromJson(name, of[0]), fromJson(value, of[1])));
      return map;
    }
    if (wanted.isAssignableFrom(ArrayList.class)) {
      List<Object> list = new ArrayList<>();
      ((List<?>) checked(json, List.class, wanted)).forEach(one -> list.add(fromJson(one, of[0])));
      return list;
    }
    if (wanted == Set.class) {
      Set<Object> set = new LinkedHashSet<>();
      ((List<?>) checked(json, List.class, wanted)).forEach(one -> set.add(fromJson(one, of[0])));
      return set;
    }
    return fromJson(json, wanted);
  }

  private Object record(Map<?, ?> fields, Class<?> wanted) {
    RecordComponent[] components = wanted.getRecordComponents();
    Class<?>[] types = new Class<?>[components.length];
    Object[] values = new Object[components.length];
    for (int i = 0; i < components.length; i++) {
      types[i] = components[i].getType();
      values[i] = fromJson(fields.get(components[i].getName()), components[i].getGenericType());
    }
    try {
      Constructor<?> constructor = wanted.getDeclaredConstructor(types);
      constructor.setAccessible(true);
      return constructor.newInstance(values);
    } catch (InvocationTargetException error) {
      throw new IllegalArgumentException(wanted.getName() + " does not accept these fields", error.getCause());
    } catch (ReflectiveOperationException | RuntimeException error) {
      throw new IllegalArgumentException(wanted.getName() + " cannot be made", error);
    }
  }

  private static Object constant(Object json, Class<?> wanted) {
    for (Object constant : wanted.getEnumConstants()) {
      if (((Enum<?>) constant).name().equals(json)) {
        return constant;
      }
    }
    throw new IllegalArgumentException("the text is no constant of " + wanted.getName());
  }

  private static Object scalar(Object json, Class<?> wanted) {
    try {
      if (json instanceof Number number) {
        BigDecimal exact = new BigDecimal(number.toString());
        if (wanted == long.class || wanted == Long.class) {
          return exact.longValueExact();
        } else if (wanted == int.class || wanted == Integer.class) {
          return exact.intValueExact();
        } else if (wanted == double.class || wanted == Double.class) {
          return exact.doubleValue();
        } else if (wanted == float.class || wanted == Float.class) {
          return exact.floatValue();
        } else if (wanted == short.class || wanted == Short.class) {
          return exact.shortValueExact();
        } else if (wanted == byte.class || wanted == Byte.class) {
          return exact.byteValueExact();
        } else if (wanted == BigDecimal.class) {
          return exact;
        } else if (wanted == BigInteger.class) {
          return exact.toBigIntegerExact();
        }
      } else if (json instanceof Boolean && wanted == boolean.class) {
        return json;
      } else if (json instanceof String text) {
        if (wanted == Instant.class) {
          return Instant.parse(text);
        } else if (wanted == Duration.class) {
          return Duration.parse(text);
        } else if (wanted == LocalDate.class) {
          return LocalDate.parse(text);
        } else if (wanted == UUID.class) {
          return UUID.fromString(text);
        } else if ((wanted == char.class || wanted == Character.class) && text.length() == 1) {
          return text.charAt(0);
        }
      }
    } catch (RuntimeException error) { // its message has the value
      throw new IllegalArgumentException("the value does not fit " + wanted.getName());
    }
    throw new IllegalArgumentException(wanted.getName() + " cannot be made of this kind of JSON value");
  }

  private static Map<?, ?> fields(Object json, Class<?> wanted) {
    return (Map<?, ?>) checked(json, Map.class, wanted);
  }

  private static Object checked(Object json, Class<?> form, Class<?> wanted) {
    if (!form.isInstance(json)) {
      throw new IllegalArgumentException(wanted.getName() + " cannot be made of this kind of JSON value");
    }
    return json;
  }
}
