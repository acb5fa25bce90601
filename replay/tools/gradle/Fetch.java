import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;

/** Brings the archive at an address, checked by the digest that lies beside it, and lays its files into a folder; none outside of it. */
public class Fetch {
    private static final long MOST = 1L << 30;

    /** The server did not answer, or not for now: nothing is known of the archive. */
    private static class Unreachable extends IOException {
        Unreachable(String words) {
            super(words);
        }
    }

    public static void main(String[] args) throws Exception {
        String address = mirrored(args[0], System.getenv("GRADLE_DISTRIBUTIONS_URL"));
        try {
            bring(address, args[1]);
        } catch (Unreachable e) {
            System.err.println(e.getMessage());
            System.exit(3);
        }
    }

    /** The address of the same archive on a mirror of the folder that it is in. */
    private static String mirrored(String address, String mirror) {
        return mirror == null || mirror.isEmpty() ? address : mirror.replaceAll("/+$", "") + address.substring(address.lastIndexOf('/'));
    }

    private static void bring(String address, String dir) throws Exception {
        byte[] want;
        try (InputStream in = open(address + ".sha256")) {
            want = in.readNBytes(64);
        }
        Path zip = Files.createTempFile("sluice", ".zip");
        try {
            MessageDigest sum = MessageDigest.getInstance("SHA-256");
            try (InputStream in = new DigestInputStream(open(address), sum); OutputStream out = Files.newOutputStream(zip)) {
                copy(in, out, MOST);
            }
            String got = String.format("%064x", new java.math.BigInteger(1, sum.digest()));
            if (!got.equals(new String(want, "US-ASCII"))) {
                throw new IOException("the archive's digest is " + got);
            }
            try (InputStream in = Files.newInputStream(zip)) {
                unpack(in, Paths.get(dir).toAbsolutePath().normalize());
            }
        } finally {
            Files.delete(zip);
        }
    }

    /** Follows redirections, which those of Java do not from one scheme to the other. */
    private static InputStream open(String address) throws IOException {
        URI at = URI.create(address);
        for (int hops = 0; hops < 5; hops++) {
            HttpURLConnection c = (HttpURLConnection) at.toURL().openConnection();
            c.setConnectTimeout(30_000);
            c.setReadTimeout(60_000);
            c.setInstanceFollowRedirects(false);
            int code;
            try {
                code = c.getResponseCode();
            } catch (IOException e) {
                throw new Unreachable(at.getHost() + " cannot be reached: " + e);
            }
            String next = c.getHeaderField("Location");
            if (code == 200) {
                return c.getInputStream();
            }
            if (code == 429 || code >= 500) {
                throw new Unreachable("the answer of " + at.getHost() + " is " + code);
            }
            if (code / 100 != 3 || next == null) {
                throw new IOException("the answer of " + at.getHost() + " is " + code);
            }
            URI to = at.resolve(next);
            if (at.getScheme().equals("https") && !"https".equals(to.getScheme())) {
                throw new IOException("a redirection to " + to.getScheme());
            }
            at = to;
        }
        throw new IOException("too many redirections");
    }

    private static void unpack(InputStream in, Path dir) throws IOException {
        long left = MOST;
        try (ZipInputStream zip = new ZipInputStream(in)) {
            for (ZipEntry e; (e = zip.getNextEntry()) != null;) {
                Path p = dir.resolve(e.getName()).normalize();
                if (!p.startsWith(dir)) {
                    throw new IOException("a file outside of the archive's folder");
                }
                if (!e.isDirectory()) {
                    Files.createDirectories(p.getParent());
                    try (OutputStream out = Files.newOutputStream(p)) {
                        left = copy(zip, out, left);
                    }
                }
            }
        }
    }

    private static long copy(InputStream in, OutputStream out, long left) throws IOException {
        byte[] buffer = new byte[1 << 16];
        for (int n; (n = in.read(buffer)) > 0;) {
            if ((left -= n) < 0) {
                throw new IOException("the archive is too large");
            }
            out.write(buffer, 0, n);
        }
        return left;
    }
}
