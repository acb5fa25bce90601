package sluice;

import java.io.DataInputStream;
import java.io.File;
import java.io.FileInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.Arrays;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

/** Finds sources of tests, and of compiled classes the file that the compiler says they are from. It asks no build tool. */
public class Sources {
    private static final int DEEP = 64;

    public static void each(File root, Consumer<File> found) {
        walk(root, 0, f -> {
            if (f.getName().matches(".*\\.(java|kt|groovy|scala)")) {
                found.accept(f);
            }
        });
    }

    private static void walk(File dir, int depth, Consumer<File> found) {
        File[] list = dir.listFiles();
        if (list == null || depth > DEEP) {
            return;
        }
        Arrays.sort(list);
        for (File f : list) {
            if (Files.isSymbolicLink(f.toPath())) {
                continue;
            }
            if (f.isDirectory()) {
                walk(f, depth + 1, found);
            } else {
                found.accept(f);
            }
        }
    }

    /** The package that a source declares, "" if none is seen in its first lines. */
    public static String packageOf(File f) {
        try (java.io.BufferedReader r = new java.io.BufferedReader(new java.io.InputStreamReader(new FileInputStream(f), StandardCharsets.UTF_8))) {
            String line;
            for (int i = 0; i < 200 && (line = r.readLine()) != null; i++) {
                java.util.regex.Matcher m = java.util.regex.Pattern.compile("^\\s*package\\s+([\\w.`$]+)").matcher(line);
                if (m.find()) {
                    return m.group(1).replace("`", "");
                }
            }
        } catch (IOException e) {
            return "";
        }
        return "";
    }

    /** Gives each outer class below a folder with the base name of its source. */
    public static void compiled(File root, BiConsumer<String, String> found) {
        walk(root, 0, f -> {
            String name = root.toPath().relativize(f.toPath()).toString();
            if (!name.endsWith(".class") || name.indexOf('$') >= 0) {
                return;
            }
            try (DataInputStream in = new DataInputStream(new java.io.BufferedInputStream(new FileInputStream(f)))) {
                String file = sourceFile(in);
                if (file != null) {
                    found.accept(name.substring(0, name.length() - 6).replace('/', '.'), file);
                }
            } catch (IOException | RuntimeException e) {
                // No class: it has no source either.
            }
        });
    }

    /** The attribute SourceFile of a class file (JVM specification, chapter 4). */
    private static String sourceFile(DataInputStream in) throws IOException {
        if (in.readInt() != 0xCAFEBABE) {
            return null;
        }
        in.readInt();
        String[] words = new String[in.readUnsignedShort()];
        for (int i = 1; i < words.length; i++) {
            int tag = in.readUnsignedByte();
            switch (tag) {
                case 1: words[i] = in.readUTF(); break;
                case 3: case 4: case 9: case 10: case 11: case 12: case 17: case 18: in.readInt(); break;
                case 5: case 6: in.readLong(); i++; break;
                case 7: case 8: case 16: case 19: case 20: in.readUnsignedShort(); break;
                case 15: in.readUnsignedByte(); in.readUnsignedShort(); break;
                default: return null;
            }
        }
        in.readUnsignedShort();
        in.readUnsignedShort();
        in.readUnsignedShort();
        for (int n = in.readUnsignedShort(); n > 0; n--) {
            in.readUnsignedShort();
        }
        for (int kind = 0; kind < 2; kind++) { // fields, methods
            for (int n = in.readUnsignedShort(); n > 0; n--) {
                in.readUnsignedShort();
                in.readUnsignedShort();
                in.readUnsignedShort();
                attributes(in, words);
            }
        }
        return attributes(in, words);
    }

    private static String attributes(DataInputStream in, String[] words) throws IOException {
        String file = null;
        for (int n = in.readUnsignedShort(); n > 0; n--) {
            String name = words[in.readUnsignedShort()];
            int length = in.readInt();
            if ("SourceFile".equals(name) && length == 2) {
                file = words[in.readUnsignedShort()];
                continue;
            }
            for (int left = length; left > 0; ) {
                int k = in.skipBytes(left);
                if (k <= 0) {
                    throw new IOException("the class ends early");
                }
                left -= k;
            }
        }
        return file;
    }

    /** One line of JSON of names and values that are strings. */
    public static String json(String... pairs) {
        StringBuilder b = new StringBuilder("{");
        for (int i = 0; i + 1 < pairs.length; i += 2) {
            b.append(i == 0 ? "" : ",");
            quote(b, pairs[i]);
            b.append(':');
            quote(b, pairs[i + 1] == null ? "" : pairs[i + 1]);
        }
        return b.append("}\n").toString();
    }

    private static void quote(StringBuilder b, String s) {
        b.append('"');
        for (char c : s.toCharArray()) {
            if (c == '"' || c == '\\') {
                b.append('\\').append(c);
            } else if (c < 0x20 || Character.isSurrogate(c) || c == 0x2028 || c == 0x2029) {
                b.append(String.format("\\u%04x", (int) c));
            } else {
                b.append(c);
            }
        }
        b.append('"');
    }
}
