// SPDX-License-Identifier: LGPL-2.1-or-later

// Feeds the schedule latency of each pod into a metric cache, as a node agent such as koordlet does.
// A collector with an interval and a stop channel appends samples. Other parts of the agent query the samples.
package main

/*
#cgo LDFLAGS: -lsubtick
#include <stdlib.h>
#include <subtick/runq.h>
*/
import "C"

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"sync"
	"syscall"
	"time"
	"unsafe"
)

// PodLatency is one sample: the time that all tasks of a pod waited for a core in one measurement window.
type PodLatency struct {
	Time      time.Time `json:"time"`
	UID       string    `json:"pod_uid"`
	Namespace string    `json:"namespace,omitempty"`
	Pod       string    `json:"pod,omitempty"`
	QoS       string    `json:"qos,omitempty"`
	Count     uint64    `json:"count"`
	SumNs     uint64    `json:"sum_ns"`
	AvgNs     float64   `json:"avg_ns"`
	P99Ns     float64   `json:"p99_ns"`
	// Time spent waiting behind tasks of other pods and kernel threads.
	OtherNs uint64 `json:"other_ns"`
}

// MetricCache stores samples, like the metric cache of koordlet.
type MetricCache struct {
	mutex  sync.Mutex
	latest map[string]PodLatency
}

// Append stores a sample and replaces the latest sample of the pod.
func (c *MetricCache) Append(sample PodLatency) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.latest[sample.UID] = sample
}

// Drain returns and removes the latest sample of each pod.
func (c *MetricCache) Drain() map[string]PodLatency {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	samples := c.latest
	c.latest = map[string]PodLatency{}
	return samples
}

// Collector owns a context of libsubtick. Only one goroutine may call its methods.
type Collector struct {
	context *C.struct_subtick
	cache   *MetricCache
}

// failed reads libsubtick's error of the current thread. The caller must have locked its goroutine to the thread.
func failed(what string, code C.int) error {
	return fmt.Errorf("%s: %w: %s", what, syscall.Errno(-code), C.GoString(C.subtick_error()))
}

// NewCollector attaches the BPF programs. They measure waits per pod, split by cause.
func NewCollector(cache *MetricCache) (*Collector, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	c := &Collector{cache: cache}
	opts := C.struct_subtick_runq_opts{
		per:   C.SUBTICK_PER_POD,
		flags: C.SUBTICK_RUNQ_CAUSES,
	}
	opts.size = C.uint32_t(unsafe.Sizeof(opts))
	if code := C.subtick_runq_open(&c.context, &opts); code != 0 {
		return nil, failed("open", code)
	}
	return c, nil
}

// Close detaches the BPF programs.
func (c *Collector) Close() {
	C.subtick_close(c.context)
}

// row is one row of the list of groups. A row is valid until the next read.
type row struct {
	window *C.struct_subtick_window
	index  C.size_t
}

func (r row) text(key C.enum_subtick_key) string {
	text := C.subtick_text(r.window, C.SUBTICK_GROUPS, r.index, key)
	if text == nil {
		return ""
	}
	return C.GoString(text)
}

// number returns a figure, or 0 if the figure is unavailable, such as the average of a pod without waits.
func (r row) number(key C.enum_subtick_key) float64 {
	var value C.double
	C.subtick_double(r.window, C.SUBTICK_GROUPS, r.index, key, &value)
	return float64(value)
}

func (r row) integer(key C.enum_subtick_key) uint64 {
	var value C.uint64_t
	C.subtick_u64(r.window, C.SUBTICK_GROUPS, r.index, key, &value)
	return uint64(value)
}

// Collect ends a measurement window and appends a sample per pod. Cgroups outside pods are left out.
func (c *Collector) Collect() error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var window *C.struct_subtick_window
	if code := C.subtick_read(c.context, &window); code != 0 {
		return failed("read", code)
	}
	for i := C.size_t(0); i < C.subtick_rows(window, C.SUBTICK_GROUPS); i++ {
		r := row{window, i}
		sample := PodLatency{
			Time: time.Now(), UID: r.text(C.SUBTICK_POD_UID), Namespace: r.text(C.SUBTICK_NAMESPACE),
			Pod: r.text(C.SUBTICK_POD), QoS: r.text(C.SUBTICK_QOS), Count: r.integer(C.SUBTICK_COUNT),
			SumNs: r.integer(C.SUBTICK_SUM_NS), AvgNs: r.number(C.SUBTICK_AVG_NS),
			OtherNs: r.integer(C.SUBTICK_OTHER_GROUP_NS) + r.integer(C.SUBTICK_KERNEL_THREAD_NS),
		}
		var p99 C.double
		if C.subtick_percentile(window, C.SUBTICK_GROUPS, i, 99, &p99) == 0 {
			sample.P99Ns = float64(p99)
		}
		if sample.UID != "" {
			c.cache.Append(sample)
		}
	}
	return nil
}

// Run collects samples until stop is closed.
func (c *Collector) Run(interval time.Duration, stop <-chan struct{}) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-stop:
			return
		case <-ticker.C:
			if err := c.Collect(); err != nil {
				fmt.Fprintln(os.Stderr, "agent:", err)
			}
		}
	}
}

func main() {
	interval := flag.Duration("interval", time.Second, "length of a window")
	windows := flag.Int("windows", 0, "windows to print; 0: until SIGINT")
	flag.Parse()
	cache := &MetricCache{latest: map[string]PodLatency{}}
	collector, err := NewCollector(cache)
	if err != nil {
		fmt.Fprintln(os.Stderr, "agent:", err)
		os.Exit(1)
	}
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		collector.Run(*interval, stop)
		close(done)
	}()
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	output := json.NewEncoder(os.Stdout)
	for i, running := 0, true; running && (*windows == 0 || i < *windows); i++ {
		select {
		case <-signals:
			running = false
		case <-time.After(*interval):
			for _, sample := range cache.Drain() {
				if err := output.Encode(sample); err != nil {
					fmt.Fprintln(os.Stderr, "agent:", err)
				}
			}
		}
	}
	close(stop)
	<-done
	collector.Close()
}
