package cli

import (
	"context"
	"fmt"
	"net"
	"strconv"

	"github.com/spf13/cobra"

	"eyeq/remoting/sandbox"
)

// sandboxTopic is there from the beginning, for what does not make its topics.
const sandboxTopic = "orders"

func newSandbox(e *env) *cobra.Command {
	var namesrvPort, brokerPort int
	var host string
	cmd := &cobra.Command{
		Use:   "sandbox",
		Short: "Serve an embedded name server and broker for any client",
		Long: `Serves a name server and a broker from memory until ctrl-c. It imitates RocketMQ well enough
to try clients against. There is a topic "orders" of 8 queues; others are made as on a
broker with autoCreateTopicEnable, by a producer that sends to a topic without a route after
the broker's template TBW102. RocketMQ's own producers do; 'eyeq send' does not, nor does a
consumer. SQL92 filters are refused, as by a broker without enablePropertyFilter. Nothing is kept.`,
		Args: noArgs,
	}
	cmd.Flags().IntVar(&namesrvPort, "namesrv-port", 9876, "the name server's port; 0 chooses one")
	cmd.Flags().IntVar(&brokerPort, "broker-port", 10911, "the broker's port; 0 chooses one")
	cmd.Flags().StringVar(&host, "host", "127.0.0.1", "the address to listen on and to announce")
	cmd.RunE = e.cobraRun(func(ctx context.Context, e *env, _ []string) error {
		for name, port := range map[string]int{"namesrv-port": namesrvPort, "broker-port": brokerPort} {
			if port < 0 || port > 65535 {
				return usagef("--%s %d: must be 0 to 65535", name, port)
			}
		}
		sb, err := sandbox.Start(ctx, sandbox.Options{AutoCreateTopics: true, Topics: map[string]int32{sandboxTopic: 8}})
		if err != nil {
			return fmt.Errorf("start the sandbox: %w", err)
		}
		defer sb.Close()
		namesrv, broker, err := sb.ListenTCP(net.JoinHostPort(host, strconv.Itoa(namesrvPort)), net.JoinHostPort(host, strconv.Itoa(brokerPort)))
		if err != nil {
			return fmt.Errorf("serve the sandbox: %v (--namesrv-port and --broker-port choose others, 0 any)", err)
		}
		if _, err := fmt.Fprintf(e.stdout, "name server %s\nbroker %s\n", namesrv, broker); err != nil {
			return &outputError{Err: err}
		}
		e.say("try: eyeq --namesrv %s send %s hello, and: eyeq --namesrv %s consume -g G -t %s --from first (ctrl-c ends)",
			namesrv, sandboxTopic, namesrv, sandboxTopic)
		<-ctx.Done()
		return nil
	})
	return cmd
}
