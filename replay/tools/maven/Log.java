package sluice;

import java.io.File;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.maven.plugin.AbstractMojoExecutionException;
import org.apache.maven.project.MavenProject;

/** Writes a line of JSON for each event to the file that the property sluice.report names. */
class Log {
    static Path top;
    static int tested;
    private static final Map<String, String> beside = new LinkedHashMap<>(); // folders of modules that are not below the top, and their names from there
    private static final int WORDS = 64 << 10;

    static String dir(MavenProject p) {
        if (p == null || p.getBasedir() == null || top == null) {
            return "";
        }
        return top.relativize(p.getBasedir().toPath()).toString();
    }

    static void module(int n, MavenProject p) {
        if (p.getBasedir() != null && !p.getBasedir().toPath().startsWith(top)) {
            beside.put(p.getBasedir() + "/", dir(p) + "/");
        }
        line("e", "module", "n", "" + n, "dir", dir(p), "name", p.getArtifactId());
    }

    /** What a failure and its causes say, with paths from the project's folder. */
    static String words(Throwable t) {
        StringBuilder b = new StringBuilder();
        Map<Throwable, Boolean> seen = new IdentityHashMap<>();
        for (; t != null && seen.put(t, true) == null && b.length() < WORDS; t = t.getCause()) {
            String s = t instanceof AbstractMojoExecutionException ? ((AbstractMojoExecutionException) t).getLongMessage() : null;
            for (String part : new String[] {t.getMessage() == null ? t.getClass().getName() : t.getMessage(), s}) {
                if (part != null && b.indexOf(part) < 0) {
                    b.append(part).append('\n');
                }
            }
        }
        String s = b.toString();
        if (top != null) {
            s = s.replace("file://" + top + "/", "").replace(top + "/", "");
            for (Map.Entry<String, String> e : beside.entrySet()) {
                s = s.replace("file://" + e.getKey(), e.getValue()).replace(e.getKey(), e.getValue());
            }
        }
        if (System.getProperty("sluice.reports") != null) {
            s = s.replace(System.getProperty("sluice.reports"), "reports");
        }
        return s.length() > WORDS ? s.substring(0, WORDS) : s;
    }

    static void classes(MavenProject p) {
        for (String root : p.getTestCompileSourceRoots()) {
            Sources.each(new File(root), f -> line("e", "source", "dir", dir(p), "file", relative(f.toPath()), "package", Sources.packageOf(f)));
        }
        Sources.compiled(new File(p.getBuild().getTestOutputDirectory()),
                (name, file) -> line("e", "class", "dir", dir(p), "class", name, "file", file));
    }

    private static String relative(Path f) {
        boolean ours = f.startsWith(top) || beside.keySet().stream().anyMatch(f::startsWith);
        return ours ? top.relativize(f).toString() : f.toString();
    }

    static synchronized void line(String... pairs) {
        String file = System.getProperty("sluice.report");
        if (file == null) {
            return;
        }
        try (Writer w = new OutputStreamWriter(new FileOutputStream(file, true), StandardCharsets.UTF_8)) {
            w.write(Sources.json(pairs));
        } catch (IOException e) {
            throw new IllegalStateException("cannot write the report", e);
        }
    }
}
