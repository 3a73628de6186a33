import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.LinkedList;
import java.util.Random;
import org.apache.rocketmq.common.stats.StatsItem;
import org.apache.rocketmq.common.stats.StatsSnapshot;

/**
 * Records what the Java client's statistics say: CASES random histories of one statistic, one JSON line each, the same for
 * the same SEED. engine/core/testdata/stats.md says what a line holds.
 */
public class Stats {
    static final String[] SAMPLING = {"samplingInSeconds", "samplingInMinutes", "samplingInHour"};
    static final String[] LISTS = {"csListMinute", "csListHour", "csListDay"};
    static final long[] PERIODS = {10_000, 600_000, 3_600_000};

    static StatsItem item; // the client makes it when the first value is counted
    static StringBuilder out;

    public static void main(String[] a) throws Exception {
        if (a.length != 2) {
            System.err.println("Stats SEED CASES");
            System.exit(2);
        }
        Random rnd = new Random(Long.parseLong(a[0]));
        int cases = Integer.parseInt(a[1]);
        for (int i = 0; i < cases; i++) {
            item = null;
            out = new StringBuilder("[");
            history(rnd, 1_700_000_000_000L + rnd.nextInt(1_000_000_000), 6 + rnd.nextInt(34), i % 4 - 1);
            System.out.println(out.append("]"));
        }
    }

    /** Values are counted between samples of one span, or (only < 0) of all; samples come on time, late, or early after a late one. */
    static void history(Random rnd, long at, int steps, int only) throws Exception {
        int busy = rnd.nextInt(5), jitter = rnd.nextInt(3);
        for (int i = 0; i < steps; i++) {
            if (rnd.nextInt(5) <= busy) add(at, rnd.nextInt(4) == 0 ? 0 : rnd.nextInt(5000), 1 + rnd.nextInt(40));
            int span = only >= 0 ? only : rnd.nextInt(10) < 6 ? 0 : 1 + rnd.nextInt(2);
            long step = PERIODS[span];
            if (jitter == 1) step += rnd.nextInt(2001) - 1000;
            if (jitter == 2 && rnd.nextInt(4) == 0) step += rnd.nextInt(60_000);
            at += step;
            sample(at, span);
        }
    }

    static void add(long at, int value, int times) throws Exception {
        if (item == null) {
            Constructor<?> c = StatsItem.class.getConstructors()[0];
            item = (StatsItem) c.newInstance("NAME", "topic@group", null, null);
        }
        sum("value", value);
        sum("times", times);
        line(at).append(",\"value\":").append(value).append(",\"times\":").append(times).append("}");
    }

    /** The sums are LongAdders or AtomicLongs, by version. */
    static void sum(String name, long by) throws Exception {
        Object sum = field(StatsItem.class, name).get(item);
        for (String method : new String[] {"add", "addAndGet"}) {
            for (Method m : sum.getClass().getMethods()) {
                if (!m.getName().equals(method) || m.getParameterCount() != 1) continue;
                m.invoke(sum, by);
                return;
            }
        }
        throw new IllegalStateException(sum.getClass().getName());
    }

    /** Samples now, and dates what was sampled as if now were AT: the first sample's predecessor keeps its distance. */
    static void sample(long at, int span) throws Exception {
        if (item != null) {
            LinkedList<?> list = (LinkedList<?>) field(StatsItem.class, LISTS[span]).get(item);
            boolean first = list.isEmpty();
            StatsItem.class.getMethod(SAMPLING[span]).invoke(item);
            Object newest = list.getLast();
            Field timestamp = field(newest.getClass(), "timestamp");
            if (first) { // the clock is read twice, so it may tick in between
                long distance = timestamp.getLong(newest) - timestamp.getLong(list.getFirst());
                timestamp.setLong(list.getFirst(), at - Math.round(distance / 1000.0) * 1000);
            }
            timestamp.setLong(newest, at);
        }
        line(at).append(",\"sample\":").append(span).append(",\"says\":[");
        StatsSnapshot[] says = item == null ? new StatsSnapshot[3]
            : new StatsSnapshot[] {item.getStatsDataInMinute(), item.getStatsDataInHour(), item.getStatsDataInDay()};
        for (int i = 0; i < says.length; i++) {
            StatsSnapshot s = says[i] == null ? new StatsSnapshot() : says[i];
            out.append(i > 0 ? ",[" : "[").append(s.getSum()).append(',').append(s.getTps()).append(',').append(s.getAvgpt()).append(']');
        }
        out.append("]}");
    }

    static StringBuilder line(long at) {
        return out.append(out.length() > 1 ? "," : "").append("{\"at\":").append(at);
    }

    static Field field(Class<?> of, String name) throws Exception {
        Field f = of.getDeclaredField(name);
        f.setAccessible(true);
        return f;
    }
}
