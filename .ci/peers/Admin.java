import org.apache.rocketmq.tools.command.MQAdminStartup;

/**
 * The stock mqadmin, which ends when its command has done its work: by itself it stays up to three seconds longer, asleep
 * until the last thread of its network client wakes up. That is too long for a test that calls it often.
 */
public class Admin {
    public static void main(String[] args) {
        Thread command = Thread.currentThread();
        Thread watch = new Thread(() -> {
            while (!leaving(command.getStackTrace())) {
                try {
                    Thread.sleep(20);
                } catch (InterruptedException e) {
                    return;
                }
            }
            end();
        });
        watch.setDaemon(true);
        watch.start();
        MQAdminStartup.main(args);
        end();
    }

    /** Every command shuts its admin client down in a finally block; closing the network is the last step of that. */
    static boolean leaving(StackTraceElement[] stack) {
        boolean network = false, admin = false;
        for (StackTraceElement e : stack) {
            if (!e.getMethodName().equals("shutdown")) continue;
            network |= e.getClassName().endsWith(".NettyRemotingClient");
            admin |= e.getClassName().endsWith(".DefaultMQAdminExt");
        }
        return network && admin;
    }

    static void end() {
        System.out.flush();
        System.err.flush();
        Runtime.getRuntime().halt(0);
    }
}
