"""Verifies a signed head with Python's standard library, without Notarium's code. Prints VERSION:HASH of the head.

    curl $SERVER/.well-known/notarium-keys                              # keep the key: NAME+ID+KEY
    curl -H "Authorization: Bearer $TOKEN" $SERVER/api/notebooks/ID/signed-head > head.txt
    python verify_head.py head.txt 'NAME+ID+KEY'

The form is a C2SP signed note; the arithmetic is that of RFC 8032. verify_record.py prints the head of a record.
"""

import base64
import hashlib
import sys

P, ORDER = 2**255 - 19, 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, -1, P) % P

Point = tuple[int, int]


def add(one: Point, other: Point) -> Point:
    (x1, y1), (x2, y2) = one, other
    product = D * x1 * x2 * y1 * y2
    return (x1 * y2 + x2 * y1) * pow(1 + product, -1, P) % P, (y1 * y2 + x1 * x2) * pow(1 - product, -1, P) % P


def times(number: int, point: Point) -> Point:
    result = (0, 1)
    while number:
        result = add(result, point) if number & 1 else result
        point, number = add(point, point), number >> 1
    return result


def point_of(data: bytes) -> Point:
    sign, y = divmod(int.from_bytes(data, "little"), 2**255)
    square = (y * y - 1) * pow(D * y * y + 1, -1, P) % P
    x = pow(square, (P + 3) // 8, P)
    x = x if x * x % P == square else x * pow(2, (P - 1) // 4, P) % P
    if y >= P or x * x % P != square:
        raise ValueError("no point of the curve")
    return (P - x if x & 1 != sign else x), y


def is_signed(text: bytes, signature: bytes, public: bytes) -> bool:
    start, scalar = signature[:32], int.from_bytes(signature[32:], "little")
    base, key = point_of((4 * pow(5, -1, P) % P).to_bytes(32, "little")), point_of(public)
    challenge = int.from_bytes(hashlib.sha512(start + public + text).digest(), "little") % ORDER
    return scalar < ORDER and times(scalar, base) == add(point_of(start), times(challenge, key))


def main(path: str, key: str) -> str:
    with open(path, encoding="utf8") as file:
        text, signatures = file.read().rsplit("\n\n", 1)
    name, _, public = key.split("+", 2)
    found = [line.split(" ")[2] for line in signatures.splitlines() if line.split(" ")[1] == name]
    if not any(is_signed(f"{text}\n".encode(), base64.b64decode(it)[4:], base64.b64decode(public)[1:]) for it in found):
        sys.exit("this head is not signed with that key")
    fields = dict(line.split(" ", 1) for line in text.split("\n")[1:])
    return f"{fields['version']}:{fields['hash']}"


if __name__ == "__main__":
    print(main(sys.argv[1], sys.argv[2]))
