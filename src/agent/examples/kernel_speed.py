"""The same measurements as kernel_speed.rs with raw jupyter_client: run with a Python that has ipykernel."""

import queue
import statistics
import sys
import time

from jupyter_client.manager import KernelManager

FLOOD = "for i in range(200_000): print('line', i)"
FLUSHED = "for i in range(20_000): print('line', i, flush=True)"


def run(client, source):
    """Seconds until both the reply and idle have come."""
    start = time.perf_counter()
    msg_id = client.execute(source)
    while True:
        message = client.get_iopub_msg(timeout=60)
        if message["parent_header"].get("msg_id") != msg_id:
            continue
        if message["msg_type"] == "status" and message["content"]["execution_state"] == "idle":
            break
    while client.get_shell_msg(timeout=60)["parent_header"].get("msg_id") != msg_id:
        pass
    return time.perf_counter() - start


def main():
    manager = KernelManager(transport=sys.argv[1] if len(sys.argv) > 1 else "ipc")
    manager.start_kernel()
    client = manager.client()
    client.start_channels()
    client.wait_for_ready()
    trips = sorted(run(client, "1+1") for _ in range(200))
    print(f"1+1: median {statistics.median(trips) * 1000:.2f} ms, p99 {trips[198] * 1000:.2f} ms")
    for _ in range(3):
        print(f"200000 lines: {run(client, FLOOD):.3f} s")
    try:
        print(f"20000 flushed lines: {run(client, FLUSHED):.3f} s")
    except queue.Empty:
        print("20000 flushed lines: the end was lost")
    manager.shutdown_kernel(now=True)


main()
