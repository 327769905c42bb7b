package easyretry;

import easyretry.EasyRetryException.Conflict;
import easyretry.EasyRetryException.InDoubt;
import easyretry.EasyRetryException.NotADaemon;
import easyretry.EasyRetryException.Refused;
import easyretry.EasyRetryException.Unauthorized;
import easyretry.EasyRetryException.Unavailable;
import java.io.IOException;
import java.net.ConnectException;
import java.net.ProtocolException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpConnectTimeoutException;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.cert.CertificateException;
import java.time.Duration;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import javax.net.ssl.SSLException;

/** Requests to the daemon. Each failure becomes the exception that says what the caller can do about it. Thread-safe. */
final class Daemon {
  private static final Duration CONNECT = Duration.ofSeconds(10);
  private static final double LONGEST_RETRY_AFTER = 300; // s; a daemon that says more is asked again, it may have changed its mind

  private final HttpClient http;
  private final Settings settings;
  final String url;
  private volatile String token;

  Daemon(Settings settings) {
    this.settings = settings;
    Address address = new Address(settings.url(), settings.caFile());
    url = address.url;
    token = settings.tokenFile().isEmpty() ? settings.token() : readToken();
    if ((token + settings.namespace()).matches("(?s).*[\r\n].*")) { // both are sent as headers
      throw new IllegalArgumentException("a token and a namespace must not contain line breaks");
    }
    HttpClient.Builder builder = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).connectTimeout(CONNECT)
        .followRedirects(HttpClient.Redirect.NEVER);
    http = (address.tls == null ? builder : builder.sslContext(address.tls)).build();
  }

  private String readToken() {
    String file = settings.tokenFile();
    try {
      String text = Files.readString(Path.of(file)).strip();
      if (text.isEmpty()) {
        throw new IllegalArgumentException("there is no token in " + file + "; it must begin with the token, \"er_…\"");
      }
      return text.split("\\s+")[0];
    } catch (IOException error) {
      throw new IllegalArgumentException("the token file " + file + " cannot be read: " + error, error);
    }
  }

  /** The answer, a JSON object. {@code wait} is how long the daemon was asked to wait before it answers. */
  Map<String, Object> post(String path, String body, Duration wait, Map<String, String> headers) {
    return ask(path, HttpRequest.BodyPublishers.ofString(body), wait.plus(settings.timeout()), headers);
  }

  /** Asks for a change of many tasks, and gives up after {@code limit}: for each, whether it was applied. */
  List<?> applied(String path, List<?> tasks, Duration limit) {
    Duration longest = limit.compareTo(settings.timeout()) < 0 ? limit : settings.timeout();
    Map<String, Object> answer = ask(path, HttpRequest.BodyPublishers.ofString(Json.write(Map.of("tasks", tasks))), longest, Map.of());
    if (!(answer.get("applied") instanceof List<?> list) || list.size() != tasks.size()) {
      throw new NotADaemon("the answer to " + path + " does not say what was applied");
    }
    return list;
  }

  Map<String, Object> post(String path, String body) {
    return post(path, body, Duration.ZERO, Map.of());
  }

  Map<String, Object> get(String path, Duration wait) {
    return ask(path, null, wait.plus(settings.timeout()), Map.of());
  }

  private Map<String, Object> ask(String path, HttpRequest.BodyPublisher body, Duration longest, Map<String, String> headers) {
    String sent = token;
    try {
      return read(send(path, body, longest, sent, headers));
    } catch (Unauthorized error) {
      if (!hasTokenAfter(sent)) {
        throw error;
      }
      return read(send(path, body, longest, token, headers));
    }
  }

  /**
   * Whether there is another token than the one that was sent, as after a rotation: in its file by now, or because another thread
   * that was refused, too, has read the file before.
   */
  private boolean hasTokenAfter(String sent) {
    try {
      token = settings.tokenFile().isEmpty() ? token : readToken();
    } catch (IllegalArgumentException unreadable) {
      // The one that is known may still be newer.
    }
    return !token.equals(sent);
  }

  private HttpResponse<byte[]> send(String path, HttpRequest.BodyPublisher body, Duration longest, String bearer,
      Map<String, String> headers) {
    HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(url + path)).header("Authorization", "Bearer " + bearer)
        .header("Accept", "application/json");
    if (body != null) {
      request.POST(body).header("Content-Type", "application/json");
    }
    if (!settings.namespace().isEmpty()) {
      request.header("easyretry-namespace", settings.namespace());
    }
    headers.forEach(request::header);
    CompletableFuture<HttpResponse<byte[]>> answer = http.sendAsync(request.build(), reply -> new BoundedBody());
    try {
      return answer.get(longest.toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException error) {
      Thread.currentThread().interrupt();
      if (!answer.cancel(true) && !answer.isCompletedExceptionally()) {
        return answer.join(); // it came just now, perhaps with tasks
      }
      throw new InDoubt("interrupted while waiting for an answer from " + url, error);
    } catch (TimeoutException error) {
      answer.cancel(true);
      throw new InDoubt("no answer came from " + url + " within " + longest.toMillis() + " ms", error);
    } catch (ExecutionException error) {
      throw noAnswer(error.getCause());
    }
  }

  private EasyRetryException noAnswer(Throwable error) {
    for (Throwable cause = error; cause != null; cause = cause.getCause()) {
      if (cause instanceof CertificateException || cause instanceof java.security.cert.CertPathValidatorException) {
        return new Unavailable("the certificate of " + url + " is not trusted (" + cause.getMessage() + "); set caFile to the "
            + "authority that signed it, and use the name that it was issued for", error);
      }
    }
    if (error instanceof SSLException) {
      return new Unavailable("the server at " + url + " does not speak TLS as expected (" + error.getMessage() + "); use http:// "
          + "for a daemon without a certificate", error);
    }
    if (error instanceof ConnectException || error instanceof HttpConnectTimeoutException) {
      return new Unavailable("no daemon answers at " + url + "; start it with `easyretry serve`, or correct the address", error);
    }
    if (error instanceof ProtocolException) {
      return new NotADaemon("the server at " + url + " does not speak HTTP; correct the address");
    }
    return new InDoubt("no complete answer came from " + url + " (" + error + ")", error);
  }

  @SuppressWarnings("unchecked")
  private Map<String, Object> read(HttpResponse<byte[]> reply) {
    Object found = null;
    try {
      found = Json.read(new String(reply.body(), StandardCharsets.UTF_8));
    } catch (IllegalArgumentException notJson) {
      // What it is instead is said below.
    }
    boolean ours = found instanceof Map && reply.headers().firstValue("easyretry-time").isPresent();
    if (ours && reply.statusCode() / 100 == 2) {
      return (Map<String, Object>) found;
    }
    throw refusal(reply, found).after(retryAfter(reply.headers().firstValue("retry-after").orElse("")));
  }

  private EasyRetryException refusal(HttpResponse<byte[]> reply, Object found) {
    if (!(found instanceof Map<?, ?> fields && fields.get("error") instanceof Map<?, ?> problem
        && problem.get("message") instanceof String message)) {
      return notADaemon(reply);
    }
    int status = reply.statusCode();
    String code = problem.get("code") instanceof String known ? known : "";
    String text = problem.get("hint") instanceof String hint ? message + "; " + hint : message;
    if (code.equals("in_doubt")) {
      return new InDoubt(text, null, true);
    }
    if (status == 429 || status == 503 || code.equals("https_needed")) {
      return new Unavailable(text, null);
    }
    if (status >= 500) {
      return new InDoubt(text, null);
    }
    return switch (status) {
      case 401, 403 -> new Unauthorized(status, code, text);
      case 409 -> new Conflict(status, code, text);
      default -> new Refused(status, code, text);
    };
  }

  private EasyRetryException notADaemon(HttpResponse<byte[]> reply) {
    int status = reply.statusCode();
    if (status / 100 == 3) {
      return new NotADaemon(url + " redirects to " + reply.headers().firstValue("location").orElse("another address")
          + ". Redirects are not followed, because the token is for this address only; correct the address");
    }
    String kind = reply.headers().firstValue("content-type").orElse("no content type");
    String text = "the server at " + url + " is not an EasyRetry daemon of this version (HTTP " + status + ", " + kind
        + "); something else answers there, such as a proxy";
    return status == 429 ? new Unavailable(text, null) : new NotADaemon(text);
  }

  /** Seconds, or the time of a date. A header that cannot be read is ignored. */
  static Duration retryAfter(String text) {
    double seconds;
    try {
      seconds = text.matches("[0-9.]+") ? Double.parseDouble(text)
          : Duration.between(Instant.now(), ZonedDateTime.parse(text, DateTimeFormatter.RFC_1123_DATE_TIME)).toMillis() / 1000.0;
    } catch (RuntimeException unreadable) {
      return null;
    }
    return Duration.ofMillis(Math.round(Math.min(Math.max(seconds, 0), LONGEST_RETRY_AFTER) * 1000));
  }
}
