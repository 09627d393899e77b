"""A mail server for tests: prints its port, then each mail as a line of JSON. It refuses addresses at `refused.example`."""

import asyncio
import json
from email import message_from_bytes, policy

from aiosmtpd.smtp import SMTP


class Printer:
    async def handle_RCPT(self, server, session, envelope, address, options):
        if address.endswith("@refused.example"):
            return "550 no such mailbox"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server, session, envelope):
        mail = message_from_bytes(envelope.content, policy=policy.default)
        text = mail.get_payload(decode=True).decode()
        headers = {name.lower(): str(value) for name, value in mail.items()}
        print(json.dumps({"to": envelope.rcpt_tos, "headers": headers, "text": text}), flush=True)
        return "250 OK"


async def serve():
    server = await asyncio.get_running_loop().create_server(lambda: SMTP(Printer()), "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


asyncio.run(serve())
