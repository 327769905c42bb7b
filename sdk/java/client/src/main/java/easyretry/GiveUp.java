package easyretry;

/** Thrown by a handler: a final failure, whatever the policy would still allow. */
public class GiveUp extends RuntimeException {
  public GiveUp(String why) {
    super(why);
  }

  public GiveUp(String why, Throwable cause) {
    super(why, cause);
  }
}
