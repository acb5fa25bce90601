package sluice;

import java.io.File;
import org.apache.maven.eventspy.AbstractEventSpy;
import org.apache.maven.execution.ExecutionEvent;
import org.apache.maven.execution.MavenExecutionResult;
import org.apache.maven.plugin.MojoExecution;
import org.codehaus.plexus.util.xml.Xpp3Dom;

/** Writes how each goal and module ended. */
public class MavenEvents extends AbstractEventSpy {
    @Override
    public void onEvent(Object o) {
        if (o instanceof MavenExecutionResult) {
            StringBuilder words = new StringBuilder();
            for (Throwable t : ((MavenExecutionResult) o).getExceptions()) {
                words.append(Log.words(t)).append('\n');
            }
            Log.line("e", "end", "message", words.toString());
            return;
        }
        if (!(o instanceof ExecutionEvent)) {
            return;
        }
        ExecutionEvent e = (ExecutionEvent) o;
        switch (e.getType()) {
            case MojoStarted:
            case MojoSucceeded:
            case MojoFailed:
                goal(e);
                break;
            case ProjectFailed:
                Log.line("e", "failed", "dir", Log.dir(e.getProject()), "message", Log.words(e.getException()));
                break;
            default:
        }
    }

    private static void goal(ExecutionEvent e) {
        MojoExecution m = e.getMojoExecution();
        boolean tests = m.getArtifactId().equals("maven-surefire-plugin") && m.getGoal().equals("test");
        if (tests && e.getType() == ExecutionEvent.Type.MojoStarted) {
            Log.tested++;
            Log.classes(e.getProject());
        }
        String state = e.getType() == ExecutionEvent.Type.MojoStarted ? "start" : e.getType() == ExecutionEvent.Type.MojoSucceeded ? "ok" : "failed";
        // Configured by now: a report anywhere else is none of Surefire's.
        Xpp3Dom reports = tests && state.equals("start") && m.getConfiguration() != null ? m.getConfiguration().getChild("reportsDirectory") : null;
        Log.line("e", "goal", "reports", reports == null || reports.getValue() == null ? "" : new File(reports.getValue()).getName(), "dir", Log.dir(e.getProject()), "goal", m.getArtifactId() + ":" + m.getGoal(), "phase",
                m.getLifecyclePhase() == null ? "" : m.getLifecyclePhase(), "state", state, "message", Log.words(e.getException()));
    }
}
