package cli

import (
	"eyeq/tui/cli/config"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestSecretIsInNoCoreNorProcessList runs the real program with a secret key, looks at
// its arguments and ends it as a crash does: the stacks that it prints have no
// secret, and there is no core. Without a key there is one, so cores are made here.
func TestSecretIsInNoCoreNorProcessList(t *testing.T) {
	t.Parallel()
	program := theProgram(t)
	ns := accessSandbox(t, "5")
	_, open := serveSandbox(t)
	if core, _ := crash(t, program, "broker", "list", "--watch", "--namesrv", open); len(core) == 0 {
		t.Skip("the system writes no cores into the folder of a program")
	}
	keyFile := filepath.Join(t.TempDir(), "key")
	must(t, os.WriteFile(keyFile, []byte(theSecret), 0o600))
	path := clusterFile(t, ns, "auth = { access_key = \"ops\", secret_key_file = "+config.QuoteTOML(keyFile)+" }")
	core, said := crash(t, program, "broker", "list", "--watch", "--config", path, "--cluster", "prod")
	if len(core) > 0 {
		t.Errorf("a program with a secret key left a core: %v", core)
	}
	if strings.Contains(said, theSecret) || !strings.Contains(said, "goroutine ") {
		t.Errorf("its last words: %s", said)
	}
}

// crash runs a program until it has printed something, and then has it dump its stacks
// and abort. It gives the cores it left and all that it said.
func crash(t *testing.T, program string, args ...string) (cores []string, said string) {
	t.Helper()
	dir := t.TempDir()
	cmd := exec.Command(program, args...)
	out := newBuffer()
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, out, out
	cmd.Env = []string{"GOTRACEBACK=crash", "HOME=" + dir, "PATH=" + os.Getenv("PATH"), "XDG_STATE_HOME=" + dir}
	must(t, cmd.Start())
	t.Cleanup(func() { cmd.Process.Kill() })
	limit := unix.Rlimit{Cur: unix.RLIM_INFINITY, Max: unix.RLIM_INFINITY}
	if err := unix.Prlimit(cmd.Process.Pid, unix.RLIMIT_CORE, &limit, nil); err != nil {
		t.Skipf("cores cannot be allowed: %v", err)
	}
	out.await(t, "broker-a")
	line, err := os.ReadFile("/proc/" + strconv.Itoa(cmd.Process.Pid) + "/cmdline")
	if err != nil || strings.Contains(string(line), theSecret) || !strings.Contains(string(line), "broker") {
		t.Errorf("its arguments are %q, %v", line, err)
	}
	must(t, cmd.Process.Signal(syscall.SIGQUIT))
	ended := make(chan struct{})
	go func() { defer close(ended); cmd.Wait() }()
	select {
	case <-ended:
	case <-time.After(patience):
		t.Fatalf("it has not ended: %s", out)
	}
	cores, err = filepath.Glob(filepath.Join(dir, "core*"))
	if err != nil {
		t.Fatal(err)
	}
	return cores, out.String()
}
