import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import javax.sql.DataSource;

/** Plain statements on a peer's database. */
final class Database {
  private Database() {}

  static void run(DataSource source, String... statements) throws SQLException {
    try (Connection connection = source.getConnection(); Statement statement = connection.createStatement()) {
      for (String text : statements) statement.execute(text);
    }
  }

  static boolean any(DataSource source, String query) throws SQLException {
    try (Connection connection = source.getConnection();
        Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery(query)) {
      return rows.next();
    }
  }
}
