"""Verifies the record of a notebook with Python's standard library, without Notarium's code.

    curl -H "Authorization: Bearer $TOKEN" -H "Accept: application/x-ndjson" $SERVER/api/notebooks/ID/events > record.jsonl
    python verify_record.py record.jsonl

See protocol/events.md, "The record": each event's hash covers the previous hash, its header and the digest of its payload.
"""

import hashlib
import json
import sys


def field(value: object) -> bytes:
    if value is None:
        return b"\xff" * 4
    data = value if isinstance(value, bytes) else str(value).encode()
    return len(data).to_bytes(4, "big") + data


def actor_key(actor: dict) -> str:
    names = {"user": "id", "agent": "id", "guest": "share_link"}
    if actor["kind"] == "assistant":
        return f"assistant:{actor['for_user']}:{actor['conversation']}"
    return actor["kind"] if actor["kind"] == "system" else f"{actor['kind']}:{actor[names[actor['kind']]]}"


def sealed(before: bytes, line: str, event: dict) -> tuple[bytes, bytes]:
    start = line.index('"payload":') + len('"payload":')
    payload = line[start : json.JSONDecoder().raw_decode(line, start)[1]]
    digest = hashlib.sha256(bytes.fromhex(event["salt"]) + payload.encode()).digest()
    number = {"version": 8, "schema": 2, "recorded_at": 8}
    names = "id notebook_id version type schema actor command_id correlation_id causation_id undoes recorded_at"
    values = {**event, "actor": actor_key(event["actor"])}
    values |= {name: event[name].to_bytes(size, "big") for name, size in number.items()}
    header = b"\x01" + b"".join(field(values.get(name)) for name in names.split())
    return digest, hashlib.sha256(before + header + digest).digest()


def main(path: str) -> int:
    head, version = bytes(32), 0
    with open(path, encoding="utf8") as record:
        for line in record:
            event = json.loads(line)
            digest, head = sealed(head, line, event)
            version += 1
            if event["version"] != version or digest.hex() != event["payload_digest"] or head.hex() != event["hash"]:
                print(f"the record breaks at version {event['version']}")
                return 1
    print(f"{version} events, {head.hex()}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
