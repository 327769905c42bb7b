/** A peer, as the driver sees it. */
interface Peer {
  /** What a peer stores. from: when it was sent or due, in ms, or 0; due: the same for a task that waits; fails: its first attempt does. */
  record Work(int id, double from, double due, boolean fails) {}

  void addMany(java.util.List<Work> tasks) throws Exception;

  void add(Work task) throws Exception;

  /** After tasks were stored; not timed. */
  default void prepare() throws Exception {}

  /** Starts to run tasks, which call Driver.run. */
  void work() throws Exception;

  /** Whether tasks have not ended. */
  boolean left() throws Exception;
}
