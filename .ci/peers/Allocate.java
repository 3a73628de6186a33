import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Random;
import org.apache.rocketmq.client.consumer.AllocateMessageQueueStrategy;
import org.apache.rocketmq.client.consumer.rebalance.AllocateMachineRoomNearby;
import org.apache.rocketmq.client.consumer.rebalance.AllocateMessageQueueAveragely;
import org.apache.rocketmq.client.consumer.rebalance.AllocateMessageQueueAveragelyByCircle;
import org.apache.rocketmq.client.consumer.rebalance.AllocateMessageQueueByConfig;
import org.apache.rocketmq.client.consumer.rebalance.AllocateMessageQueueByMachineRoom;
import org.apache.rocketmq.client.consumer.rebalance.AllocateMessageQueueConsistentHash;
import org.apache.rocketmq.common.message.MessageQueue;

/**
 * Records what the Java client's allocation strategies give: CASES random sets of queues and members, one JSON line each,
 * the same for the same SEED. engine/core/testdata/README.md says what a line holds.
 */
public class Allocate {
    // Half of the names are what people use, half are there to break a parser or a sort order: the last two of
    // each list sort differently by UTF-16 code units than by bytes or code points.
    static final String[] BROKERS = {"broker-a", "broker-b", "broker-9", "broker-10", "Broker-a", "", "b b", "b,[0]", "br\u00f6ker",
        "\uff21-a", "\ud83d\ude00-a"};
    static final String[] ROOMED = {"room1@broker-a", "room1@broker-b", "room2@broker-a", "room2@broker-c", "room3@broker-a", "Room1@broker-a",
        "room10@broker-a", "A@broker", "\uff21@broker", "\ud83d\ude00@broker"};
    static final String[] ODD_ROOMS = {"@broker-a", "room1@", "room1@@", "@", "room1@broker@", "room1@a@b", "room1@@b"};
    static final String[] TOPICS = {"TopicTest", "orders", "%RETRY%audit", "t", "\u0442\u0435\u043c\u0430"};
    static final String[] HOSTS = {"10.0.0.9", "10.0.0.10", "192.168.0.1", "room1", "room2", "room9", "A", "\uff21", "\ud83d\ude00"};
    static final String[] NAMES = {"1@DEFAULT", "member", "room1-c0", "room2-c1", "\uff21-c", "\ud83d\ude00-c", "-", "c"};
    static final String[] ROOMS = {"room1", "room2", "room3", "room10", "Room1", "A", "\uff21", "\ud83d\ude00", "", "broker-a"};

    static Random rnd;

    public static void main(String[] a) throws Exception {
        if (a.length != 2) {
            System.err.println("Allocate SEED CASES");
            System.exit(2);
        }
        rnd = new Random(Long.parseLong(a[0]));
        StringBuilder out = new StringBuilder();
        for (int i = 0; i < Integer.parseInt(a[1]); i++) record(out, i);
        System.out.print(out);
        System.out.flush();
    }

    static void record(StringBuilder out, int number) {
        String topic = pick(TOPICS);
        List<MessageQueue> queues = queues(number, topic);
        List<String> members = members(number);
        boolean sort = rnd.nextInt(10) < 7;
        out.append("{\"topic\":").append(text(topic)).append(",\"queues\":").append(list(queues));
        out.append(",\"members\":").append(texts(members)).append(",\"sort\":").append(sort);
        if (sort) { // as RebalanceImpl does before it asks a strategy
            Collections.sort(queues);
            Collections.sort(members);
        }
        List<String> rooms = new ArrayList<>();
        for (String r : ROOMS) if (rnd.nextInt(3) > 0) rooms.add(r);
        List<MessageQueue> configured = new ArrayList<>();
        for (MessageQueue q : queues) if (rnd.nextInt(3) == 0) configured.add(q);
        Collections.shuffle(configured, rnd);
        out.append(",\"rooms\":").append(texts(rooms)).append(",\"configured\":").append(list(configured));

        AllocateMessageQueueByConfig config = new AllocateMessageQueueByConfig();
        config.setMessageQueueList(configured);
        AllocateMessageQueueByMachineRoom room = new AllocateMessageQueueByMachineRoom();
        room.setConsumeridcs(new LinkedHashSet<>(rooms));
        AllocateMessageQueueStrategy average = new AllocateMessageQueueAveragely(), circle = new AllocateMessageQueueAveragelyByCircle();
        AllocateMessageQueueStrategy[] plain = {average, circle, config, room, nearby(average), nearby(circle), nearby(config), nearby(room),
            nearby(new AllocateMessageQueueConsistentHash())};
        out.append(",\"gives\":{");
        for (AllocateMessageQueueStrategy s : plain) askAll(out, s, "", queues, members);
        for (int nodes : new int[] {0, 1, 10}) askAll(out, new AllocateMessageQueueConsistentHash(nodes), "/" + nodes, queues, members);
        // A hash of few values: nodes hide each other, and negative ones come first on the ring.
        askAll(out, new AllocateMessageQueueConsistentHash(3, key -> key.length() * 7 % 23 - 9), "/3/length", queues, members);
        out.setLength(out.length() - 1);
        out.append("}}\n");
    }

    static void askAll(StringBuilder out, AllocateMessageQueueStrategy strategy, String more, List<MessageQueue> queues, List<String> members) {
        out.append(text(strategy.getName() + more)).append(":\"");
        for (String who : askers(members)) out.append(ask(strategy, who, queues, members)).append('|');
        out.setLength(out.length() - 1);
        out.append("\",");
    }

    /** Who is asked for: each member once, one that is none of them, and one without a name. */
    static List<String> askers(List<String> members) {
        List<String> all = new ArrayList<>(new LinkedHashSet<>(members));
        all.add("stranger");
        all.add("");
        return all;
    }

    /** Positions in the list of queues, runs as from-to; "!" and the exception's name where the strategy throws. */
    static String ask(AllocateMessageQueueStrategy strategy, String who, List<MessageQueue> queues, List<String> members) {
        List<MessageQueue> got;
        try {
            got = strategy.allocate("audit", who, new ArrayList<>(queues), new ArrayList<>(members));
        } catch (IllegalArgumentException e) {
            return "!";
        } catch (RuntimeException e) {
            return "!" + e.getClass().getSimpleName();
        }
        if (got == null) return "null";
        StringBuilder b = new StringBuilder();
        for (int i = 0; i < got.size();) {
            int from = queues.indexOf(got.get(i)), n = 1;
            while (i + n < got.size() && queues.indexOf(got.get(i + n)) == from + n) n++;
            if (b.length() > 0) b.append(',');
            b.append(from);
            if (n > 1) b.append('-').append(from + n - 1);
            i += n;
        }
        return b.toString();
    }

    static AllocateMessageQueueStrategy nearby(AllocateMessageQueueStrategy inner) {
        return new AllocateMachineRoomNearby(inner, new AllocateMachineRoomNearby.MachineRoomResolver() {
            public String brokerDeployIn(MessageQueue q) {
                return before(q.getBrokerName(), '@');
            }

            public String consumerDeployIn(String clientID) {
                String room = before(clientID, '@');
                return clientID.indexOf('@') >= 0 ? room : before(clientID, '-');
            }
        });
    }

    static String before(String s, char c) {
        int at = s.indexOf(c);
        return at < 0 ? null : s.substring(0, at);
    }

    static List<MessageQueue> queues(int number, String topic) {
        String[][] pools = {BROKERS, ROOMED, ROOMED, rnd.nextBoolean() ? ODD_ROOMS : BROKERS};
        String[] pool = pools[number % 4];
        List<MessageQueue> all = new ArrayList<>();
        if (rnd.nextInt(20) == 0) return all;
        int brokers = 1 + rnd.nextInt(4);
        for (int b = 0; b < brokers; b++) {
            String name = pick(pool);
            int n = rnd.nextInt(5) == 0 ? 1 + rnd.nextInt(24) : 1 + rnd.nextInt(8);
            for (int id = 0; id < n; id++) {
                MessageQueue q = new MessageQueue(topic, name, rnd.nextInt(100) == 0 ? Integer.MAX_VALUE : id);
                if (!all.contains(q)) all.add(q);
            }
        }
        if (rnd.nextInt(12) == 0) { // a list of several topics, as only CONFIG's may be
            for (int id = 0; id < 3; id++) all.add(new MessageQueue(topic + "2", pick(pool), id + 8 * all.size()));
        }
        if (rnd.nextBoolean()) Collections.shuffle(all, rnd);
        return all;
    }

    static List<String> members(int number) {
        List<String> all = new ArrayList<>();
        if (rnd.nextInt(20) == 0) return all;
        int n = 1 + rnd.nextInt(rnd.nextInt(4) == 0 ? 14 : 5);
        for (int i = 0; i < n; i++) {
            String id = rnd.nextInt(6) == 0 ? pick(NAMES) : pick(HOSTS) + "@" + rnd.nextInt(30) + "#" + rnd.nextInt(1000000);
            boolean twice = rnd.nextInt(25) == 0; // two processes of one client id: a broker names it twice
            if (twice || !all.contains(id)) all.add(id);
            if (twice) all.add(rnd.nextInt(all.size() + 1), id);
        }
        Collections.shuffle(all, rnd);
        return all;
    }

    static String pick(String[] of) {
        return of[rnd.nextInt(of.length)];
    }

    /** Queues as texts BROKER:ID, or TOPIC=BROKER:ID where the topic is another than the first one's. */
    static String list(List<MessageQueue> queues) {
        List<String> all = new ArrayList<>();
        for (MessageQueue q : queues) all.add((q.getTopic().endsWith("2") ? q.getTopic() + "=" : "") + q.getBrokerName() + ":" + q.getQueueId());
        return texts(all);
    }

    static String texts(List<String> all) {
        StringBuilder b = new StringBuilder("[");
        for (String s : all) b.append(b.length() > 1 ? "," : "").append(text(s));
        return b.append(']').toString();
    }

    static String text(String s) {
        StringBuilder b = new StringBuilder("\"");
        for (char c : s.toCharArray()) {
            if (c == '"' || c == '\\') b.append('\\').append(c);
            else if (c < ' ' || c > '~') b.append(String.format("\\u%04x", (int) c));
            else b.append(c);
        }
        return b.append('"').toString();
    }
}
