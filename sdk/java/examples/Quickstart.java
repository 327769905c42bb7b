import easyretry.App;
import java.util.Map;

public class Quickstart {
  record Mail(String to) {}

  public static void main(String[] arguments) {
    App app = new App("http://127.0.0.1:7077");
    app.action("mail.send", Mail.class, mail -> System.out.println("mail to " + mail.to()));
    app.client().submit("mail.send", Map.of("to", "ann"));
    app.run(); // until SIGTERM
  }
}
