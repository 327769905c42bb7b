package easyretry;

/** When a direct call is stored. */
public enum PersistStrategy {
  /** A failure worth retrying is stored; another one is thrown. */
  RETRY_ONLY,
  /** As RETRY_ONLY, and a failure that is not worth retrying goes to history, before it is thrown. */
  ON_FAILURE,
  /** Stored before the call, and leased by the caller until it has ended. */
  ALWAYS,
  /** The caller stores failures itself, by {@link DirectCall#store}. */
  MANUAL,
  /** Nothing is stored: attempts are made in the caller's thread, and the last exception is thrown. */
  NEVER
}
