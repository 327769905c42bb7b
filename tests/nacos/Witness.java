// The official Nacos client beside ours: Witness HOST:PORT SERVICE
//
// Registers itself, and prints a line for each new list of the service's instances, until it is killed:
// "list 10.0.0.1:7070{nodeId=a} 10.0.0.9:80{by=witness}", sorted.

import com.alibaba.nacos.api.naming.NamingFactory;
import com.alibaba.nacos.api.naming.listener.NamingEvent;
import com.alibaba.nacos.api.naming.pojo.Instance;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.stream.Collectors;

public class Witness {
  static String text(Instance instance) {
    return instance.getIp() + ":" + instance.getPort() + new TreeMap<>(instance.getMetadata());
  }

  public static void main(String[] arguments) throws Exception {
    var properties = new Properties();
    properties.put("serverAddr", arguments[0]);
    properties.put("username", "nacos");
    properties.put("password", "nacos");
    var naming = NamingFactory.createNamingService(properties);
    naming.subscribe(arguments[1], event -> {
      var instances = ((NamingEvent) event).getInstances();
      System.out.println(instances.stream().map(Witness::text).sorted().collect(Collectors.joining(" ", "list ", "")));
    });
    var self = new Instance();
    self.setIp("10.0.0.9");
    self.setPort(80);
    self.setMetadata(Map.of("by", "witness"));
    naming.registerInstance(arguments[1], self);
    Thread.sleep(Long.MAX_VALUE);
  }
}
