import java.io.FileOutputStream;
import java.io.InputStream;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.util.ArrayList;
import java.util.List;

/**
 * Tells Java's tools what other programs read in variables: certificates to trust (SSL_CERT_FILE), proxies, and a mirror of Maven's
 * repositories (MAVEN_MIRROR_URL). All of it goes to the folder named first, which no environment keeps.
 */
public class Network {
    public static void main(String[] args) throws Exception {
        Path dir = Paths.get(args[0]);
        Files.createDirectories(dir);
        List<String> options = new ArrayList<>();
        trust(dir, options);
        StringBuilder proxies = new StringBuilder();
        String none = value("no_proxy", "NO_PROXY").replaceAll("[,\\s]+", "|").replaceAll("(^|\\|)\\.", "$1*.");
        for (String scheme : new String[] {"http", "https"}) {
            String text = value(scheme + "_proxy", scheme.toUpperCase() + "_PROXY", "all_proxy", "ALL_PROXY");
            if (text.isEmpty()) {
                continue;
            }
            URI u = URI.create(text.contains("://") ? text : "http://" + text);
            int port = u.getPort() > 0 ? u.getPort() : 80;
            String[] user = u.getUserInfo() == null ? new String[] {"", ""} : (u.getUserInfo() + ":").split(":", 2);
            options.add("-D" + scheme + ".proxyHost=" + u.getHost());
            options.add("-D" + scheme + ".proxyPort=" + port);
            proxies.append("<proxy><id>").append(scheme).append("</id><active>true</active><protocol>").append(scheme).append("</protocol><host>")
                    .append(xml(u.getHost())).append("</host><port>").append(port).append("</port><username>").append(xml(user[0])).append("</username><password>")
                    .append(xml(user[1].replaceAll(":$", ""))).append("</password><nonProxyHosts>").append(xml(none)).append("</nonProxyHosts></proxy>");
        }
        if (!none.isEmpty()) {
            options.add("-Dhttp.nonProxyHosts=" + none.replaceAll("[^\\w.*|:-]", ""));
        }
        String mirror = value("MAVEN_MIRROR_URL");
        String mirrors = mirror.isEmpty() ? "" : "<mirrors><mirror><id>mirror</id><mirrorOf>external:*</mirrorOf><url>" + xml(mirror) + "</url></mirror></mirrors>";
        write(dir.resolve("settings.xml"), "<settings>" + mirrors + (proxies.length() == 0 ? "" : "<proxies>" + proxies + "</proxies>") + "</settings>\n");
        write(dir.resolve("options"), String.join(" ", options));
    }

    private static void trust(Path dir, List<String> options) throws Exception {
        String bundle = value("SSL_CERT_FILE");
        if (bundle.isEmpty() || !Files.isReadable(Paths.get(bundle))) {
            return;
        }
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(null, null);
        int n = 0;
        CertificateFactory factory = CertificateFactory.getInstance("X.509");
        String text = new String(Files.readAllBytes(Paths.get(bundle)), "ISO-8859-1");
        String begin = "-----BEGIN CERTIFICATE-----", end = "-----END CERTIFICATE-----";
        for (int at = text.indexOf(begin); at >= 0; at = text.indexOf(begin, at + 1)) {
            int stop = text.indexOf(end, at);
            if (stop < 0) {
                break;
            }
            try (InputStream in = new java.io.ByteArrayInputStream(text.substring(at, stop + end.length()).getBytes("ISO-8859-1"))) {
                Certificate c = factory.generateCertificate(in);
                store.setCertificateEntry("c" + n++, c);
            } catch (java.security.cert.CertificateException e) {
                System.out.println("a certificate of the bundle is passed over: " + e.getMessage());
            }
        }
        Path file = dir.resolve("trust.p12");
        try (FileOutputStream out = new FileOutputStream(file.toFile())) {
            store.store(out, "changeit".toCharArray());
        }
        options.add("-Djavax.net.ssl.trustStore=" + file);
        options.add("-Djavax.net.ssl.trustStoreType=PKCS12");
        options.add("-Djavax.net.ssl.trustStorePassword=changeit");
    }

    private static String value(String... names) {
        for (String n : names) {
            String v = System.getenv(n);
            if (v != null && !v.isEmpty()) {
                return v;
            }
        }
        return "";
    }

    private static String xml(String s) {
        return s.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
    }

    private static void write(Path file, String text) throws Exception {
        Files.write(file, text.getBytes("UTF-8"));
    }
}
