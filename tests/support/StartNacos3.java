// Nacos 3 as a server without its console. Its own starter is in no repository of Maven's; these are its steps.

import com.alibaba.nacos.NacosServerBasicApplication;
import com.alibaba.nacos.NacosServerWebApplication;
import com.alibaba.nacos.core.listener.startup.NacosStartUp;
import com.alibaba.nacos.core.listener.startup.NacosStartUpManager;
import com.alibaba.nacos.sys.env.DeploymentType;
import com.alibaba.nacos.sys.env.EnvUtil;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;

public class StartNacos3 {
  public static void main(String[] arguments) {
    EnvUtil.setDeploymentType(DeploymentType.SERVER);
    NacosStartUpManager.start(NacosStartUp.CORE_START_UP_PHASE);
    var core = new SpringApplicationBuilder(NacosServerBasicApplication.class).web(WebApplicationType.NONE).run(arguments);
    NacosStartUpManager.start(NacosStartUp.WEB_START_UP_PHASE);
    new SpringApplicationBuilder(NacosServerWebApplication.class).parent(core).run(arguments);
  }
}
