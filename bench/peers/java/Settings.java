import java.net.URI;
import java.util.Map;
import java.util.TreeMap;

/** The settings of a run, WORK key=value…, and the address of the store. */
final class Settings {
  final String work;
  private final Map<String, String> values = new TreeMap<>();

  Settings(String[] args, String... defaults) {
    work = args[0];
    for (String pair : new String[] {"tasks=1000", "rate=200", "over=20", "callers=1", "batch=1000", "connections=20", "ahead=0.5"}) put(pair);
    for (String pair : defaults) put(pair);
    for (int i = 1; i < args.length; i++) put(args[i]);
  }

  private void put(String pair) {
    String[] parts = pair.split("=", 2);
    values.put(parts[0], parts[1]);
  }

  double real(String key) {
    return Double.parseDouble(values.get(key));
  }

  int number(String key) {
    return (int) real(key);
  }

  static boolean isPostgres() {
    return storeUrl().getScheme().equals("postgres");
  }

  private static URI storeUrl() {
    return URI.create(System.getenv("STORE_URL"));
  }

  /** With the drivers' own ways to send many rows at once. */
  static String jdbcUrl() {
    URI url = storeUrl();
    String[] login = url.getUserInfo().split(":");
    String more = isPostgres()
        ? "sslmode=disable&reWriteBatchedInserts=true"
        : "useBulkStmts=true&rewriteBatchedStatements=true&useServerPrepStmts=true&cachePrepStmts=true";
    return "jdbc:%s://%s:%d%s?user=%s&password=%s&%s".formatted(
        isPostgres() ? "postgresql" : "mariadb", url.getHost(), url.getPort(), url.getPath(), login[0], login[1], more);
  }
}
