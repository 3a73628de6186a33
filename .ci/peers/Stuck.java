import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.ConsumeOrderlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.client.consumer.listener.MessageListenerOrderly;
import org.apache.rocketmq.common.consumer.ConsumeFromWhere;
import org.apache.rocketmq.common.message.MessageExt;

/**
 * A stock Java member whose listener never returns for the message with the key KEY (all messages with "*"), or fails it for ever with
 * "fail:KEY". Prints {"started":true}, {"stuck":OFFSET} and {"consumed":N} at every thousandth message; runs until it is killed.
 */
public class Stuck {
    public static void main(String[] a) throws Exception {
        if (a.length < 5) {
            System.err.println("Stuck NAMESRV GROUP TOPIC concurrent|orderly KEY|fail:KEY [instance]");
            System.exit(2);
        }
        boolean fails = a[4].startsWith("fail:");
        String key = fails ? a[4].substring(5) : a[4];
        AtomicLong seen = new AtomicLong();
        DefaultMQPushConsumer c = new DefaultMQPushConsumer(a[1]);
        c.setNamesrvAddr(a[0]);
        c.setMqClientApiTimeout(30_000); // 3 s by default, and a start that waits longer for its route fails
        if (a.length > 5) c.setInstanceName(a[5]);
        c.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET);
        c.subscribe(a[2], "*");
        if (a[3].equals("orderly")) {
            c.registerMessageListener((MessageListenerOrderly) (msgs, ctx) ->
                handle(msgs.get(0), key, fails, seen) ? ConsumeOrderlyStatus.SUCCESS : ConsumeOrderlyStatus.SUSPEND_CURRENT_QUEUE_A_MOMENT);
        } else {
            c.registerMessageListener((MessageListenerConcurrently) (msgs, ctx) ->
                handle(msgs.get(0), key, fails, seen) ? ConsumeConcurrentlyStatus.CONSUME_SUCCESS : ConsumeConcurrentlyStatus.RECONSUME_LATER);
        }
        c.start();
        System.out.println("{\"started\":true}");
        new CountDownLatch(1).await();
    }

    static boolean handle(MessageExt m, String key, boolean fails, AtomicLong seen) {
        if (key.equals("*") || key.equals(m.getKeys())) {
            System.out.println("{\"stuck\":" + m.getQueueOffset() + "}");
            if (fails) return false;
            try {
                new CountDownLatch(1).await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
        long n = seen.incrementAndGet();
        if (n % 1000 == 0) System.out.println("{\"consumed\":" + n + "}");
        return true;
    }
}
