// Command eyeq is a terminal inspector for Apache RocketMQ consumers.
package main

import (
	"os"

	"eyeq/tui/cli"
)

func main() { os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }
