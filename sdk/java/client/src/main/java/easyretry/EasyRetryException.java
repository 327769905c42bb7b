package easyretry;

import java.time.Duration;

/** Errors of the daemon and of the way to it, by what the caller can do about them. */
public abstract class EasyRetryException extends RuntimeException {
  private Duration retryAfter;

  EasyRetryException(String message, Throwable cause) {
    super(message, cause);
  }

  /** How long to wait before the next try, if the daemon has said so; otherwise null. */
  public Duration retryAfter() {
    return retryAfter;
  }

  EasyRetryException after(Duration pause) {
    retryAfter = pause;
    return this;
  }

  /** Nothing was done. The same request may succeed later. */
  public static class Unavailable extends EasyRetryException {
    public Unavailable(String message, Throwable cause) {
      super(message, cause);
    }
  }

  /** No usable answer came, so the request may or may not have been done. It is safe to repeat it. */
  public static class InDoubt extends EasyRetryException {
    /** The daemon repeats this answer to the same Idempotency-Key, so the next try needs another one. */
    final boolean remembered;

    public InDoubt(String message, Throwable cause) {
      this(message, cause, false);
    }

    InDoubt(String message, Throwable cause, boolean remembered) {
      super(message, cause);
      this.remembered = remembered;
    }
  }

  /** Something else than an EasyRetry daemon has answered: a proxy, a login page, another service. */
  public static class NotADaemon extends InDoubt {
    public NotADaemon(String message) {
      super(message, null);
    }
  }

  /** The daemon refuses this request, and says why. The same request is refused again. */
  public static class Refused extends EasyRetryException {
    private final int status;
    private final String code;

    public Refused(int status, String code, String message) {
      super(message, null);
      this.status = status;
      this.code = code;
    }

    public int status() {
      return status;
    }

    /** The daemon's word for it: {@code not_found}, {@code duplicate_key}, … */
    public String code() {
      return code;
    }
  }

  /** 401 or 403: the token is unknown, expired, or may not do this. Works again with another token. */
  public static class Unauthorized extends Refused {
    public Unauthorized(int status, String code, String message) {
      super(status, code, message);
    }
  }

  /** 409: another request was first. {@code code()} says which: {@code lease_lost}, {@code duplicate_key}, {@code ended}, … */
  public static class Conflict extends Refused {
    public Conflict(int status, String code, String message) {
      super(status, code, message);
    }
  }

  /** JSON cannot represent the arguments. Nothing was sent. */
  public static class InvalidArguments extends EasyRetryException {
    public InvalidArguments(String message) {
      super(message, null);
    }
  }
}
