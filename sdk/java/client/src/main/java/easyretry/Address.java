package easyretry;

import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.URI;
import java.net.UnknownHostException;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/** Where the daemon is, and whom to trust there. Refuses what cannot be one, and http:// to another machine. */
final class Address {
  final String url;
  final SSLContext tls; // null: that of the Java installation

  Address(String url, String caFile) {
    URI uri = parsed(url);
    this.url = url.endsWith("/") ? url.substring(0, url.length() - 1) : url;
    if (uri.getScheme().equals("http") && !isLoopback(uri.getHost())) {
      throw new IllegalArgumentException(url + " is on another machine, and the token must not be sent unencrypted; use https://, "
          + "or a tunnel to 127.0.0.1");
    }
    tls = caFile == null || caFile.isEmpty() || uri.getScheme().equals("http") ? null : trusting(caFile);
  }

  private static URI parsed(String url) {
    try {
      URI uri = URI.create(url);
      boolean known = "http".equals(uri.getScheme()) || "https".equals(uri.getScheme());
      boolean rootOnly = uri.getPath() == null || uri.getPath().isEmpty() || uri.getPath().equals("/");
      if (known && uri.getHost() != null && rootOnly && uri.getQuery() == null && uri.getFragment() == null
          && uri.getUserInfo() == null) {
        return uri;
      }
    } catch (IllegalArgumentException notAnAddress) {
      // The message below says more.
    }
    throw new IllegalArgumentException(url + " is not the address of a daemon; write it as http://127.0.0.1:7077 or "
        + "https://retry.example:7077");
  }

  private static boolean isLoopback(String host) {
    if (host.equals("localhost")) {
      return true;
    }
    boolean number = host.startsWith("[") || host.matches("[0-9.]+"); // a name that begins with "127." may be any machine
    try {
      return number && InetAddress.getByName(host).isLoopbackAddress();
    } catch (UnknownHostException notANumber) {
      return false;
    }
  }

  private static SSLContext trusting(String caFile) {
    try (InputStream file = new FileInputStream(caFile)) {
      KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
      store.load(null, null);
      for (Certificate one : CertificateFactory.getInstance("X.509").generateCertificates(file)) {
        store.setCertificateEntry("ca-" + store.size(), one);
      }
      if (store.size() == 0) {
        throw new GeneralSecurityException("it has no certificate");
      }
      TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
      trust.init(store);
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(null, trust.getTrustManagers(), null);
      return context;
    } catch (IOException | GeneralSecurityException error) {
      throw new IllegalArgumentException("caFile " + caFile + " cannot be read (" + error.getMessage() + "); it must contain, in "
          + "PEM, the authority that signed the daemon's certificate", error);
    }
  }
}
