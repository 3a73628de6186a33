package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"eyeq/remoting/protocol"
	"eyeq/tui/cli/config"
)

// The environment that gives credentials for whatever cluster is used.
const (
	accessKeyEnv = "EYEQ_ACCESS_KEY"
	secretKeyEnv = "EYEQ_SECRET_KEY"
)

const (
	secretCommandLimit = 30 * time.Second // it may ask for a touch or a PIN

	maxPrinted = 1 << 20 // by a command, before its output is closed
)

// signer makes what signs the target's requests; nil when it has no credentials.
func (e *env) signer(ctx context.Context, t *target) (*protocol.Signer, error) {
	a := &t.cluster.Auth
	hasSource := a.SecretKeyEnv+a.SecretKeyFile+a.SecretKeyCommand != ""
	switch {
	case t.accessKey == "" && !t.secretKey.IsSet() && !hasSource:
		return nil, nil
	case t.accessKey == "":
		return nil, usagef("%s is set, but there is no access key to go with it: set %s too", secretKeyEnv, accessKeyEnv)
	case !t.secretKey.IsSet() && !hasSource:
		return nil, usagef("%s is set, but there is no secret key to go with it: set %s too", accessKeyEnv, secretKeyEnv)
	}
	key := t.secretKey
	if !key.IsSet() {
		var err error
		if key, err = e.secretOf(ctx, a, t.folder); err != nil {
			return nil, fmt.Errorf("the secret key of cluster %s: %w", t.name, err)
		}
	}
	config.ConcealMemory()
	return protocol.NewSigner(t.accessKey, key.Text(), ""), nil
}

// secretOf gets the secret key from where the configuration says.
func (e *env) secretOf(ctx context.Context, a *config.Auth, folder string) (config.Secret, error) {
	switch {
	case a.SecretKeyEnv != "":
		s := config.NewSecret(strings.TrimSpace(e.getenv(a.SecretKeyEnv)))
		if !s.IsSet() {
			return s, fmt.Errorf("the environment variable %s (auth.secret_key_env) is not set", a.SecretKeyEnv)
		}
		return s, nil
	case a.SecretKeyFile != "":
		return config.SecretFromFile(config.InFolder(folder, a.SecretKeyFile))
	}
	return e.secretFromCommand(ctx, a.SecretKeyCommand)
}

// secretFromCommand runs a command of the configuration in a shell and takes what it
// prints. What it says on standard error is shown, without the secret.
func (e *env) secretFromCommand(parent context.Context, command string) (config.Secret, error) {
	ctx, cancel := context.WithTimeout(parent, secretCommandLimit)
	defer cancel()
	shell := shellCommand(command)
	cmd := exec.CommandContext(ctx, shell.Path, shell.Args[1:]...)
	out, said := &boundedBuffer{limit: config.MaxSecret + 1}, &boundedBuffer{limit: config.MaxSecret}
	cmd.Stdout, cmd.Stderr = out, said
	cmd.WaitDelay = outputWait
	if f, ok := terminalOf(e.stdin); ok {
		cmd.Stdin = f // it may ask for a passphrase, which only the terminal's own group can
	} else {
		cmd.SysProcAttr = shell.SysProcAttr // a group of its own, which ends as a whole
		cmd.Cancel = func() error { killGroup(cmd); return nil }
	}
	err := cmd.Run()
	s, bad := config.AsSecret(out.kept.Bytes())
	for line := range strings.Lines(said.kept.String()) {
		if line = strings.TrimSpace(s.Without(line)); line != "" {
			e.say("secret_key_command: %s", line)
		}
	}
	if parent.Err() != nil {
		return config.Secret{}, context.Cause(parent)
	}
	if ctx.Err() != nil {
		return config.Secret{}, fmt.Errorf("auth.secret_key_command took longer than %v and was killed", secretCommandLimit)
	}
	if out.n > maxPrinted || said.n > maxPrinted { // it may have ended by itself or because its output was closed
		return config.Secret{}, errors.New("auth.secret_key_command prints too much to be the command of a secret key")
	}
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return config.Secret{}, fmt.Errorf("auth.secret_key_command failed: %v", exit)
	}
	if err != nil {
		return config.Secret{}, fmt.Errorf("auth.secret_key_command: %w", err)
	}
	if bad != nil {
		return config.Secret{}, fmt.Errorf("what auth.secret_key_command prints %w", bad)
	}
	return s, nil
}

// boundedBuffer keeps the beginning of what is written to it. Beyond maxPrinted it
// refuses more, which closes the pipe to a command that prints without end.
// It does not embed its buffer, whose ReadFrom would take all.
type boundedBuffer struct {
	kept  bytes.Buffer
	limit int
	n     int // bytes written
}

var errPrintsTooMuch = errors.New("prints too much")

func (b *boundedBuffer) Write(p []byte) (int, error) {
	if left := b.limit - b.kept.Len(); left > 0 {
		b.kept.Write(p[:min(left, len(p))])
	}
	if b.n += len(p); b.n > maxPrinted {
		return 0, errPrintsTooMuch
	}
	return len(p), nil
}

// withoutSecrets leaves the variables out that hold our credentials: a command that
// eyeq runs has its own.
func (t *target) withoutSecrets(environ []string) []string {
	kept := make([]string, 0, len(environ))
	for _, v := range environ {
		name, _, _ := strings.Cut(v, "=")
		if name != secretKeyEnv && (name != t.cluster.Auth.SecretKeyEnv || name == "") {
			kept = append(kept, v)
		}
	}
	return kept
}
