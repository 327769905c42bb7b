package easyretry.spring;

import com.fasterxml.jackson.databind.ObjectMapper;
import easyretry.Codec;
import java.lang.reflect.Type;

/** Arguments and results as the application's Jackson writes them. Its messages show values, so they are left out here. */
final class JacksonCodec implements Codec {
  private final ObjectMapper mapper;

  JacksonCodec(ObjectMapper mapper) {
    this.mapper = mapper;
  }

  @Override
  public Object toJson(Object value) {
    try {
      return mapper.convertValue(value, Object.class);
    } catch (IllegalArgumentException | StackOverflowError error) {
      throw new IllegalArgumentException("Jackson cannot write a " + value.getClass().getName());
    }
  }

  @Override
  public Object fromJson(Object json, Type type) {
    try {
      return mapper.convertValue(json, mapper.constructType(type));
    } catch (IllegalArgumentException error) {
      throw new IllegalArgumentException("Jackson cannot make a " + type.getTypeName() + " of it");
    }
  }
}
