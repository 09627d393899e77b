"""Times raw jupyter_client at the same work: `1+1` (median of 50), and a flood of 200,000 lines to its last one."""

import json
import statistics
import time

from jupyter_client.manager import start_new_kernel

FLOOD = "for i in range(200000): print(i)"


def run(client, source):
    """Seconds until both the reply and `idle` have come."""
    start = time.perf_counter()
    request = client.execute(source)
    while True:
        message = client.get_iopub_msg(timeout=60)
        if message["parent_header"].get("msg_id") != request:
            continue
        if message["msg_type"] == "status" and message["content"]["execution_state"] == "idle":
            break
    client.get_shell_msg(timeout=60)
    return time.perf_counter() - start


manager, client = start_new_kernel()
run(client, "1")
one = statistics.median(run(client, "1+1") for _ in range(50))
flood = statistics.median(run(client, FLOOD) for _ in range(3))
print(json.dumps({"one_ms": one * 1e3, "flood_ms": flood * 1e3}))
client.stop_channels()
manager.shutdown_kernel(now=True)
