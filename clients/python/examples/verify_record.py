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


def sealed(before: bytes, digest: bytes, event: dict) -> bytes:
    values = {**event, "actor": actor_key(event["actor"])}
    values |= {
        name: event[name].to_bytes(size, "big") for name, size in (("version", 8), ("schema", 2), ("recorded_at", 8))
    }
    names = "id notebook_id version type schema actor command_id correlation_id causation_id undoes recorded_at"
    return hashlib.sha256(before + b"\x01" + b"".join(field(values.get(it)) for it in names.split()) + digest).digest()


def verified(record: list[str]) -> str:
    head, version, redacted, named = bytes(32), 0, {}, {}
    for line in record:
        event, start = json.loads(line), line.index('"payload":') + len('"payload":')
        payload, digest = line[start : json.JSONDecoder().raw_decode(line, start)[1]].encode(), event["payload_digest"]
        if event["type"] == "NotebookErased" and version == 0:  # It stands for the events before it.
            head, version = bytes.fromhex(event["payload"]["hash"]), event["payload"]["version"]
        if event["type"] == "ContentRedacted":
            named |= {each["version"]: each["stand_in"] for each in event["payload"]["redactions"]}
        if "salt" in event:
            digest = hashlib.sha256(bytes.fromhex(event["salt"]) + payload).hexdigest()
        else:  # Its content was redacted: the last redaction that names it has the hash of what is in its place.
            redacted[event["version"]] = hashlib.sha256(payload).hexdigest()
        head, version = sealed(head, bytes.fromhex(digest), event), version + 1
        if event["version"] != version or digest != event["payload_digest"] or head.hex() != event["hash"]:
            return f"the record breaks at version {event['version']}"
    unnamed = [at for at, stand_in in redacted.items() if named.get(at) != stand_in]
    return f"no redaction names what is at version {unnamed[0]}" if unnamed else f"{version} events, {head.hex()}"


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf8") as file:
        print(said := verified(file.readlines()))
    sys.exit(" events, " not in said)
