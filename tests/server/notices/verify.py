"""Verifies a webhook as its receivers do, by the library of Standard Webhooks: secret, headers and body come as JSON."""

import json
import sys

from standardwebhooks import Webhook

asked = json.load(sys.stdin)
for secret in asked["secrets"]:
    Webhook(secret).verify(asked["body"], asked["headers"])
print("verified")
