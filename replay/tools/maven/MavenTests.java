package sluice;

import java.io.File;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.regex.Pattern;
import org.apache.maven.AbstractMavenLifecycleParticipant;
import org.apache.maven.execution.MavenExecutionRequest;
import org.apache.maven.execution.MavenSession;
import org.apache.maven.model.Plugin;
import org.apache.maven.model.PluginExecution;
import org.apache.maven.project.MavenProject;
import org.codehaus.plexus.util.xml.Xpp3Dom;

/**
 * Changes what Maven read of a project so that its tests run once, in order, with reports in a folder of ours, on the JDK that there is.
 * Nothing of it is written to the tree, but when an environment is built: then sources that do nothing make Maven resolve all that
 * compiling and testing need.
 */
public class MavenTests extends AbstractMavenLifecycleParticipant {
    /** Plugins that judge or publish sources; whether they are content is no outcome of a test. */
    private static final Pattern JUDGES = Pattern.compile("maven-(enforcer|checkstyle|pmd|javadoc|source|gpg|site|jxr|release|deploy)-plugin|apache-rat-plugin"
            + "|license-maven-plugin|maven-license-plugin|spotless-maven-plugin|fmt-maven-plugin|sortpom-maven-plugin|spotbugs-maven-plugin|findbugs-maven-plugin"
            + "|animal-sniffer-maven-plugin|japicmp-maven-plugin|revapi-maven-plugin|forbiddenapis|formatter-maven-plugin|impsort-maven-plugin|ktlint.*"
            + "|detekt.*|xml-maven-plugin|modernizer-maven-plugin|error-prone.*|dependency-check-maven|cyclonedx-maven-plugin|buildnumber-maven-plugin"
            + "|git-code-format-maven-plugin|githook-maven-plugin|git-build-hook-maven-plugin|tidy-maven-plugin|versions-maven-plugin|jacoco-maven-plugin|cobertura-maven-plugin");
    private static final String OPENS = opens("java.lang", "java.lang.reflect", "java.lang.invoke", "java.util", "java.util.concurrent", "java.io",
            "java.net", "java.nio", "java.text", "java.time", "java.math", "sun.nio.ch");

    private final boolean install = "install".equals(System.getProperty("sluice.mode"));
    private final int jdk = Runtime.version().feature();
    private final int oldest = jdk >= 20 ? 8 : jdk >= 12 ? 7 : 6;

    private static String opens(String... packages) {
        StringBuilder b = new StringBuilder("-XX:+IgnoreUnrecognizedVMOptions");
        for (String p : packages) {
            b.append(" --add-opens=java.base/").append(p).append("=ALL-UNNAMED");
        }
        return b.toString();
    }

    @Override
    public void afterProjectsRead(MavenSession session) {
        if (session.getTopLevelProject().getBasedir() == null) {
            return; // there is no pom, which Maven says itself
        }
        session.getRequest().setReactorFailureBehavior(MavenExecutionRequest.REACTOR_FAIL_NEVER);
        Log.top = session.getTopLevelProject().getBasedir().toPath();
        int n = 0;
        for (MavenProject p : session.getProjects()) {
            n++;
            p.getBuild().getPlugins().removeIf(x -> JUDGES.matcher(x.getArtifactId()).matches() || strip() && !compiles(x));
            p.getBuild().flushPluginMap();
            levels(p);
            for (Plugin x : p.getBuild().getPlugins()) {
                if (x.getArtifactId().equals("maven-surefire-plugin")) {
                    surefire(p, x, n);
                }
                if (x.getArtifactId().startsWith("git-commit-id")) {
                    put(config(x), "failOnNoGitDirectory", "false");
                    put(config(x), "failOnUnableToExtractRepoInfo", "false");
                }
            }
            if (install && !p.getPackaging().equals("pom")) {
                stub(p.getBuild().getSourceDirectory(), "SluiceStub");
                stub(p.getBuild().getTestSourceDirectory(), "SluiceStubTest");
            }
            Log.module(n, p);
        }
    }

    @Override
    public void afterSessionEnd(MavenSession session) throws org.apache.maven.MavenExecutionException {
        if (!install) {
            session.getRequest().setReactorFailureBehavior(MavenExecutionRequest.REACTOR_FAIL_AT_END);
            return;
        }
        long all = session.getProjects().stream().filter(p -> !p.getPackaging().equals("pom")).count();
        if (Log.tested == 0 || !strip() && Log.tested < all) {
            session.getRequest().setReactorFailureBehavior(MavenExecutionRequest.REACTOR_FAIL_AT_END);
            throw new org.apache.maven.MavenExecutionException(Log.tested + " of " + all + " modules came as far as their tests",
                    session.getTopLevelProject().getFile());
        }
    }

    private static boolean strip() {
        return Boolean.getBoolean("sluice.strip");
    }

    private static boolean compiles(Plugin x) {
        return x.isExtensions() || x.getArtifactId().matches("maven-(resources|compiler|surefire)-plugin|kotlin-maven-plugin|gmaven.*|scala-maven-plugin|groovy-eclipse.*");
    }

    /** A level that this JDK's compiler does not know any more becomes the oldest one that it knows. */
    private void levels(MavenProject p) {
        Properties props = p.getProperties();
        int wanted = 0;
        boolean source = false, target = false;
        for (String k : new String[] {"source", "target", "release", "testSource", "testTarget", "testRelease"}) {
            String v = props.getProperty("maven.compiler." + k);
            if (v != null) {
                source |= k.equals("source");
                target |= k.equals("target");
                wanted = Math.max(wanted, level(v));
                if (level(v) > 0 && level(v) < oldest) {
                    props.setProperty("maven.compiler." + k, "" + oldest);
                }
            }
        }
        for (Plugin x : p.getBuild().getPlugins()) {
            if (!x.getArtifactId().equals("maven-compiler-plugin")) {
                continue;
            }
            List<Object> all = new ArrayList<>();
            all.add(x.getConfiguration());
            for (PluginExecution e : x.getExecutions()) {
                all.add(e.getConfiguration());
            }
            for (Object o : all) {
                if (!(o instanceof Xpp3Dom)) {
                    continue;
                }
                for (String k : new String[] {"source", "target", "release", "testSource", "testTarget", "testRelease"}) {
                    Xpp3Dom d = ((Xpp3Dom) o).getChild(k);
                    if (d != null && level(d.getValue()) > 0) {
                        source |= k.equals("source");
                        target |= k.equals("target");
                        wanted = Math.max(wanted, level(d.getValue()));
                        if (level(d.getValue()) < oldest) {
                            d.setValue("" + oldest);
                        }
                    }
                }
            }
        }
        // Also where only a release is named: compiler plugins before 3.6 do not know that word, and later ones prefer it.
        String level = "" + Math.max(wanted > 0 ? wanted : 8, oldest);
        if (!source) {
            props.setProperty("maven.compiler.source", level);
        }
        if (!target) {
            props.setProperty("maven.compiler.target", level);
        }
        if (wanted < 16) {
            for (Plugin x : p.getBuild().getPlugins()) {
                if (x.getArtifactId().equals("maven-surefire-plugin")) {
                    open(p, x);
                }
            }
        }
    }

    /** What old code could do to the JDK's own classes when it was written, it may do on a newer JDK. */
    private void open(MavenProject p, Plugin x) {
        boolean own = false;
        List<Xpp3Dom> all = new ArrayList<>();
        all.add(config(x));
        for (PluginExecution e : x.getExecutions()) {
            all.add(config(e));
        }
        for (Xpp3Dom d : all) {
            Xpp3Dom line = d.getChild("argLine");
            if (line != null && line.getValue() != null) {
                line.setValue(OPENS + " " + line.getValue());
                own = true;
            }
        }
        String given = p.getProperties().getProperty("argLine", "");
        p.getProperties().setProperty("argLine", own ? given : (OPENS + " " + given).trim());
    }

    static int level(String s) {
        if (s == null) {
            return 0;
        }
        s = s.trim();
        if (s.startsWith("1.")) {
            s = s.substring(2);
        }
        try {
            return Integer.parseInt(s);
        } catch (NumberFormatException e) {
            return 0;
        }
    }

    private void surefire(MavenProject p, Plugin x, int n) {
        String dir = System.getProperty("sluice.reports") + "/" + n;
        quiet(config(x), dir);
        int i = 0;
        for (PluginExecution e : x.getExecutions()) {
            quiet(config(e), dir + "." + i++);
        }
        if (!p.getProperties().containsKey("argLine")) {
            p.getProperties().setProperty("argLine", "");
        }
    }

    private void quiet(Xpp3Dom d, String dir) {
        for (String k : new String[] {"statelessTestsetReporter", "reportNameSuffix", "reportFormat", "parallel", "threadCount", "threadCountClasses",
            "threadCountMethods", "useUnlimitedThreads", "perCoreThreadCount", "disableXmlReport", "redirectTestOutputToFile"}) {
            for (int i = d.getChildCount() - 1; i >= 0; i--) {
                if (d.getChild(i).getName().equals(k)) {
                    d.removeChild(i);
                }
            }
        }
        put(d, "reportsDirectory", dir);
        put(d, "rerunFailingTestsCount", "0");
        put(d, "skipAfterFailureCount", "0");
        put(d, "testFailureIgnore", "false");
        put(d, "runOrder", "alphabetical");
        put(d, "trimStackTrace", "false");
        put(d, "failIfNoTests", "false");
        put(d, "failIfNoSpecifiedTests", "false");
    }

    private static Xpp3Dom config(org.apache.maven.model.ConfigurationContainer x) {
        if (!(x.getConfiguration() instanceof Xpp3Dom)) {
            x.setConfiguration(new Xpp3Dom("configuration"));
        }
        return (Xpp3Dom) x.getConfiguration();
    }

    private static void put(Xpp3Dom d, String name, String value) {
        Xpp3Dom c = d.getChild(name);
        if (c == null) {
            c = new Xpp3Dom(name);
            d.addChild(c);
        }
        c.setValue(value);
    }

    private static void stub(String dir, String name) {
        try {
            File folder = new File(dir, "sluicestub"); // some plugins refuse classes without a package
            Files.createDirectories(folder.toPath());
            Files.write(new File(folder, name + ".java").toPath(), ("package sluicestub;\n\npublic class " + name + " {}\n").getBytes("UTF-8"));
        } catch (java.io.IOException e) {
            System.out.println("[sluice] " + e);
        }
    }
}
