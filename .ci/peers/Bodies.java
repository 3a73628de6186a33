import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.client.producer.SendStatus;
import org.apache.rocketmq.common.compression.CompressionType;
import org.apache.rocketmq.common.compression.CompressorFactory;
import org.apache.rocketmq.common.message.Message;

/**
 * Sends bodies that the stock producer compresses, each KIND:SIZE of a list by each of its compressors; key COMPRESSOR-KIND-SIZE,
 * property sha256. With files=DIR it writes what the compressors make of them instead, and prints the sum of each body.
 */
public class Bodies {
    static byte[] body(String kind, int size) {
        String[] words = {"the", "broker", "keeps", "a", "queue", "until", "its", "member", "commits", "an", "offset", "and", "asks", "again"};
        StringBuilder b = new StringBuilder();
        long x = 42;
        for (int i = 0; b.length() < size; i++) {
            x = (x * 1103515245L + 12345) & 0x7fffffff;
            switch (kind) {
                case "repeat": b.append("compress me "); break;
                case "json": b.append("{\"id\":").append(i).append(",\"customer\":\"c-").append(x % 1000).append("\",\"amount\":").append(x % 99991).append(",\"state\":\"paid\"}\n"); break;
                case "words": b.append(words[(int) ((x >> 8) % words.length)]).append(' '); break;
                case "noise": b.append((char) (x >> 16 & 0xff)); break;
                default: throw new IllegalArgumentException(kind);
            }
        }
        b.setLength(size);
        return b.toString().getBytes(StandardCharsets.ISO_8859_1);
    }

    public static void main(String[] a) throws Exception {
        if (a.length != 3) {
            System.err.println("Bodies NAMESRV|files=DIR TOPIC KIND:SIZE,...   KIND: repeat json words noise");
            System.exit(2);
        }
        int sent = 0;
        for (CompressionType type : CompressionType.values()) {
            System.setProperty("rocketmq.message.compressType", type.name());
            DefaultMQProducer p = null;
            if (!a[0].startsWith("files=")) {
                p = new DefaultMQProducer("bodies-" + type + "-" + ProcessHandle.current().pid());
                p.setNamesrvAddr(a[0]);
                p.setMqClientApiTimeout(30_000);
                p.setInstanceName(type.name());
                p.setCompressMsgBodyOverHowmuch(1);
                p.setMaxMessageSize(8 << 20);
                p.setSendMsgTimeout(20000);
                p.start();
            }
            try {
                for (String spec : a[2].split(",")) {
                    byte[] body = body(spec.split(":")[0], Integer.parseInt(spec.split(":")[1]));
                    String name = type.name().toLowerCase() + "-" + spec.replace(':', '-');
                    StringBuilder sum = new StringBuilder();
                    for (byte x : MessageDigest.getInstance("SHA-256").digest(body)) sum.append(String.format("%02x", x));
                    if (p == null) {
                        Files.write(Path.of(a[0].substring(6), name + ".bin"), CompressorFactory.getCompressor(type).compress(body, 5));
                        System.out.println(sum + "  " + name);
                        continue;
                    }
                    Message m = new Message(a[1], "", name, body);
                    m.putUserProperty("sha256", sum.toString());
                    if (p.send(m).getSendStatus() == SendStatus.SEND_OK) sent++;
                }
            } finally {
                if (p != null) p.shutdown(); // its threads would keep a failed run from ending
            }
        }
        if (sent > 0) System.out.println("{\"sent\":" + sent + "}");
        System.exit(0); // without the three seconds until the last thread of the network ends
    }
}
