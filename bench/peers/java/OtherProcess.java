import java.io.BufferedReader;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** A second process of this program, which runs the tasks that this one sends. */
final class OtherProcess implements AutoCloseable {
  private final Process process;
  private final BufferedReader output;

  OtherProcess() throws IOException {
    ProcessHandle.Info self = ProcessHandle.current().info();
    List<String> command = new ArrayList<>(List.of(self.command().orElseThrow()));
    command.addAll(List.of(self.arguments().orElseThrow()));
    ProcessBuilder builder = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT);
    builder.environment().put("PEER_ROLE", "worker");
    process = builder.start();
    output = process.inputReader();
  }

  String line() throws IOException {
    String line = output.readLine();
    if (line == null) throw new IOException("the other process has ended");
    return line;
  }

  @Override public void close() {
    process.destroyForcibly();
  }
}
