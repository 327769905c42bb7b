package easyretry.spring;

import easyretry.Listener;

/** Counts calls and attempts. This one counts nothing: the application has no Micrometer. */
class Meters implements Listener {
  /** A direct call of this handler has ended: {@code succeeded}, {@code stored} or {@code failed}. */
  void called(String handler, String how) { }
}
