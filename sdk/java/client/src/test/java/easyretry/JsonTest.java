package easyretry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class JsonTest {
  private final Records records = new Records();

  @Test
  void everyFormIsReadAndWritten() {
    String text = "{\"a\":[1,-2,1.5,true,false,null,\"x\"],\"b\":{},\"c\":[]}";
    assertEquals(text, Json.write(Json.read(text)));
    assertEquals(Arrays.asList(1L, null), Json.read(" [ 1 , null ] "));
  }

  @Test
  void numbersKeepTheirDigits() {
    for (String digits : List.of("9007199254740993", "9223372036854775807", "-9223372036854775808", "92233720368547758079",
        "0.1", "3.14159265358979323846264338327950288")) {
      assertEquals(digits, Json.write(Json.read(digits)));
    }
    assertEquals(new BigDecimal("1e400"), Json.read("1e400"));
  }

  @Test
  void textsAreEscaped() {
    String text = "\" \\ \n \t \u0001 ä 中 \ud83d\ude00";
    assertEquals(text, Json.read(Json.write(text)));
    assertEquals("a/A\ud83d\ude00", Json.read("\"a\\/\\u0041\\ud83d\\ude00\""));
  }

  @Test
  void whatIsNotJsonIsRefused() {
    for (String text : List.of("", "{", "[1,]", "{\"a\"}", "{a:1}", "\"x", "\"\\x\"", "\"\\u12\"", "nul", "1 2", "--1", "<html>",
        "[".repeat(100_000))) {
      assertThrows(IllegalArgumentException.class, () -> Json.read(text), () -> text.substring(0, Math.min(20, text.length())));
    }
  }

  @Test
  void whatJsonCannotRepresentIsRefused() {
    List<Object> cycle = new ArrayList<>();
    cycle.add(cycle);
    for (Object value : List.of(Double.NaN, Float.POSITIVE_INFINITY, "a\ud800b", "\udc00", cycle, Thread.currentThread())) {
      assertThrows(IllegalArgumentException.class, () -> Json.write(value));
      assertThrows(IllegalArgumentException.class, () -> Json.write(records.toJson(value)));
    }
  }

  enum Size { SMALL, LARGE }

  record Item(String name, int count, Optional<String> note) { }

  record Order(long id, Size size, List<Item> items, Map<String, Double> prices, Instant at, Duration within, String missing) { }

  @Test
  void recordsGoThereAndBack() {
    Order order = new Order(9007199254740993L, Size.LARGE, List.of(new Item("tea", 2, Optional.of("hot"))), Map.of("tea", 1.5),
        Instant.parse("2026-03-01T12:00:00.123Z"), Duration.ofSeconds(90), null);
    assertEquals(order, records.fromJson(Json.read(Json.write(records.toJson(order))), Order.class));
  }

  @Test
  void recordsMayChangeWhileTasksWait() {
    Item item = (Item) records.fromJson(Json.read("{\"name\":\"tea\",\"count\":1,\"removed\":7}"), Item.class);
    assertEquals(new Item("tea", 1, Optional.empty()), item);
  }

  @Test
  void aValueThatDoesNotFitIsRefusedWithoutShowingIt() {
    Map<Object, Class<?>> wrong = new LinkedHashMap<>();
    wrong.put("hush", int.class);
    wrong.put("hush ", Instant.class);
    wrong.put("hush  ", Size.class);
    wrong.put("hush   ", Item.class);
    wrong.put(1e300, int.class);
    wrong.forEach((value, type) -> {
      String message = assertThrows(IllegalArgumentException.class, () -> records.fromJson(value, type)).getMessage();
      assertFalse(message.contains("hush") || message.contains("1e"), message);
    });
    assertThrows(IllegalArgumentException.class, () -> records.fromJson(null, int.class));
  }
}
