package answer

import (
	"flag"
	"io"

	"k8s.io/klog/v2"
)

// Silence keeps the server's log messages from standard error, of this whole process: the answers say what there is to say.
func Silence() {
	flags := flag.NewFlagSet("", flag.ContinueOnError)
	klog.InitFlags(flags)
	_ = flags.Set("logtostderr", "false")
	_ = flags.Set("alsologtostderr", "false")
	_ = flags.Set("stderrthreshold", "FATAL")
	klog.SetOutput(io.Discard)
}
