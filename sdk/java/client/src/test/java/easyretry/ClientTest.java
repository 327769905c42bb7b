package easyretry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a client makes of answers. The daemon is played by this test. */
class ClientTest {
  private record Answer(int status, String body) {
    static Answer refusal(int status, String code) {
      return new Answer(status, "{\"error\":{\"code\":\"" + code + "\",\"message\":\"" + code + "\"}}");
    }
  }

  private static final Answer STORED = new Answer(201, "{\"id\":\"1\",\"key\":\"k\",\"created\":true,\"version\":1}");

  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final List<Answer> answers = new CopyOnWriteArrayList<>(); // the last one is given again
  private final Map<Integer, Integer> answeredAfter = new ConcurrentHashMap<>(); // so many requests have been seen
  private final List<String> tokens = new CopyOnWriteArrayList<>();
  private final List<String> bodies = new CopyOnWriteArrayList<>();
  private HttpServer server;

  @BeforeEach
  void start() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setExecutor(threads);
    server.createContext("/", exchange -> {
      bodies.add(new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8));
      Answer answer = next(exchange.getRequestHeaders().getFirst("Authorization"));
      byte[] body = answer.body.getBytes(StandardCharsets.UTF_8);
      exchange.getResponseHeaders().set("easyretry-time", "2026-03-01T12:00:00.000Z");
      exchange.sendResponseHeaders(answer.status, body.length);
      exchange.getResponseBody().write(body);
      exchange.close();
    });
    server.start();
  }

  private Answer next(String token) throws IOException {
    int number;
    synchronized (tokens) {
      tokens.add(token);
      number = tokens.size();
    }
    try {
      RealDaemon.until("the others have asked", () -> tokens.size() >= answeredAfter.getOrDefault(number, 0));
    } catch (InterruptedException error) {
      throw new IOException(error);
    }
    return answers.get(Math.min(number, answers.size()) - 1);
  }

  @AfterEach
  void stop() {
    server.stop(0);
    threads.shutdownNow();
  }

  private Settings settings() {
    return new Settings().url("http://127.0.0.1:" + server.getAddress().getPort()).token("t").mostPause(Duration.ofMillis(20));
  }

  private static Submitted leased() {
    return new Submitted("1", "k", true, 1);
  }

  @Test
  void anErrorOfTheServerMayHaveDoneTheRequest() {
    answers.addAll(List.of(Answer.refusal(500, "internal"), Answer.refusal(409, "duplicate_key")));
    assertThrows(EasyRetryException.InDoubt.class, () -> new Client(settings()).submit("h"), "it may be our own task");
    assertEquals(2, tokens.size());
  }

  @Test
  void anOutcomeThatArrivedBeforeAnErrorOfTheServerIsNoTrouble() {
    answers.addAll(List.of(Answer.refusal(500, "internal"), Answer.refusal(409, "lease_lost")));
    new Client(settings()).settle(leased(), Outcome.failed("busy"));
    assertEquals(2, tokens.size());
  }

  @Test
  void aDaemonThatIsUnavailableHasDoneNothing() {
    answers.addAll(List.of(Answer.refusal(503, "unavailable"), Answer.refusal(409, "duplicate_key")));
    assertThrows(EasyRetryException.Conflict.class, () -> new Client(settings()).submit("h"));
  }

  @Test
  void aResultThatIsRefusedIsLeftOut() {
    answers.addAll(List.of(Answer.refusal(422, "invalid"), new Answer(200, "{}")));
    new Client(settings()).settle(leased(), Outcome.of("paid", new Records(), false));
    assertTrue(bodies.get(0).contains("paid") && !bodies.get(1).contains("paid"), bodies.toString());
  }

  @Test
  void threadsThatAreRefusedTogetherAllUseTheNewToken(@TempDir Path folder) throws Exception {
    answers.addAll(List.of(Answer.refusal(401, "unauthorized"), Answer.refusal(401, "unauthorized"), STORED));
    Path file = Files.writeString(folder.resolve("token"), "er_old");
    Client client = new Client(settings().tokenFile(file.toString()));
    Files.writeString(file, "er_new");
    answeredAfter.putAll(Map.of(1, 2, 2, 3)); // both have sent the old one, and the first to be refused goes on first
    List<Future<Submitted>> stored = threads.invokeAll(List.of(() -> client.submit("h"), () -> client.submit("h")));
    for (Future<Submitted> one : stored) {
      assertTrue(one.get().created());
    }
    assertEquals(List.of("Bearer er_old", "Bearer er_old", "Bearer er_new", "Bearer er_new"), tokens);
  }
}
