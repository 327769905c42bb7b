package easyretry;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * The daemon's answer to a submission.
 *
 * @param id has more digits than a double can hold, so it is a text
 * @param created false: a task with this key was live, and {@code id} is its id
 */
public record Submitted(String id, String key, boolean created, long version) {
  static Submitted of(Object answer) {
    if (answer instanceof Map<?, ?> fields && fields.get("id") instanceof String id && fields.get("key") instanceof String key
        && fields.get("created") instanceof Boolean created && fields.get("version") instanceof Long version) {
      return new Submitted(id, key, created, version);
    }
    throw new EasyRetryException.NotADaemon("the answer to a submission is not one of this version");
  }

  static List<Submitted> allOf(Map<String, Object> answer) {
    if (!(answer.get("tasks") instanceof List<?> tasks)) {
      throw new EasyRetryException.NotADaemon("the answer to a batch of submissions has no list of tasks");
    }
    List<Submitted> all = new ArrayList<>(tasks.size());
    tasks.forEach(task -> all.add(of(task)));
    return all;
  }
}
